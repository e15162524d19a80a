import type { PeerFigures } from '@postern/contract/edge/edge-messages'
import { type FollowedStream, followStream } from '@postern/testkit/event-stream'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeEach, expect, onTestFinished, test } from 'vitest'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const client = fresh(() => server.signIn())
beforeEach(async () => {
  await server.listen()
  await client.post('/api/nodes', { name: 'one' })
})

async function follow(query: string, token = client.token): Promise<FollowedStream> {
  const stream = await followStream(`${server.origin}/api/nodes/stream?token=${token}${query}`)
  onTestFinished(() => stream.close())
  return stream
}

const figures = (nodeId: number, rx = 1): PeerFigures => ({
  nodeId,
  latestHandshake: server.now,
  rx,
  tx: 2,
  clientIp: '198.51.100.7',
  reachable: true,
})

test('the list comes at once, then whenever it changes', async () => {
  const stream = await follow('&limit=10')
  expect(stream.headers.get('content-type')).toBe('text/event-stream')
  await until('the rows', () => stream.listData().length === 1)
  expect(stream.listData()[0]).toMatchObject([{ name: 'Local' }, { name: 'one' }])
  await client.post('/api/nodes', { name: 'two' })
  await until('the new row', () => stream.listData().length === 2)
  server.context.live.update(1, [figures(3)])
  await until('the new figures', () => stream.listData().length === 3)
  expect(stream.listData()[2]).toMatchObject([{}, { status: 'offline' }, { status: 'online', transferRx: 1 }])
  await client.delete('/api/nodes/3')
  await until('the row is gone', () => stream.listData().length === 4)
  expect(stream.listData()[3]).toHaveLength(2)
})

test('a burst makes few messages, the last of which is right', async () => {
  const stream = await follow('&id=2')
  await until('the node', () => stream.listData().length === 1)
  const start = performance.now()
  for (let rx = 1; rx <= 100; rx++) {
    server.context.live.update(1, [figures(2, rx)])
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until('the last figure', () => {
    const last = stream.listData().at(-1)
    return JSON.stringify(last).includes('"transferRx":100,')
  })
  expect(stream.listData().length).toBeLessThanOrEqual(2 + Math.ceil((performance.now() - start) / 250))
})

test('nothing is sent when no row changes', async () => {
  const stream = await follow('&id=2')
  await until('the node', () => stream.listData().length === 1)
  await client.post('/api/nodes', { name: 'two' })
  server.context.live.update(1, [figures(3)])
  await client.patch('/api/nodes/2', { name: 'renamed' })
  await until('the rename', () => stream.listData().length === 2)
  expect(stream.listData()[1]).toMatchObject({ name: 'renamed' })
})

test('a node that vanishes becomes offline by time alone', async () => {
  server.context.live.update(1, [figures(2)])
  const stream = await follow('&id=2')
  await until('online', () => stream.listData().length === 1)
  expect(stream.listData()[0]).toMatchObject({ status: 'online' })
  server.now += 180_001
  server.context.live.expire()
  await until('offline', () => stream.listData().length === 2)
  expect(stream.listData()[1]).toMatchObject({ status: 'offline' })
})

test('a stream ends with its node, with the session and with the server; none is left behind', async () => {
  expect((await follow('&id=99')).status).toBe(404)
  const streams = [await follow('&id=2'), await follow('&limit=10'), await follow('')]
  await until('all are open', () => server.app.streams.size === 3)
  await client.delete('/api/nodes/2')
  await until('the node is gone', () => streams[0]?.isEnded === true)
  await client.post('/api/auth/logout')
  await until('the session is gone', () => streams.every((stream) => stream.isEnded))
  expect(server.app.streams.size).toBe(0)
  const { token } = await server.signIn()
  const last = await follow('', token)
  const reader = await follow('', token)
  reader.close()
  await until('a reader has left', () => server.app.streams.size === 1)
  await server.app.close()
  await until('the server is gone', () => last.isEnded)
})

test('a stream needs a session, and its token is in no log', async () => {
  expect((await follow('', 'wrong')).status).toBe(401)
  const stream = await follow('&id=2')
  await until('the node', () => stream.listData().length === 1)
  stream.close()
  await until('the end is logged', () => server.logged().includes('/api/nodes/stream'))
  expect(server.logged()).not.toContain(client.token)
})
