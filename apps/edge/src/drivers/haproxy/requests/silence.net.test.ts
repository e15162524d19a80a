import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute, PUBLIC_HOST } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'
import { openSocket, visit } from '../../../../test/visitor.ts'

/** In seconds; the timeouts of head, body and answer are far apart. */
const timeouts = { head: 1, body: 7, reader: 3, idle: 60 }

/** It accepts connections and stays silent. */
let mute: Server
let asked = 0
const open: Socket[] = []

const lab = shared(() => makeHaproxyLab({ timeouts }))
shared(() => startUpstream({ path: lab.serverSocket }))
const upstream = shared(() =>
  startUpstream({
    answer: (request, response) => {
      const wait = Number(request.url?.slice(1))
      if (request.url?.startsWith('/silent')) return
      if (request.url?.startsWith('/unread')) return void response.end(Buffer.alloc(50_000_000))
      if (request.method === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (request.method === 'GET') response.write('data: 1\n\n')
      request.resume().on('end', () => setTimeout(() => response.end('the end'), wait))
    },
  }),
)
beforeAll(async () => {
  mute = createServer((socket) => {
    open.push(socket.on('error', () => undefined))
    socket.once('data', () => asked++)
  })
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const address = mute.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  await lab.apply([makeConsoleRoute(), makeLabRoute(2, upstream.port), makeLabRoute(3, port)])
})

afterAll(() => {
  for (const socket of open) socket.destroy()
  mute.close()
})

/** How long a connection lives after these bytes, in ms, and the answer it got. */
async function lifeOf(socket: Socket, bytes = ''): Promise<{ ms: number; heard: string }> {
  open.push(socket)
  let [heard, isOver] = ['', false]
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString('latin1')
  })
  socket
    .on('error', () => undefined)
    .on('close', () => {
      isOver = true
    })
  await new Promise((resolve) => socket.once('encrypted' in socket ? 'secureConnect' : 'connect', resolve))
  const start = performance.now()
  if (bytes) socket.write(bytes)
  await until('the connection to end', () => isOver)
  return { ms: performance.now() - start, heard }
}

const plain = (port = lab.httpsPort) => connectTcp(port, '127.0.0.1')
const secure = (protocol = 'http/1.1') =>
  connectTls({ port: lab.httpsPort, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: [protocol] })
const POST = 'POST / HTTP/1.1\r\nHost: s2.example.com\r\nContent-Length: 90000\r\n\r\nthe beginning'

describe.concurrent('silence', () => {
  test.each<[string, () => Socket, string]>([
    ['that never began TLS', plain, ''],
    ['in the middle of a TLS hello', plain, '\x16\x03\x01\x02\x00\x01\x00'],
    ['after the handshake', secure, ''],
    ['in the middle of a head', secure, 'GET / HTTP/1.1\r\nHost: s2.exa'],
    ['over plain HTTP', () => plain(lab.httpPort), ''],
    ['in the middle of a plain head', () => plain(lab.httpPort), 'GET / HT'],
  ])('%s ends after the time for a head', async (_, dial, bytes) => {
    const { ms } = await lifeOf(dial(), bytes)
    expect(ms).toBeGreaterThan(500)
    expect(ms).toBeLessThan(6500)
  })

  // From 3.2 on HAProxy gives a connection over HTTP/2 the time for a body before its first request.
  test.each([
    ['the handshake', ''],
    ['the preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('after %s of HTTP/2 ends after the time for a body at most', async (_, bytes) => {
    const { ms } = await lifeOf(secure('h2'), bytes)
    expect(ms).toBeGreaterThan(500)
    expect(ms).toBeLessThan(35_000)
  })

  test('inside a body ends after the time for a body, and is in the log', async () => {
    const { ms, heard } = await lifeOf(secure(), POST)
    expect(ms).toBeGreaterThan(6500)
    expect(ms).toBeLessThan(35_000)
    // The service saw its request break off, and may say so itself.
    expect(heard).toMatch(/^HTTP\/1\.1 4/)
    const line = /"POST \/" .*(silent for too long|not send the request in time)$/
    await until('the line', () => lab.logs.some(({ text }) => line.test(text)))
  })

  test('between two parts of a body that moves cuts nothing', async () => {
    const socket = secure()
    const life = lifeOf(socket, POST.replace('90000', '16').replace('the beginning', ''))
    for (let i = 0; i < 16; i++) setTimeout(() => socket.write('x'), 500 + i * 500)
    const answered = new Promise<string>((resolve) =>
      socket.on('data', (chunk: Buffer) => resolve(chunk.toString())),
    )
    expect(await answered).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
    await life
  })

  test.each(['GET', 'POST'])(
    'of a service holds no place for a visitor who left after %s',
    async (method) => {
      const path = `/silent-${method}`
      const socket = secure()
      open.push(socket)
      socket
        .on('error', () => undefined)
        .write(`${method} ${path} HTTP/1.1\r\nHost: s2.example.com\r\nContent-Length: 0\r\n\r\n`)
      await until('the service to be asked', () => upstream.seen.some(({ url }) => url === path))
      socket.destroy()
      const line = new RegExp(`"${method} ${path}" .*the visitor left$`)
      await until('the line', () => lab.logs.some(({ text }) => line.test(text)))
    },
  )

  test('of a service that never answers an upgrade ends after the time for a body', async () => {
    const socket = secure()
    open.push(socket)
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
    socket.on('error', () => undefined).write(`GET /never HTTP/1.1\r\nHost: s3.example.com\r\n${upgrade}\r\n`)
    await until('the service to be asked', () => asked > 0)
    socket.destroy()
    const line = /"GET \/never" 504 .*the service did not answer in time$/
    await until('the line', () => lab.logs.some(({ text }) => line.test(text)))
  })

  test.each(['http/1.1', 'h2'])('of a visitor who does not read ends, over %s', async (protocol) => {
    const path = `/unread-${protocol.slice(0, 2)}`
    const socket = secure(protocol)
    open.push(socket)
    if (protocol === 'h2') {
      const session = connectHttp2('https://s2.example.com', { createConnection: () => socket })
      session.on('error', () => undefined)
      session
        .request({ ':path': path })
        .on('error', () => undefined)
        .pause()
    } else {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: s2.example.com\r\n\r\n`)
      socket.on('error', () => undefined).pause()
    }
    const line = new RegExp(`"GET ${path}" .*the visitor was silent for too long$`)
    await until('the line', () => lab.logs.some(({ text }) => line.test(text)))
  })

  test.each(['GET', 'POST'])('of an answer to %s may last as long as that of a WebSocket', async (method) => {
    const answer = await visit({ port: lab.httpsPort, host: 's2.example.com', path: '/8000', method })
    expect(answer.text).toContain('the end')
  })
})

describe('many connections', () => {
  test('of one source get a page and a log line, and do not hold up others', async () => {
    await lab.open({ connectionsPerSource: 5, timeouts })
    await lab.apply([makeConsoleRoute(), makeLabRoute(2, upstream.port)])
    const from = '127.0.0.11'
    const sockets = await Promise.all(
      Array.from({ length: 5 }, () => openSocket({ port: lab.httpsPort, host: 's2.example.com', from })),
    )
    const refused = await visit({ port: lab.httpsPort, host: 's2.example.com', path: '/0', from })
    expect(refused.status).toBe(429)
    expect(refused.text).toContain('<h1>Too many connections</h1>')
    await until('the line', () =>
      lab.logs.some(({ text }) => text.includes('429') && text.includes('too many')),
    )
    expect((await visit({ port: lab.httpsPort, host: 's2.example.com', path: '/0' })).status).toBe(200)
    for (const socket of sockets) expect(await socket.echo('still here')).toBe(true)
    for (const socket of sockets) socket.close()
    await lab.open({ timeouts })
  })

  test("that take all the room for services leave the console's free", async () => {
    const maxConnections = 20
    await lab.open({ maxConnections, timeouts })
    await lab.apply([makeConsoleRoute(), makeLabRoute(2, upstream.port)])
    const port = lab.httpsPort
    const sockets = await Promise.all(
      Array.from({ length: maxConnections * 0.8 }, (_, index) =>
        openSocket({ port, host: 's2.example.com', from: `127.0.0.${20 + (index % 4)}` }),
      ),
    )
    await expect(visit({ port, host: 's2.example.com', path: '/0' })).rejects.toThrow()
    expect((await visit({ port, host: PUBLIC_HOST })).status).toBe(200)
    sockets.pop()?.close()
    await until('room for one more', async () => {
      const { status } = await visit({ port, host: 's2.example.com', path: '/0' }).catch(() => ({
        status: 0,
      }))
      return status === 200
    })
    for (const socket of sockets) socket.close()
    await lab.open({ timeouts })
  })
})
