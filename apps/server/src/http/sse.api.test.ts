import { connect, type Socket } from 'node:net'
import { endpoints } from '@postern/contract/endpoints'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { route } from './route.ts'
import { type EventStream, openStream } from './sse.ts'

let server: TestServer
let streams: EventStream[]
let reader: Socket

beforeEach(async () => {
  streams = []
  server = await startTestServer()
  route(server.app, { ...endpoints.me, path: '/api/test-stream', answer: undefined }, (call) => {
    streams.push(openStream(call))
  })
  const { token } = await server.signIn()
  const { port } = new URL(await server.listen())
  reader = connect(Number(port), '127.0.0.1')
  reader.pause()
  reader.write(`GET /api/test-stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  await until('the stream', () => streams.length === 1)
})
afterEach(async () => {
  reader.destroy()
  await server.close()
})

test('a reader that takes nothing is seen to be busy, and is dropped before it fills the memory', async () => {
  const [stream] = streams
  const megabyte = 'x'.repeat(1024 * 1024)
  let sent = 0
  while (stream?.isClosed === false && sent < 64) {
    stream.send({ data: megabyte })
    sent++
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(stream?.isClosed).toBe(true)
  expect(sent).toBeLessThan(64)
  expect(server.app.streams.size).toBe(0)
})

test('a reader that goes away leaves nothing behind', async () => {
  const [stream] = streams
  let closed = 0
  stream?.onClose(() => closed++)
  reader.destroy()
  await until('the end', () => closed === 1)
  stream?.close()
  stream?.send({ data: 'to nobody' })
  expect(closed).toBe(1)
  expect(server.app.streams.size).toBe(0)
})
