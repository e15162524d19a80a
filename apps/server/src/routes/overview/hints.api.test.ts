import { Hints } from '@postern/contract/hints'
import { everywhere } from '@postern/testkit/edge-client'
import { type FollowedStream, followStream } from '@postern/testkit/event-stream'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeEach, expect, onTestFinished, test } from 'vitest'

const server = fresh(startTestServer)
const client = fresh(() => server.signIn())
beforeEach(async () => {
  await server.listen()
  await client.post('/api/nodes', { name: 'one' })
})

async function follow(token = client.token): Promise<FollowedStream> {
  const stream = await followStream(`${server.origin}/api/hints/stream?token=${token}`)
  onTestFinished(() => stream.close())
  return stream
}

/** All hints so far. */
const named = (stream: FollowedStream) => new Set(stream.listData().flatMap((data) => Hints.parse(data)))

test('a change hints only at what it touched', async () => {
  const stream = await follow()
  await client.patch('/api/nodes/2', { name: 'renamed' })
  await until('the node', () => named(stream).has('nodes'))
  expect([...named(stream)]).toEqual(['nodes'])
  await client.post('/api/services/2/http', { name: 'a', domain: 'a.example.com', skipValidation: true })
  await until('the domain', () => named(stream).has('domains'))
  await until('the service', () => named(stream).has('services'))
  expect(named(stream).has('edges')).toBe(false)
})

test("an edge's report on services makes a hint", async () => {
  const stream = await follow()
  server.context.bus.emit({ kind: 'reported', services: [{ id: 3, nodeId: 2 }] })
  await until('the service', () => named(stream).has('services'))
})

test('an edge that connects, reports or disconnects makes a hint', async () => {
  const stream = await follow()
  const count = () => stream.listData().filter((data) => Hints.parse(data).includes('edges')).length
  const session = server.context.edges.connect(1, { send: () => undefined, close: () => undefined })
  await until('the edge has come', () => count() === 1)
  const ok = { state: 'ok', detail: '' } as const
  const dataPlane = { haproxy: ok, wireguard: ok, nftables: ok }
  const report = { wanted: 1, applied: 1, inForce: everywhere(1), problems: [], dataPlane }
  session.receive({ type: 'report', report })
  await until('it has reported', () => count() === 2)
  // It checks everything every few seconds, and mostly finds no change.
  session.receive({ type: 'report', report: { ...report } })
  await client.post('/api/domains', { domain: 'a.example.com', skipValidation: true })
  await until('what was said later', () => named(stream).has('domains'))
  expect(count()).toBe(2)
  session.close()
  await until('it has gone', () => count() === 3)
})

test('a burst makes few messages', async () => {
  const stream = await follow()
  const start = performance.now()
  for (let index = 0; index < 50; index++) await client.patch('/api/nodes/2', { name: `name ${index}` })
  await until('the node', () => named(stream).has('nodes'))
  expect(stream.listData().length).toBeLessThanOrEqual(2 + Math.ceil((performance.now() - start) / 250))
})

test('the stream needs a session and ends with it', async () => {
  expect((await follow('wrong')).status).toBe(401)
  const stream = await follow()
  await client.post('/api/auth/logout')
  await until('the end', () => stream.isEnded)
})
