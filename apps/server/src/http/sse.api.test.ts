import { connect, type Socket } from 'node:net'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { route } from './route.ts'
import { type EventStream, openStream, renderEvent } from './sse.ts'

let server: TestServer
let streams: EventStream[]
let reader: Socket
let token: string
let origin: string

beforeEach(async () => {
  streams = []
  server = await startTestServer()
  route(server.app, { ...endpoints.me, path: '/api/test-stream', answer: undefined }, (call) => {
    streams.push(openStream(call))
  })
  route(server.app, { ...endpoints.me, path: '/api/test-ending', answer: undefined }, (call) => {
    openStream({ ...call, caller: { ...call.caller, expiresAt: call.context.clock() + 50 } })
  })
  token = (await server.signIn()).token
  origin = await server.listen()
  const { port } = new URL(origin)
  reader = connect(Number(port), '127.0.0.1')
  reader.pause()
  reader.write(`GET /api/test-stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  await until('the stream', () => streams.length === 1)
})
afterEach(async () => {
  reader.destroy()
  await server.close()
})

test('a reader that takes nothing counts as busy, and is disconnected before it fills the memory', async () => {
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

const open = (path: string) => fetch(origin + path, { headers: { authorization: `Bearer ${token}` } })

test('a stream ends with its session, though nobody signs out', async () => {
  const answer = await open('/api/test-ending')
  expect(answer.status).toBe(200)
  // Resolves only when the server ends it.
  expect(await answer.text()).toBe('')
})

test('only so many are open at a time', async () => {
  const [stream] = streams
  if (!stream) throw new Error('no stream is open')
  const fill = (most: number, userId: number) => {
    for (let i = server.app.streams.size; i < most; i++) server.app.streams.add({ ...stream, userId })
  }
  // One person has a share alone.
  fill(100, stream.userId)
  expect((await open('/api/test-stream')).status).toBe(503)
  stream.close()
  expect((await open('/api/test-ending')).status).toBe(200)
  fill(1000, 0)
  expect((await open('/api/test-stream')).status).toBe(503)
})

test('an event has the form of the standard', () => {
  expect(renderEvent({ data: '{}' })).toBe('data: {}\n\n')
  expect(renderEvent({ data: '[]', event: 'services', id: 'a-1' })).toBe(
    'id: a-1\nevent: services\ndata: []\n\n',
  )
})
