import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, connect as dial, type Server } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { repeatableMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type HaproxyLab, makeConsoleRoute, makeHaproxyLab, makeLabPort } from '../../../test/haproxy-lab.ts'

const CROWD = join(import.meta.dirname, '../../../test/programs/silent-crowd.ts')
/** Ten thousand where a program may have the files for them: two for each, and some of those whose TLS ends here. */
const MANY = Math.min(10_000, Math.floor((fileLimit() - 2500) / 250) * 100)
/** Only a few from each source: more would exceed the limit for one while most of the room is taken. */
const OF_EACH = 40
const IDLE_S = 4

let backend: Server
let backendPort: number
let held = 0

/** Eight ports that no other test uses: above those of tcp.net.test.ts, below those that the kernel gives away. */
const base = 31_600 + (process.pid % 140) * 8

function fileLimit(): number {
  return Number(/^Max open files +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
}

beforeAll(async () => {
  backend = createServer({ allowHalfOpen: true }, (socket) => {
    held++
    socket.on('error', () => socket.destroy()).on('close', () => held--)
    socket.on('data', (chunk) => socket.write(chunk)).on('end', () => socket.end(' bye'))
  })
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', 4096, resolve))
  const address = backend.address()
  backendPort = typeof address === 'object' && address ? address.port : 0
})
afterAll(() => void backend.close())

async function makeLab(options: Parameters<typeof makeHaproxyLab>[0]): Promise<HaproxyLab> {
  const lab = await makeHaproxyLab({ portRange: { from: base, to: base + 7 }, ...options })
  onTestFinished(() => lab.close())
  expect(await lab.apply([makeConsoleRoute(), makeLabPort(10, base, backendPort)])).toEqual([])
  return lab
}

/** A process that holds silent connections. */
async function gather(port: number, count: number): Promise<ChildProcess> {
  const sources = Array.from({ length: count / OF_EACH }, (_, i) => `127.1.${i >> 7}.${(i & 127) + 1}`)
  const pairs = sources.map((source) => `127.0.0.1,${source}`)
  const crowd = spawn(process.execPath, [CROWD, String(port), String(OF_EACH), ...pairs], { stdio: 'ignore' })
  onTestFinished(() => void crowd.kill('SIGKILL'))
  await until('all to be with the service', () => held === count, { timeoutMs: 120_000 })
  return crowd
}

/** All that a visitor gets who sends `words` and no more. */
async function say(port: number, words: string): Promise<string> {
  const socket = dial({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.end(words)
  return await text(socket)
}

test(`${MANY} idle connections of a TCP service stay, and one more visitor is served at once`, async () => {
  const lab = await makeLab({ maxConnections: 100, portConnections: MANY + 200 })
  const before = await memory(lab)
  await gather(base, MANY)
  // 100 ms is the aim on a quiet machine. The visitor finishes before the service does.
  const visit = async () => expect(await say(base, 'one more')).toBe('one more bye')
  expect(await repeatableMs(500, visit)).toBeLessThan(500)
  // In kB for each connection; HAProxy keeps no buffer for a silent one.
  expect(((await memory(lab)) - before) / MANY).toBeLessThan(20)
  // A change of another service ends none.
  await lab.apply([makeConsoleRoute(), makeLabPort(10, base, backendPort), makeLabPort(11, base + 1, 1)])
  expect(held).toBe(MANY)
}, 240_000)

async function memory(lab: HaproxyLab): Promise<number> {
  return Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${await lab.pid()}/status`, 'utf8'))?.[1])
}

test('where TLS ends here, a visitor has seconds for the hello, and may be silent for an hour after it', async () => {
  const lab = await makeLab({ timeouts: { head: 2 } })
  await lab.apply([makeConsoleRoute(), makeLabPort(10, base, backendPort, { tls: { domain: null } })])
  const openTls = () => connectTls({ port: base, host: '127.0.0.1', rejectUnauthorized: false })
  const idle = openTls().on('error', () => undefined)
  const mute = dial({ port: base, host: '127.0.0.1' }).resume()
  onTestFinished(() => {
    for (const socket of [idle, mute]) socket.destroy()
  })
  await once(idle, 'secureConnect')
  const start = performance.now()
  await once(mute, 'close')
  expect(performance.now() - start).toBeLessThan(5 * 2000 + 1000)
  const answer = once(idle, 'data')
  idle.write('still here')
  expect(String(await answer)).toBe('still here')
})

test('a connection ends when its idle time is over, and not before', async () => {
  await makeLab({ tunnelTimeout: IDLE_S })
  const open = () => {
    const socket = dial({ port: base, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    const ended = new Promise<number>((resolve) => socket.once('close', () => resolve(performance.now())))
    socket.once('end', () => socket.end())
    return { socket: socket.resume(), ended }
  }
  const [silent, busy] = [open(), open()]
  const start = performance.now()
  const ticking = setInterval(() => busy.socket.write('.'), 500)
  onTestFinished(() => clearInterval(ticking))
  const lived = (await silent.ended) - start
  expect(lived).toBeGreaterThan(IDLE_S * 1000 - 100)
  expect(lived).toBeLessThan(5 * IDLE_S * 1000)
  expect(busy.socket.destroyed).toBe(false)
})
