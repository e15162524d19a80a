import { once } from 'node:events'
import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type HaproxyLab, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'

const HOST = 'app.example.com'
const SIZE = 8_000_000

let lab: HaproxyLab
let upstream: Upstream
let received = 0

beforeAll(async () => {
  lab = await makeHaproxyLab()
  upstream = await startUpstream({
    answer: (request, response) => {
      request.on('data', (chunk: Buffer) => (received += chunk.length)).on('end', () => response.end('all'))
    },
  })
  await lab.apply([makeLabRoute(2, upstream.port, { domain: HOST })])
})
afterAll(async () => {
  await lab.close()
  await upstream.close()
})

test('over HTTP/2 a visitor may send 256 kB ahead, so that a long way does not make uploads slow', async () => {
  const session = connect(`https://127.0.0.1:${lab.httpsPort}`, {
    rejectUnauthorized: false,
    servername: HOST,
  })
  onTestFinished(() => session.destroy())
  await once(session, 'remoteSettings')
  expect(session.remoteSettings.initialWindowSize).toBe(262_144)
  const upload = session.request({ ':method': 'POST', ':path': '/', ':authority': HOST })
  upload.end(Buffer.alloc(SIZE))
  expect(await text(upload)).toBe('all')
  expect(received).toBe(SIZE)
})
