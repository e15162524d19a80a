import { once } from 'node:events'
import type { Pat } from '@postern/contract/pats'
import { openAgentSocket } from '@postern/testkit/agent-calls'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'

const BEGIN = Date.parse('2026-11-21T12:00:00Z')
const server = fresh(() => startTestServer({ now: BEGIN }))
const client = fresh(() => server.signIn())
const node = fresh(() => client.createNode({ name: 'site' }))

const tokens = async () => (await client.get(`/api/nodes/${node.id}/pats`)).json<Pat[]>()
const lastUsed = async () => (await tokens())[0]?.lastUsed
const use = (token = node.token) => server.as(token).get('/api/agent/config')
async function connect(token: string) {
  await server.listen()
  return (await openAgentSocket(server, token)).socket
}
const kept = () => server.context.liveDb.selectFrom('token_uses').selectAll().execute()

test('a token shows that it was never used, and later when it was last used', async () => {
  const other = (await client.post(`/api/nodes/${node.id}/pats`, { name: 'other' })).json()
  expect((await tokens()).map((token) => token.lastUsed)).toEqual([null, null])
  await use()
  server.now += 5000
  await use()
  server.now += 5000
  await use(`${node.token.slice(0, -1)}x`)
  const seen = Object.fromEntries((await tokens()).map((token) => [token.name, token.lastUsed]))
  expect(seen).toEqual({ default: BEGIN + 5000, other: null })
  expect(other.lastUsed).toBeNull()
})

test('it is in use while its agent is connected', async () => {
  const socket = await connect(node.token)
  server.now += 3_600_000
  expect(await lastUsed()).toBe(server.now)
  socket.close()
  const end = await until('the end of the connection', async () => {
    server.now += 1000
    const used = await lastUsed()
    return used !== server.now && used
  })
  server.now += 3_600_000
  expect(await lastUsed()).toBe(end)
})

test('it shows from which address a token was used, even after a restart and while its agent is connected', async () => {
  const from = async () => (await tokens())[0]?.lastUsedFrom
  expect(await from()).toBeNull()
  await use()
  expect(await from()).toBe('127.0.0.1')
  await server.restart()
  expect(await from()).toBe('127.0.0.1')
  await connect(node.token)
  expect(await from()).toBe('127.0.0.1')
})

test('a restart does not forget it', async () => {
  await use()
  await server.restart()
  server.now += 60_000
  expect(await lastUsed()).toBe(BEGIN)
})

test('a deleted token, alone or with its node, leaves nothing, even when its agent was connected', async () => {
  const { tokenUses } = server.context
  const gone = (await client.post(`/api/nodes/${node.id}/pats`, { name: 'gone' })).json()
  const other = await client.createNode({ name: 'other' })
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

test('many uses are one row of the file, written from time to time', async () => {
  for (let i = 0; i < 20; i++) await use()
  expect(await kept()).toEqual([])
  await server.context.tokenUses.save()
  expect(await kept()).toEqual([{ token_id: expect.any(Number), used_at: BEGIN, used_from: '127.0.0.1' }])
})
