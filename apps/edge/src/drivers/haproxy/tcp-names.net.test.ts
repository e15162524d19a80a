import { createServer, connect as dial, type Server } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { EdgeCertificate } from '@postern/contract/edge/desired-state'
import { until } from '@postern/testkit/until'
import { sendRaw } from '@postern/testkit/wire'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { makeRealCertificate } from '../../../test/certificate.ts'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabPort,
  makeLabRoute,
  PUBLIC_HOST,
} from '../../../test/haproxy-lab.ts'

const [MQTT, MAIL] = ['mqtt.example.com', 'mail.example.com'] as const
const [SITE, OPS] = ['app.example.com', 'ops.example.com'] as const
const base = 28_000 + (process.pid % 100) * 8
/** The TCP services, each at its own port. */
const PORTS = { [MQTT]: base, [MAIL]: base + 1, none: base + 2 } as const

let lab: HaproxyLab
let backend: Server
/** How many connections reached the services. */
let reached = 0

beforeAll(async () => {
  backend = createServer((socket) => {
    reached++
    socket.on('error', () => socket.destroy())
    socket.write('hello')
  })
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  const address = backend.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const timeouts = { head: 2, body: 60, idle: 3600 }
  lab = await makeHaproxyLab({ portRange: { from: base, to: base + 7 }, timeouts })
  const certificates: EdgeCertificate[] = []
  for (const [i, name] of [MQTT, MAIL, SITE, OPS].entries())
    certificates.push(await makeRealCertificate(i + 1, [name]))
  lab.signIns = [{ id: 1, domain: SITE, members: [7] }]
  const services = [
    makeConsoleRoute({ domain: OPS }),
    makeLabRoute(2, port, { domain: SITE, signIn: { paths: [], expressions: [] } }),
    makeLabPort(11, PORTS[MQTT], port, { tls: { domain: MQTT } }),
    makeLabPort(12, PORTS[MAIL], port, { tls: { domain: MAIL } }),
    makeLabPort(13, PORTS.none, port, { tls: { domain: null } }),
  ]
  expect(await lab.apply(services, certificates)).toEqual([])
})
afterAll(async () => {
  await lab.close()
  backend.close()
})

interface Seen {
  /** The names of the certificate that was shown, if any. */
  names: string
  answer: string
}

/**
 * A visitor of a port whose hello has a server name.
 * @param session of an earlier visit, to be resumed
 */
function visit(port: number, name: string, host = '127.0.0.1', options: object = {}): Promise<Seen> {
  return new Promise((resolve) => {
    const servername = name === '' ? {} : { servername: name }
    const seen: Seen = { names: '', answer: '' }
    const socket = connectTls({ port, host, rejectUnauthorized: false, ...servername, ...options })
    onTestFinished(() => void socket.destroy())
    socket
      .on('error', () => undefined)
      .on('close', () => resolve(seen))
      .on('secureConnect', () => (seen.names = socket.getPeerCertificate().subjectaltname ?? ''))
      .once('data', (chunk) => {
        seen.answer = String(chunk)
        socket.destroy()
      })
  })
}

const NAMES = [MQTT, MAIL, SITE, OPS, PUBLIC_HOST, 'unknown.example.com', `sub.${MQTT}`, '']

const pairs = Object.entries(PORTS).flatMap(([owner, port]) =>
  NAMES.map((name): [string, string, number] => [owner, name, port]),
)

describe.each(['127.0.0.1', '::1'])('over %s', (host) => {
  test.each(pairs)('the port of %s takes the name “%s” only if it is its own', async (owner, name, port) => {
    const isOwn = owner === 'none' ? name === '' || name === PUBLIC_HOST : name === owner
    const before = reached
    const { names, answer } = await visit(port, name, host)
    expect(answer).toBe(isOwn ? 'hello' : '')
    expect(names).toBe(isOwn ? `DNS:${owner === 'none' ? PUBLIC_HOST : owner}` : '')
    expect(reached - before).toBe(isOwn ? 1 : 0)
  })

  test.each([MQTT.toUpperCase(), `${MQTT}.`])('its own name may be spelt %s', async (name) => {
    expect((await visit(PORTS[MQTT], name, host)).answer).toBe('hello')
  })
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a %s session of one name opens no other port',
  async (version) => {
    const versions = { minVersion: version, maxVersion: version }
    const session = await new Promise<Buffer>((resolve, reject) => {
      const at = { port: PORTS[MQTT], host: '127.0.0.1', servername: MQTT, rejectUnauthorized: false }
      const socket = connectTls({ ...at, ...versions })
      onTestFinished(() => void socket.destroy())
      socket.on('error', reject).once('session', resolve)
    })
    for (const [port, name] of [
      [PORTS[MAIL], MQTT],
      [PORTS.none, MQTT],
      [PORTS[MQTT], MAIL],
    ] as const)
      expect(await visit(port, name, '127.0.0.1', { session, ...versions })).toEqual({
        names: '',
        answer: '',
      })
  },
)

test.each([MQTT, ''])('no application protocol is agreed on with “%s”, whatever is offered', async (name) => {
  const port = name === '' ? PORTS.none : PORTS[MQTT]
  const ALPNProtocols = ['h2', 'http/1.1', 'mqtt']
  const servername = name === '' ? {} : { servername: name }
  const at = { port, host: '127.0.0.1', rejectUnauthorized: false, ...servername }
  const protocol = await new Promise((resolve, reject) => {
    const socket = connectTls({ ...at, ALPNProtocols })
    onTestFinished(() => void socket.destroy())
    socket.on('error', reject).once('data', () => resolve(socket.alpnProtocol))
  })
  expect(protocol).toBe(false)
})

test('a hello in two records, whose name HAProxy cannot read, sees no certificate of a domain', async () => {
  const hello = await helloOf(SITE)
  const before = reached
  const body = hello.subarray(5)
  const record = (part: Buffer) =>
    Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part])
  const halves = Buffer.concat([record(body.subarray(0, 60)), record(body.subarray(60))])
  for (const [owner, port] of Object.entries(PORTS)) {
    const answer = await sendRaw(port, halves.toString('latin1'), { isPlain: true }).catch(() => '')
    if (owner === 'none') expect(answer).toContain(PUBLIC_HOST)
    else expect(answer).toBe('')
  }
  expect(reached).toBe(before)
})

/** Somebody on the way, who cannot change a hello, but can cut it into records. */
async function cutHello(port: number, at: number): Promise<number> {
  const middle = createServer((visitor) => {
    const server = dial({ port, host: '127.0.0.1' })
    for (const [one, other] of [
      [visitor, server],
      [server, visitor],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
    visitor.once('data', (hello: Buffer) => {
      const body = hello.subarray(5)
      const record = (part: Buffer) =>
        Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part])
      server.write(Buffer.concat([record(body.subarray(0, at)), record(body.subarray(at))]))
      visitor.pipe(server)
    })
    server.pipe(visitor)
  })
  onTestFinished(() => void middle.close())
  await new Promise<void>((resolve) => middle.listen(0, '127.0.0.1', resolve))
  const address = middle.address()
  return typeof address === 'object' && address ? address.port : 0
}

test.each([1, 2, 3, 4, 5, 9, 60])(
  'a visitor of another name reaches no service, though somebody on the way cuts the hello after %i bytes',
  async (at) => {
    const before = reached
    const answers: Record<string, string> = {}
    for (const [owner, port] of Object.entries(PORTS))
      answers[owner] = (await visit(await cutHello(port, at), SITE)).answer
    expect(answers).toEqual({ [MQTT]: '', [MAIL]: '', none: '' })
    expect(reached).toBe(before)
  },
)

test('a hello that comes slowly is waited for', async () => {
  const bytes = await helloOf(MAIL)
  const socket = dial({ port: PORTS[MAIL], host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  for (const byte of bytes.subarray(0, 100))
    await new Promise((resolve) => socket.write(Buffer.of(byte), resolve))
  socket.write(bytes.subarray(100))
  await until('the certificate', () => answer.includes(MAIL))
})

test('a refusal is in the log of the service, with the reason', async () => {
  await visit(PORTS[MAIL], SITE)
  const words = "refused the visitor asked for a name other than the service's domain"
  await until('the line', () => lab.logs.find(({ service, text }) => service === 12 && text.endsWith(words)))
})

/** What a visitor sends first. */
function helloOf(name: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const listener = createServer((socket) => {
      socket.once('data', (chunk: Buffer) => {
        socket.destroy()
        listener.close()
        resolve(chunk)
      })
    })
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address()
      const port = typeof address === 'object' && address ? address.port : 0
      // Up to 1.2 certificates are there to read.
      const visitor = { port, host: '127.0.0.1', servername: name, maxVersion: 'TLSv1.2' } as const
      connectTls(visitor).on('error', () => undefined)
    })
    listener.on('error', reject)
  })
}
