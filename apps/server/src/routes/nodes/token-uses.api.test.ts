import { once } from 'node:events'
import type { CreatedNode } from '@postern/contract/nodes'
import type { Pat } from '@postern/contract/pats'
import { type Client, startTestServer, type TestServer } from '@postern/testkit/server'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'

const BEGIN = Date.parse('2026-11-21T12:00:00Z')
let now: number
let server: TestServer
let client: Client
let node: CreatedNode

beforeEach(async () => {
  now = BEGIN
  server = await startTestServer({ world: { clock: () => now } })
  client = await server.signIn()
  node = (await client.post('/api/nodes', { name: 'site' })).json()
})
afterEach(() => server.close())

const tokens = async () => (await client.get(`/api/nodes/${node.id}/pats`)).json<Pat[]>()
const lastUsed = async () => (await tokens())[0]?.lastUsed
const use = (token = node.token) =>
  server.call({ method: 'GET', url: '/api/agent/config', headers: { authorization: `Bearer ${token}` } })
async function connect(token: string): Promise<WebSocket> {
  const origin = await server.listen()
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/api/agent/socket`, {
    headers: { authorization: `Bearer ${token}` },
  })
  await once(socket, 'open')
  return socket
}
const kept = () => server.context.liveDb.selectFrom('token_uses').selectAll().execute()

test('a token that was never used says so, and after that when it was used last', async () => {
  const other = (await client.post(`/api/nodes/${node.id}/pats`, { name: 'other' })).json()
  expect((await tokens()).map((token) => token.lastUsed)).toEqual([null, null])
  await use()
  now += 5000
  await use()
  now += 5000
  await use(`${node.token.slice(0, -1)}x`)
  const seen = Object.fromEntries((await tokens()).map((token) => [token.name, token.lastUsed]))
  expect(seen).toEqual({ default: BEGIN + 5000, other: null })
  expect(other.lastUsed).toBeNull()
})

test('it is in use while its agent is connected', async () => {
  const socket = await connect(node.token)
  now += 3_600_000
  expect(await lastUsed()).toBe(now)
  socket.close()
  const end = await until('the end of the connection', async () => {
    now += 1000
    const used = await lastUsed()
    return used !== now && used
  })
  now += 3_600_000
  expect(await lastUsed()).toBe(end)
})

test('a restart does not forget it', async () => {
  await use()
  await server.close({ keepData: true })
  server = await startTestServer({ dataDir: server.dataDir, world: { clock: () => now } })
  client = await server.signIn()
  now += 60_000
  expect(await lastUsed()).toBe(BEGIN)
})

test('a token that was deleted, alone or with its node, leaves nothing, even when its agent was connected', async () => {
  const { tokenUses } = server.context
  const gone = (await client.post(`/api/nodes/${node.id}/pats`, { name: 'gone' })).json()
  const other: CreatedNode = (await client.post('/api/nodes', { name: 'other' })).json()
  const hung = await connect(gone.token)
  for (const token of [node.token, gone.token, other.token]) await use(token)
  await tokenUses.save()
  expect(await kept()).toHaveLength(3)
  const closed = once(hung, 'close')
  await client.delete(`/api/nodes/${node.id}/pats/${gone.id}`)
  await closed
  await client.delete(`/api/nodes/${other.id}`)
  await tokenUses.save()
  expect(await kept()).toHaveLength(1)
  expect(await lastUsed()).toBe(BEGIN)
})

test('many uses are one row of the file, written now and then', async () => {
  for (let i = 0; i < 20; i++) await use()
  expect(await kept()).toEqual([])
  await server.context.tokenUses.save()
  expect(await kept()).toEqual([{ token_id: expect.any(Number), used_at: BEGIN }])
})
