import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { must, type Running } from '../processes/exec.ts'
import { whenStarted } from '../processes/started.ts'
import type { Host } from './network.ts'

/** Debian's node exporter on a host: a third-party web program. */
export async function startNodeExporter(host: Host, dir: string, port = 9100): Promise<Running> {
  const command = ['prometheus-node-exporter', `--web.listen-address=:${port}`]
  return startListening(host, command, dir, `exporter-${port}`, port)
}

/** Debian's mosquitto on a host: MQTT on 1883, MQTT over WebSocket on `port`. */
export async function startMosquitto(host: Host, dir: string, port = 9001): Promise<Running> {
  mkdirSync(dir, { recursive: true })
  const file = `${dir}/mosquitto-${host.name}.conf`
  const lines = [
    'user root',
    'allow_anonymous true',
    'listener 1883',
    `listener ${port}`,
    'protocol websockets',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return startListening(host, ['mosquitto', '-c', file], dir, `mosquitto-${port}`, port)
}

/** Starts a program on a host and waits until it listens on a TCP port. */
export async function startListening(
  host: Host,
  command: string[],
  dir: string,
  name: string,
  port: number,
): Promise<Running> {
  mkdirSync(dir, { recursive: true })
  const program = host.start(command, { logFile: `${dir}/${name}-${host.name}.log` })
  await whenStarted(program, `${name} to listen`, async () => {
    const { stdout } = await host.run('ss', '-Hltn', `sport = :${port}`)
    return stdout.trim() !== ''
  })
  return program
}

const TRANSFER = fileURLToPath(new URL('../programs/transfer.ts', import.meta.url))

/** The other end of `transfer`, on a host. */
export async function startTransferServer(host: Host, dir: string, port: number): Promise<Running> {
  return startListening(
    host,
    [process.execPath, TRANSFER, 'serve', String(port)],
    dir,
    `transfer-${port}`,
    port,
  )
}

/**
 * Downloads or uploads this many bytes.
 * @returns how long it took, and whether they arrived unchanged
 */
export async function transfer(
  from: Host,
  way: 'get' | 'put',
  address: string,
  port: number,
  bytes: number,
): Promise<{ ms: number; isSame: boolean }> {
  const command = [process.execPath, TRANSFER, way, address, String(port), String(bytes)]
  return JSON.parse(await must(from.argv(...command), { timeoutMs: 600_000 }))
}

const ECHO = fileURLToPath(new URL('../programs/echo.ts', import.meta.url))

/** The echo program on a host: shows what reached it, and echoes WebSocket messages. */
export async function startEcho(host: Host, dir: string, port: number, address = '::'): Promise<Running> {
  return startListening(host, [process.execPath, ECHO, String(port), address], dir, `echo-${port}`, port)
}
