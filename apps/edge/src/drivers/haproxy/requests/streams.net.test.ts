import { once } from 'node:events'
import {
  connect as connectH2,
  constants,
  createServer as createH2Server,
  createSecureServer,
  type Http2Server,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { shared } from '@postern/testkit/shared'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeRealCertificate } from '../../../../test/certificate.ts'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { type Seen, startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { openSocket, visit } from '../../../../test/visitor.ts'

let plain: Upstream
let grpc: Http2Server
let grpcs: Http2Server

const lab = shared(() => makeHaproxyLab())
beforeAll(async () => {
  const certificate = await makeRealCertificate(9, ['inner.example.com'])
  plain = await startUpstream()
  grpc = await listenH2(createH2Server())
  grpcs = await listenH2(createSecureServer({ cert: certificate.chain, key: certificate.privateKey }))
})

beforeEach(() => lead(plain.port))

afterAll(async () => {
  await plain.close()
  for (const each of [grpc, grpcs]) each.close()
})

/** Makes plain.example.com lead to a port of this machine. */
async function lead(port: number): Promise<void> {
  const backend = { proto: 'https' as const, host: null, port: portOf(grpcs) }
  await lab.apply([
    makeLabRoute(2, port, { domain: 'plain.example.com' }),
    makeLabRoute(7, portOf(grpc), { domain: 'grpc.example.com' }),
    makeLabRoute(8, 0, { domain: 'grpcs.example.com', backend }),
  ])
}

function listenH2(h2: Http2Server): Promise<Http2Server> {
  h2.on('stream', (stream: ServerHttp2Stream, headers) => {
    const answer = { ':status': 200, 'content-type': 'application/grpc', 'x-path': headers[':path'] ?? '' }
    // A call that fails at once has its status in the head, and nothing behind it.
    if (headers[':path'] === '/denied')
      return stream.respond({ ...answer, 'grpc-status': '7' }, { endStream: true })
    stream.respond(answer, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.pipe(stream)
  })
  h2.on('sessionError', () => undefined)
  return new Promise((resolve) => h2.listen(0, '127.0.0.1', () => resolve(h2)))
}

function portOf(h2: Http2Server): number {
  // It listens on TCP.
  return (h2.address() as AddressInfo).port
}

async function through(host: string, path = '/', more: Partial<Parameters<typeof visit>[0]> = {}) {
  const answer = await visit({ port: lab.httpsPort, host, path, ...more })
  const seen = answer.text.startsWith('{') ? (JSON.parse(answer.text) as Seen) : undefined // what the upstream echoes
  return { ...answer, seen }
}

describe('streams', () => {
  test('a WebSocket stays open and carries both ways', async () => {
    const socket = await openSocket({ port: lab.httpsPort, host: 'plain.example.com', path: '/ws' })
    expect(await socket.echo('ping')).toBe(true)
    socket.close()
  })

  test('a WebSocket over HTTP/2', async () => {
    const session = connectH2(`https://127.0.0.1:${lab.httpsPort}`, { rejectUnauthorized: false })
    await new Promise((resolve) => session.once('remoteSettings', resolve))
    const stream = session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'https',
      ':authority': 'plain.example.com',
      ':path': '/ws',
      'sec-websocket-version': '13',
    })
    // A client may send only once it knows that the connection is open.
    await new Promise((resolve) => stream.once('response', resolve))
    const heard = new Promise<string>((resolve) =>
      stream.on('data', (chunk: Buffer) => resolve(String(chunk))),
    )
    stream.write('ping')
    expect(await heard).toBe('ping')
    stream.close()
    session.destroy()
  })

  test('a visitor cannot climb past the checks into an HTTP/2 tunnel', async () => {
    for (const connection of ['Upgrade, HTTP2-Settings', 'Upgrade']) {
      const headers = { connection, upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' }
      const { seen } = await through('plain.example.com', '/', { headers })
      expect(seen?.headers).not.toHaveProperty('upgrade')
      expect(seen?.headers).not.toHaveProperty('http2-settings')
    }
  })

  test('parts of an answer arrive as they are sent', async () => {
    const parts: (() => void)[] = []
    const slow = await startUpstream({
      answer: (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: 1\n\n')
        parts.push(() => response.end('data: 2\n\n'))
      },
    })
    await lead(slow.port)
    const session = connectH2(`https://127.0.0.1:${lab.httpsPort}`, { rejectUnauthorized: false })
    const stream = session.request({ ':authority': 'plain.example.com', ':path': '/' })
    const first = await new Promise<string>((resolve) =>
      stream.once('data', (chunk: Buffer) => resolve(String(chunk))),
    )
    expect(first).toBe('data: 1\n\n')
    parts[0]?.()
    const second = await new Promise<string>((resolve) =>
      stream.once('data', (chunk: Buffer) => resolve(String(chunk))),
    )
    expect(second).toBe('data: 2\n\n')
    session.destroy()
    await slow.close()
  })

  test('a body has no limit', async () => {
    let size = 0
    const sink = await startUpstream({
      answer: (request, response) => {
        request.on('data', (chunk: Buffer) => {
          size += chunk.length
        })
        request.on('end', () => response.end('done'))
      },
    })
    await lead(sink.port)
    const body = 'x'.repeat(40_000_000)
    expect((await through('plain.example.com', '/', { method: 'PUT', body })).text).toBe('done')
    expect(size).toBe(body.length)
    await sink.close()
  })
})

describe('gRPC', () => {
  async function call(host: string, type: string) {
    const session = connectH2(`https://127.0.0.1:${lab.httpsPort}`, { rejectUnauthorized: false })
    const stream = session.request({
      ':method': 'POST',
      ':authority': host,
      ':path': '/a.B/C',
      'content-type': type,
      te: 'trailers',
    })
    const result = await new Promise<{ status: number; trailer: unknown }>((resolve, reject) => {
      let status = 0
      let trailer: unknown
      stream.on('response', (headers) => {
        status = Number(headers[':status'])
      })
      stream.on('trailers', (trailers) => {
        trailer = trailers['grpc-status']
      })
      stream.on('close', () => resolve({ status, trailer })).on('error', reject)
      stream.resume().end('message')
    })
    session.destroy()
    return result
  }

  test.each(['application/grpc', 'application/grpc+proto', 'application/grpc;x=1'])(
    '%s goes by HTTP/2',
    async (type) => {
      expect(await call('grpc.example.com', type)).toEqual({ status: 200, trailer: '0' })
      expect(await call('grpcs.example.com', type)).toEqual({ status: 200, trailer: '0' })
    },
  )

  test.each(['grpc.example.com', 'grpcs.example.com'])(
    'an error without a message ends with its head: %s',
    async (host) => {
      const session = connectH2(`https://127.0.0.1:${lab.httpsPort}`, { rejectUnauthorized: false })
      try {
        const head = { ':method': 'POST', ':path': '/denied', ':authority': host, te: 'trailers' }
        const stream = session.request({ ...head, 'content-type': 'application/grpc' })
        stream.end('message')
        const [headers, flags] = await once(stream, 'response')
        expect(headers).toMatchObject({ ':status': 200, 'grpc-status': '7' })
        expect(flags & constants.NGHTTP2_FLAG_END_STREAM).toBeGreaterThan(0)
      } finally {
        session.destroy()
      }
    },
  )

  test.each(['application/grpc-web', 'application/grpc-web+proto', 'application/json'])(
    '%s does not',
    async (type) => {
      expect(await call('plain.example.com', type)).toEqual({ status: 200, trailer: undefined })
    },
  )
})
