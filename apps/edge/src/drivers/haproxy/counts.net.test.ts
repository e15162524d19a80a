import { readdir, utimes } from 'node:fs/promises'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { connect as dialTls } from 'node:tls'
import { createExec } from '@postern/host/processes/exec'
import { isRunning } from '@postern/host/processes/processes'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeRealCertificate } from '../../../test/certificate.ts'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabPort,
  makeLabRoute,
} from '../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../test/upstream.ts'
import { openSocket, visit } from '../../../test/visitor.ts'
import { createLedger, emptyLedger, type Ledger } from '../../counts/ledger.ts'
import { addCounts, type Count, NONE, type Read } from '../../counts/reading.ts'
import type { HaproxyDriver } from './driver.ts'
import type { HaproxyDriverOptions } from './options.ts'
import { MOST_DRAINING } from './process/draining.ts'
import { listOwnProcesses } from './process/running.ts'

let lab: HaproxyLab
let driver: HaproxyDriver
let ledger: Ledger
let echo: Server
let echoPort: number

/** Ports that no other test uses. */
const base = 27_100 + (process.pid % 200) * 8
const range = { from: base, to: base + 7 }
const [WEB, OTHER, PLAIN, SECURE] = [2, 3, 4, 5]

const upstream = shared(() => startUpstream())
beforeAll(async () => {
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
  const address = echo.address()
  echoPort = typeof address === 'object' && address ? address.port : 0
  lab = await makeHaproxyLab({ portRange: range })
  driver = await lab.open()
  ledger = createLedger(emptyLedger('l'))
  driver.counts.onLast(take)
  expect(await apply()).toEqual([])
})
afterAll(async () => {
  await lab.close()
  echo.close()
})

async function apply() {
  const certificate = await makeRealCertificate(7, ['secure.example.com'])
  return await lab.apply(
    [
      makeConsoleRoute(),
      makeLabRoute(WEB, upstream.port),
      makeLabRoute(OTHER, upstream.port, { enabled: false }),
      makeLabPort(PLAIN, base, echoPort),
      makeLabPort(SECURE, base + 1, echoPort, { tls: { domain: 'secure.example.com' } }),
    ],
    [certificate],
  )
}

let connectTimeout = 5
/** A different connect timeout makes a different configuration. */
async function reload(): Promise<void> {
  connectTimeout++
  await restart()
  expect(await apply()).toEqual([])
}

/** The driver of the next edge, which counts before anything else. */
async function restart(options: Partial<HaproxyDriverOptions> = {}): Promise<void> {
  driver = await lab.open({ connectTimeout, ...options })
  driver.counts.onLast(take)
  await driver.counts.reads()
}

async function take(read: Read): Promise<void> {
  const reading = await read()
  if (reading) ledger.take([reading], 1)
}

/** All that the service has carried since the beginning. */
async function counted(service: number): Promise<Count> {
  for (const read of await driver.counts.reads()) await take(read)
  const rows = ledger.state().waiting.flatMap(({ counts }) => counts)
  return rows.filter(([id]) => id === service).reduce((all, [, ...count]) => addCounts(all, count), NONE)
}
const since = async (service: number, before: Count) =>
  (await counted(service)).map((value, index) => value - (before[index] ?? 0))

const get = (path: string, changes: object = {}) =>
  visit({ port: lab.httpsPort, host: `s${WEB}.example.com`, path, ...changes })

test('for HTTP services, requests and all their bytes are counted', async () => {
  const before = await counted(WEB)
  await get('/')
  const [first, firstBytes = 0, firstSent = 0] = await since(WEB, before)
  expect(first).toBe(1)
  expect(firstBytes).toBeGreaterThan(20)
  expect(firstSent).toBeGreaterThan(20)
  for (let round = 0; round < 9; round++) await get('/')
  expect(await since(WEB, before)).toEqual([10, firstBytes * 10, firstSent * 10])
})

test('a request that a page of ours answers counts as well', async () => {
  const before = await counted(OTHER)
  const { status, text } = await visit({ port: lab.httpsPort, host: `s${OTHER}.example.com` })
  expect(status).toBe(503)
  const [requests, , sent = 0] = await since(OTHER, before)
  expect(requests).toBe(1)
  // From 3.3 on HAProxy counts the bytes of services alone.
  expect(sent === 0 || sent > text.length).toBe(true)
})

interface Connection {
  socket: Socket
  received(): number
}

async function open(socket: Socket): Promise<Connection> {
  let received = 0
  socket.on('data', (chunk) => {
    received += chunk.length
  })
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await new Promise((resolve) => socket.once('ready', resolve))
  return { socket, received: () => received }
}

async function say({ socket, received }: Connection, bytes: number): Promise<void> {
  const wanted = received() + bytes
  socket.write(Buffer.alloc(bytes, 'x'))
  await until('the echo', () => received() === wanted)
}

const dialSecure = (host: string) =>
  dialTls({ port: base + 1, host, servername: 'secure.example.com', rejectUnauthorized: false })

const ways: [string, number, () => Socket][] = [
  ['IPv4', PLAIN, () => dial({ port: base, host: '127.0.0.1' })],
  ['IPv6', PLAIN, () => dial({ port: base, host: '::1' })],
  ['TLS, what is inside', SECURE, () => dialSecure('127.0.0.1')],
  ['TLS over IPv6', SECURE, () => dialSecure('::1')],
]

test.each(ways)('for TCP services, connections and bytes are counted, by %s', async (_, service, connect) => {
  const before = await counted(service)
  for (const bytes of [1, 1000, 300_000]) {
    const connection = await open(connect())
    await say(connection, bytes)
    connection.socket.end()
    await new Promise((resolve) => connection.socket.once('close', resolve))
  }
  await until('the end of the last', async () => (await since(service, before))[2] === 301_001)
  expect(await since(service, before)).toEqual([3, 301_001, 301_001])
})

test('a connection is counted while it is open, even without a backend', async () => {
  const before = await counted(PLAIN)
  const connections = [
    await open(dial({ port: base, host: '127.0.0.1' })),
    await open(dial({ port: base, host: '::1' })),
  ]
  for (const connection of connections) await say(connection, 5000)
  await until('the bytes', async () => (await since(PLAIN, before))[2] === 10_000)
  const pid = await lab.pid()
  await reload()
  expect(await lab.pid()).not.toBe(pid)
  for (const connection of connections) await say(connection, 700)
  const fresh = await open(dial({ port: base, host: '127.0.0.1' }))
  await say(fresh, 11)
  await until('the bytes by both', async () => (await since(PLAIN, before))[2] === 11_411)
  for (const connection of connections) {
    await say(connection, 3)
    connection.socket.end()
  }
  await until('the older one to end', () => !isRunning(pid))
  expect(await since(PLAIN, before)).toEqual([3, 11_417, 11_417])
})

test("an older HAProxy's traffic is counted to the last byte before it is ended", async () => {
  const before = await counted(PLAIN)
  const connection = await open(dial({ port: base, host: '127.0.0.1' }))
  const pid = await lab.pid()
  await reload()
  // The counters of an open connection move every five seconds.
  await say(connection, 900)
  await lab.apply([makeConsoleRoute(), makeLabPort(PLAIN, base, echoPort)])
  await until('the older one to end', () => !isRunning(pid))
  expect(await since(PLAIN, before)).toEqual([1, 900, 900])
})

test('later edges also count the traffic of older ones, to their end', async () => {
  const before = await counted(PLAIN)
  const connections: Connection[] = []
  const pids: number[] = []
  for (const bytes of [100, 10]) {
    const connection = await open(dial({ port: base, host: '127.0.0.1' }))
    await say(connection, bytes)
    connections.push(connection)
    pids.push(await lab.pid())
    await reload()
  }
  await restart()
  for (const connection of connections) await say(connection, 1000)
  await until('the bytes by both', async () => (await since(PLAIN, before))[2] === 2110)
  await restart()
  for (const connection of connections) {
    await say(connection, 1)
    connection.socket.end()
  }
  await until('the older ones to end', () => !pids.some(isRunning))
  expect(await since(PLAIN, before)).toEqual([2, 2112, 2112])
  await until('their holders to end', async () => (await readdir(lab.paths.draining)).length === 0)
})

test('when there are too many older ones, the oldest is counted and ended early', async () => {
  const before = await counted(PLAIN)
  const connections: Connection[] = []
  for (let round = 0; round < MOST_DRAINING + 1; round++) {
    const connection = await open(dial({ port: base, host: '127.0.0.1' }))
    await say(connection, 100)
    connections.push(connection)
    await reload()
    expect((await listOwnProcesses(lab.paths.config)).length).toBeLessThanOrEqual(MOST_DRAINING + 1)
  }
  const [first, ...others] = connections
  await until('the first one to end', () => first?.socket.destroyed)
  for (const connection of others) await say(connection, 10)
  await lab.apply([makeConsoleRoute(), makeLabPort(PLAIN, base, echoPort)])
  const bytes = 100 + others.length * 110
  expect(await since(PLAIN, before)).toEqual([connections.length, bytes, bytes])
})

test('an older one that goes on for too long is counted and ended before HAProxy ends it', async () => {
  await apply()
  const before = await counted(PLAIN)
  const connection = await open(dial({ port: base, host: '127.0.0.1' }))
  const pid = await lab.pid()
  await reload()
  await say(connection, 40)
  const longAgo = new Date(Date.now() - 14.5 * 60_000)
  await utimes(lab.paths.drainingSocket(pid), longAgo, longAgo)
  await until('it to end', () => connection.socket.destroyed)
  await until('its process to end', () => !isRunning(pid))
  expect(await since(PLAIN, before)).toEqual([1, 40, 40])
})

test('before a new one starts from nothing, the traffic of older ones is counted', async () => {
  await apply()
  const before = await counted(PLAIN)
  const connection = await open(dial({ port: base, host: '127.0.0.1' }))
  await say(connection, 70)
  await reload()
  await say(connection, 7)
  process.kill(await lab.pid(), 'SIGKILL')
  await restart()
  await until('another one', async () => (await driver.check()).state === 'ok')
  expect(await since(PLAIN, before)).toEqual([1, 77, 77])
})

test('without a holder it is counted until it hands over, and a problem says so until it ends', async () => {
  await apply()
  const before = await counted(PLAIN)
  const connection = await open(dial({ port: base, host: '127.0.0.1' }))
  await get('/')
  const web = await counted(WEB)
  await get('/')
  const exec = { ...createExec(), readFile: async () => undefined }
  const holders: number[] = []
  const startDetached: typeof exec.startDetached = async (program, args, options) => {
    if (program !== process.execPath) return await exec.startDetached(program, args, options)
    const pid = await exec.startDetached('sleep', ['60'], options)
    holders.push(pid)
    return pid
  }
  const warned: string[] = []
  const pid = await lab.pid()
  connectTimeout++
  await restart({ exec: { ...exec, startDetached }, warn: (message) => warned.push(message) })
  const message = expect.stringContaining('is not counted')
  expect(await apply()).toEqual([{ scope: { kind: 'edge' }, message }])
  expect(warned).toEqual([expect.stringContaining('did not start within 5 s')])
  expect((await since(WEB, web))[0]).toBe(1)
  expect(holders.map(isRunning)).toEqual([false])
  await say(connection, 30)
  connection.socket.end()
  await until('the older one to end', () => !isRunning(pid))
  expect(await apply()).toEqual([])
  expect(await since(PLAIN, before)).toEqual([1, 0, 0])
})

test('after HAProxy was killed, what had been read stays counted', async () => {
  const before = await counted(PLAIN)
  const connection = await open(dial({ port: base, host: '127.0.0.1' }))
  await say(connection, 100)
  await until('the bytes', async () => (await since(PLAIN, before))[2] === 100)
  process.kill(await lab.pid(), 'SIGKILL')
  await until('another one', async () => (await driver.check()).state === 'ok')
  const second = await open(dial({ port: base, host: '127.0.0.1' }))
  await say(second, 50)
  second.socket.end()
  await until('the bytes', async () => (await since(PLAIN, before))[2] === 150)
  expect(await since(PLAIN, before)).toEqual([2, 150, 150])
})

test('a WebSocket is counted while it is open', async () => {
  await apply()
  const before = await counted(WEB)
  const socket = await openSocket({ port: lab.httpsPort, host: `s${WEB}.example.com`, path: '/socket' })
  onTestFinished(() => socket.close())
  const [, ...head] = await until('its head', async () => {
    const now = await since(WEB, before)
    return Number(now[2]) > 0 && now
  })
  expect(await socket.echo('x'.repeat(5000))).toBe(true)
  const both = head.map((bytes) => bytes + 5000)
  await until('what was said', async () => String(await since(WEB, before)) === String([1, ...both]))
  expect(socket.isOpen()).toBe(true)
})
