import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { parseSettings } from '@postern/contract/settings/settings'
import { afterEach, expect, test } from 'vitest'
import { assertPortsFree, parseInodes } from './ports.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

function listenTcp(host: string): Promise<number> {
  const server = createServer()
  closers.push(() => server.close())
  return new Promise((resolve) => {
    server.listen(0, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
}

function listenUdp(): Promise<number> {
  const socket = createSocket('udp4')
  closers.push(() => socket.close())
  return new Promise((resolve) => socket.bind(0, () => resolve(socket.address().port)))
}

/** Ports that were free a moment ago. */
async function settingsWith(ports: Record<string, number>) {
  const free = { CONSOLE: 0, HTTP: 0, HTTPS: 0, TUNNEL: 0 }
  for (const name of Object.keys(free) as (keyof typeof free)[]) free[name] = await listenTcp('127.0.0.1')
  for (const close of closers.splice(0)) close()
  const entries = Object.entries({ ...free, ...ports }).map(([name, port]) => [
    `POSTERN_${name}_PORT`,
    String(port),
  ])
  return parseSettings({ ...Object.fromEntries(entries), POSTERN_TUNNEL_INTERFACE: 'nothere0' })
}

test('free ports pass', async () => {
  expect(await assertPortsFree(await settingsWith({}), true)).toBe(true)
})

test('a taken console port stops nothing, and is reported', async () => {
  const settings = { ...(await settingsWith({})), POSTERN_CONSOLE_PORT: await listenTcp('127.0.0.1') }
  expect(await assertPortsFree(settings, true)).toBe(false)
})

test.each(['HTTP', 'HTTPS'])('a taken %s port names the port, its holder and the setting', async (name) => {
  const settings = await settingsWith({})
  const port = await listenTcp('0.0.0.0')
  const taken = { ...settings, [`POSTERN_${name}_PORT`]: port }
  const words = new RegExp(`port ${port} is taken by .*\\(pid ${process.pid}\\).*POSTERN_${name}_PORT`)
  await expect(assertPortsFree(taken, true)).rejects.toThrow(words)
})

test('a taken tunnel port is found too', async () => {
  const settings = await settingsWith({})
  const taken = { ...settings, POSTERN_TUNNEL_PORT: await listenUdp() }
  await expect(assertPortsFree(taken, true)).rejects.toThrow(/\/udp is taken by .*POSTERN_TUNNEL_PORT/)
})

test('without an edge only the console port counts', async () => {
  const settings = await settingsWith({})
  await assertPortsFree({ ...settings, POSTERN_HTTPS_PORT: await listenTcp('0.0.0.0') }, false)
})

test('one port for two things is refused', async () => {
  const settings = await settingsWith({ HTTP: 8443, HTTPS: 8443 })
  await expect(assertPortsFree(settings, true)).rejects.toThrow(
    /POSTERN_HTTPS_PORT and POSTERN_HTTP_PORT are both 8443/,
  )
})

test('inodes of listening sockets are read from the kernel table', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 00000000:01BB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1',
    '   1: 0100007F:01BB 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 4712 1',
    '   2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1',
  ].join('\n')
  expect(parseInodes(table, 443, 'tcp')).toEqual(['4711'])
  expect(parseInodes(table, 443, 'udp')).toEqual(['4711', '4712'])
})
