import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { request } from 'node:https'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { shared } from '@postern/testkit/shared'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream } from '../../../../test/upstream.ts'

const HOST = 'app.example.com'
const SIZE = 8_000_000
/** How long the visitor's packets take in one direction. */
const DELAY_MS = 25

let longWay: Server
let port = 0
let received = 0

const lab = shared(() => makeHaproxyLab())
const upstream = shared(() =>
  startUpstream({
    answer: (request, response) => {
      request.on('data', (chunk: Buffer) => (received += chunk.length)).on('end', () => response.end('all'))
    },
  }),
)
beforeAll(async () => {
  await lab.apply([makeLabRoute(2, upstream.port, { domain: HOST })])
  longWay = createServer((socket) => {
    const onward = dial({ port: lab.httpsPort, host: '127.0.0.1', noDelay: true })
    carry(socket, onward)
    carry(onward, socket)
  })
  await new Promise<void>((resolve) => longWay.listen(0, '127.0.0.1', resolve))
  const address = longWay.address()
  port = typeof address === 'object' && address ? address.port : 0
})
afterAll(() => {
  longWay.close()
})

function carry(from: Socket, to: Socket): void {
  from
    .on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), DELAY_MS))
    .on('close', () => setTimeout(() => to.destroy(), DELAY_MS))
    .on('error', () => undefined)
}

const common = { host: '127.0.0.1', servername: HOST, rejectUnauthorized: false }

async function uploadByHttp1(): Promise<string> {
  const upload = request({ ...common, port, method: 'POST', path: '/', headers: { host: HOST } })
  upload.end(Buffer.alloc(SIZE))
  const [answer] = await once(upload, 'response')
  return await text(answer)
}

async function openHttp2(): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.1:${port}`, common)
  onTestFinished(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

async function uploadByHttp2(session: ClientHttp2Session): Promise<string> {
  const upload = session.request({ ':method': 'POST', ':path': '/', ':authority': HOST })
  upload.end(Buffer.alloc(SIZE))
  return await text(upload)
}

test('over HTTP/2 a visitor may send 1 MB ahead', async () => {
  const session = await openHttp2()
  expect(session.remoteSettings.initialWindowSize).toBe(1_048_576)
})

test('over a way of 50 ms an upload takes about as long over HTTP/2 as over HTTP/1.1', async () => {
  const session = await openHttp2()
  const msOf = async (upload: () => Promise<string>) => {
    const start = performance.now()
    const before = received
    expect(await upload()).toBe('all')
    expect(received - before).toBe(SIZE)
    return performance.now() - start
  }
  const plain = await msOf(uploadByHttp1)
  // Twice, where nothing else happens; twenty times with the window that HAProxy has by default.
  expect(await msOf(() => uploadByHttp2(session))).toBeLessThan(Math.max(5 * plain, 3000))
})
