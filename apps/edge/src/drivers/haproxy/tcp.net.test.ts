import { readFile } from 'node:fs/promises'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import type { EdgeCertificate } from '@postern/contract/edge/desired-state'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { makeRealCertificate } from '../../../test/certificate.ts'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabPort,
  PUBLIC_HOST,
} from '../../../test/haproxy-lab.ts'

let lab: HaproxyLab
let certificate: EdgeCertificate
/** Sends `hello`, echoes what it gets, and sends `bye` when the visitor has finished. */
let backend: Server
let backendPort: number

/** Twice eight ports that no other test uses: below those that the kernel gives away, above those of `findFreePort`. */
const base = 30_000 + (process.pid % 100) * 16
const range = { from: base, to: base + 7 }

beforeAll(async () => {
  backend = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    socket.write('hello ')
    socket.on('data', (chunk) => socket.write(chunk))
    socket.on('end', () => socket.end(' bye'))
  })
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  const address = backend.address()
  backendPort = typeof address === 'object' && address ? address.port : 0
  certificate = await makeRealCertificate(7, ['mqtt.example.com'])
  lab = await makeHaproxyLab({ portRange: range })
})
afterAll(async () => {
  await lab.close()
  backend.close()
})

const service = (id: number, changes: Parameters<typeof makeLabPort>[3] = {}) =>
  makeLabPort(id, base + id - 10, backendPort, changes)
const apply = (...services: ReturnType<typeof service>[]) =>
  lab.apply([makeConsoleRoute(), ...services], [certificate])

interface Connection {
  socket: Socket
  received(): string
  isOpen(): boolean
}

/** A visitor's connection that has got the service's `hello`. */
async function open(port: number, localAddress = '127.0.0.1', host = '127.0.0.1'): Promise<Connection> {
  const socket = dial({ port, host, localAddress, allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  let received = ''
  let isOpen = true
  const close = () => {
    isOpen = false
  }
  socket
    .on('data', (chunk) => (received += chunk))
    .on('error', close)
    .on('end', close)
    .on('close', close)
  const connection = { socket, received: () => received, isOpen: () => isOpen }
  await until('the service to say hello', () => received.startsWith('hello '))
  return connection
}

/** All that a visitor gets who says `words` and no more; what was sent before an error counts. */
async function say(port: number, words: string, localAddress = '127.0.0.1'): Promise<string> {
  const socket = dial({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true })
  socket.setTimeout(5000, () => socket.destroy())
  socket.end(words)
  return await text(socket).catch(() => '')
}

test('bytes pass both ways, and one side may finish before the other', async () => {
  expect(await apply(service(10))).toEqual([])
  expect(await say(base, 'some words')).toBe('hello some words bye')
  const { received } = await open(base, '::1', '::1')
  expect(received()).toBe('hello ')
})

test('the log of the service has a line at the start and one at the end', async () => {
  await apply(service(10, { blockedIps: ['127.0.1.9'] }))
  await say(base, 'some words', '127.0.1.8')
  await say(base, 'words', '127.0.1.9')
  const mine = () => lab.logs.filter(({ text }) => text.includes(' 127.0.1.'))
  await until('three lines', () => mine().length >= 3)
  const lines = mine().map(({ text }) => text.replace(/^(\[\w+\]) \S+/, '$1'))
  expect(lines).toEqual([
    `[INFO] 127.0.1.8 "tcp ${base}" opened`,
    expect.stringMatching(`^\\[INFO\\] 127.0.1.8 "tcp ${base}" closed 10B in 20B out \\d+ms$`),
    `[WARN] 127.0.1.9 "tcp ${base}" refused the IP list of the service does not allow this address`,
  ])
})

test('a port without a service is silent', async () => {
  await apply(service(10))
  expect(await say(base + 3, 'x')).toBe('')
})

describe('TLS that ends here', () => {
  const ask = (servername: string, port = base + 1) =>
    new Promise<{ subject: string; answer: string }>((resolve, reject) => {
      const name = servername === '' ? {} : { servername }
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...name })
      onTestFinished(() => void socket.destroy())
      socket.on('error', reject).on('close', () => reject(new Error('closed before the service said hello')))
      socket.once('secureConnect', () => {
        const subject = socket.getPeerCertificate().subjectaltname ?? ''
        socket.once('data', (chunk) => {
          socket.destroy()
          resolve({ subject, answer: String(chunk) })
        })
      })
    })

  test('shows the certificate of the domain, and the installation’s where there is none', async () => {
    const named = service(11, { tls: { domain: 'mqtt.example.com' } })
    await apply(service(10), named, service(12, { tls: { domain: null } }))
    expect(await ask('mqtt.example.com')).toEqual({ subject: 'DNS:mqtt.example.com', answer: 'hello ' })
    expect(await ask('', base + 2)).toMatchObject({ subject: `DNS:${PUBLIC_HOST}`, answer: 'hello ' })
    expect(await say(base + 1, 'not TLS')).not.toContain('hello')
  })
})

test('a TLS handshake that fails has a line in the log of its service, and says why', async () => {
  await apply(service(10), service(11, { tls: { domain: 'mqtt.example.com' } }))
  await say(base + 1, 'GET / HTTP/1.1\r\n\r\n', '127.0.3.1')
  await say(base + 1, '', '127.0.3.2')
  const mine = () => lab.logs.filter(({ text }) => text.includes(' 127.0.3.'))
  await until('both lines', () => mine().length >= 2)
  const lines = mine().map(({ service: id, text }) => [id, text.replace(/\] \S+/, ']')])
  expect(lines).toEqual([
    [11, `[WARN] 127.0.3.1 "tcp ${base + 1}" refused the TLS handshake failed: http request`],
    [11, `[WARN] 127.0.3.2 "tcp ${base + 1}" refused the visitor left during the TLS handshake`],
  ])
})

describe('a change', () => {
  test('of other services touches neither the process nor a connection', async () => {
    await apply(service(10))
    const [pid, connection] = [await lab.pid(), await open(base)]
    for (const others of [[service(12)], [service(12, { tls: { domain: null } }), service(13)], []])
      await apply(service(10), ...others)
    await apply(service(10, { allowedIps: ['127.0.0.0/8'] }))
    connection.socket.write('still here')
    await until('the echo', () => connection.received() === 'hello still here')
    expect(await lab.pid()).toBe(pid)
  })

  test.each<[string, () => ReturnType<typeof service>[]]>([
    ['disabled', () => [service(10, { enabled: false })]],
    ['deleted', () => []],
    ['blocked for the visitor', () => [service(10, { blockedIps: ['127.0.0.8'] })]],
    ['not allowed any more for the visitor', () => [service(10, { allowedIps: ['127.0.0.9'] })]],
  ])('a connection of a service that is %s ends, and no other', async (_, changed) => {
    const tls = service(11, { tls: { domain: null } })
    await apply(service(10), tls, service(12))
    const ended = await open(base, '127.0.0.8')
    const other = await open(base + 2, '127.0.0.8')
    await apply(...changed(), tls, service(12))
    await until('the connection to end', () => !ended.isOpen(), { timeoutMs: 5000 })
    expect(await say(base, 'again', '127.0.0.8')).toBe('')
    expect(other.isOpen()).toBe(true)
  })

  test('that a killed edge did not come to end is ended by the next edge', async () => {
    await apply(service(10))
    const connection = await open(base)
    await lab.command(`set map ${lab.paths.routes} :${base}/ 10|2|127.0.0.1|${backendPort}|d|`)
    await lab.open()
    await apply(service(10, { enabled: false }))
    await until('the connection to end', () => !connection.isOpen(), { timeoutMs: 5000 })
  })
})

test('a port that another program holds is the problem of the service that wants it, until it is free', async () => {
  const fresh = await makeHaproxyLab({ portRange: { from: base + 8, to: base + 15 } })
  onTestFinished(() => fresh.close())
  const driver = await fresh.open()
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(base + 9, '127.0.0.1', resolve))
  const routes = [
    makeConsoleRoute(),
    makeLabPort(20, base + 8, backendPort),
    makeLabPort(21, base + 9, backendPort),
    makeLabPort(22, base, backendPort),
  ]
  const message = (id: number, text: string) => ({ scope: { kind: 'service', id }, message: text })
  const outside = message(
    22,
    `Port ${base} is outside the range of this server, ${base + 8}-${base + 15}. Give the service another port.`,
  )
  expect(await fresh.apply(routes)).toEqual([
    message(21, `Port ${base + 9} is held by another program on this machine`),
    outside,
  ])
  expect(driver.heldPorts()).toEqual([base + 9])
  const connection = await open(base + 8)
  await new Promise((resolve) => other.close(resolve))
  expect(await fresh.apply(routes)).toEqual([outside])
  expect(driver.heldPorts()).toEqual([])
  expect(await say(base + 9, 'x')).toBe('hello x bye')
  // Running connections are handed over, not cut.
  connection.socket.write('on')
  await until('the echo', () => connection.received() === 'hello on')
})

test('many idle connections are held, and one more is served', async () => {
  await apply(service(10))
  const idle: Connection[] = []
  // Few of each source: more than that would be too many of one while most of the room is taken.
  for (let source = 1; source <= 36; source++)
    idle.push(...(await Promise.all(Array.from({ length: 40 }, () => open(base, `127.0.2.${source}`)))))
  await apply(service(10), service(12))
  expect(await say(base, 'one more')).toBe('hello one more bye')
  expect(idle.every((connection) => connection.isOpen())).toBe(true)
})

test('one source leaves others a way to services whose TLS ends here, of which there are fewer', async () => {
  const from = base + 8
  const portRange = { from, to: from + 7 }
  // Ten may have their TLS end here. While more than five have, a source gets a tenth of its limit.
  const small = await makeHaproxyLab({ portRange, portConnections: 40, connectionsPerSource: 20 })
  onTestFinished(() => small.close())
  const routes = [makeConsoleRoute(), makeLabPort(20, from, backendPort, { tls: { domain: null } })]
  expect(await small.apply(routes)).toEqual([])
  const isGreeted = (localAddress: string) =>
    new Promise<boolean>((resolve) => {
      const way = dial({ port: from, host: '127.0.0.1', localAddress })
      const socket = connectTls({ socket: way, rejectUnauthorized: false })
      onTestFinished(() => void socket.destroy())
      socket.once('data', () => resolve(true)).on('error', () => resolve(false))
      socket.on('close', () => resolve(false))
    })
  let greeted = 0
  while (await isGreeted('127.0.3.1')) greeted++
  expect(greeted).toBe(6)
  for (const _ of ['one', 'two']) expect(await isGreeted('127.0.3.2')).toBe(true)
  expect(await isGreeted('127.0.3.2')).toBe(false)
})

test('the installation’s own ports are none of the range', async () => {
  const own = await makeHaproxyLab()
  onTestFinished(() => own.close())
  await own.open({ portRange: { from: own.httpsPort, to: own.httpsPort + 1 }, ownPorts: [own.httpsPort] })
  expect(await own.apply([makeConsoleRoute()])).toEqual([])
  expect(await readFile(own.paths.config, 'utf8')).toContain(`bind 127.0.0.1:${own.httpsPort + 1}\n`)
})

test('an idle connection may be silent for an hour, also when one side has finished', async () => {
  const config = await readFile(lab.paths.config, 'utf8')
  const part = (name: string) => config.split(/^(?=frontend|backend)/m).find((each) => each.startsWith(name))
  expect(part('frontend ports\n')).toMatch(/timeout client 3600s\n {2}timeout client-fin 3600s/)
  // After the TLS hello, the backend's timeout counts.
  expect(part('frontend ports_inside\n')).toMatch(/timeout client 10s\n {2}timeout client-fin 3600s/)
  for (const name of ['backend port\n', 'backend inside_port\n'])
    expect(part(name)).toMatch(/timeout server 3600s\n {2}timeout server-fin 3600s\n {2}timeout tunnel 3600s/)
})
