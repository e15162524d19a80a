import { LIMITS } from '@postern/contract/limits'
import type { Node } from '@postern/contract/nodes'
import type { CreatedPat, Pat } from '@postern/contract/pats'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { beforeAll, expect, it } from 'vitest'

const HOUR = 3_600_000
/** Added to the clock of the server. */
let ahead = 0

const server = shared(() => startTestServer({ world: { clock: () => Date.now() + ahead } }))
const client = shared(() => server.signIn())
beforeAll(() => server.listen())

const createNode = (name: string) => client.createNode({ name })
const pats = (node: { id: number }) => `/api/nodes/${node.id}/pats`
const create = async (node: Node, form: object): Promise<CreatedPat> =>
  (await client.post(pats(node), form)).json()
const list = async (node: Node): Promise<Pat[]> => (await client.get(pats(node))).json()
const ask = (token: string) => server.as(token).get('/api/agent/config')
const iso = (ms: number) => new Date(ms).toISOString()
const rotate = (node: Node, { id }: { id: number }) => client.post(`${pats(node)}/${id}/rotate`)
const rotated = async (node: Node, old: { id: number }): Promise<CreatedPat> =>
  (await rotate(node, old)).json()
const statusOf = async (token: string) => (await ask(token)).statusCode

it('makes a new token with the name and the lifetime of the old one, whose first use revokes that', async () => {
  const node = await createNode('rotating')
  const old = await create(node, { name: 'laptop', expireAt: iso(Date.now() + 3 * HOUR) })
  ahead = HOUR
  const next = await rotated(node, old)
  expect(next).toMatchObject({ name: 'laptop', replaces: old.id, lastUsed: null, revoked: false })
  const lifetime = Date.parse(old.expireAt ?? '') - Date.parse(old.created_at)
  expect(Date.parse(next.expireAt ?? '') - Date.parse(next.created_at)).toBeCloseTo(lifetime, -2)
  expect(await statusOf(old.token)).toBe(200)
  expect((await list(node)).map(({ id, replaces }) => [id, replaces])).toContainEqual([next.id, old.id])
  expect(await Promise.all([next.token, next.token].map(statusOf))).toEqual([200, 200])
  expect((await ask(old.token)).json()).toMatchObject({ code: 'token_revoked' })
  expect(await list(node)).toMatchObject([
    { id: next.id, revoked: false, replaces: null },
    { id: old.id, revoked: true },
    { name: 'default', revoked: false },
  ])
  const { db } = server.context
  const changes = await db.selectFrom('changes').selectAll().orderBy('revision', 'desc').limit(2).execute()
  expect(changes.map(({ actor, what, name }) => [actor, what, name])).toEqual([
    ['rotating', 'access token revoked', 'laptop'],
    ['admin', 'access token rotated', 'laptop'],
  ])
  ahead = 0
})

it('replaces a new token that nobody used', async () => {
  const node = await createNode('twice')
  const old = await create(node, { name: 'x' })
  const lost = await rotated(node, old)
  const next = await rotated(node, old)
  expect(await Promise.all([lost, next, old].map(({ token }) => statusOf(token)))).toEqual([401, 200, 200])
  expect(await statusOf(old.token)).toBe(403)
})

it('replaces what a new token was to replace, when that is rotated before anybody used it', async () => {
  const node = await createNode('chained')
  const leaked = await create(node, { name: 'x' })
  const lost = await rotated(node, leaked)
  const next = await rotated(node, lost)
  expect(next.replaces).toBe(leaked.id)
  expect(await statusOf(next.token)).toBe(200)
  expect(await Promise.all([leaked, lost].map(({ token }) => statusOf(token)))).toEqual([403, 401])
})

it('gives the new token the key that came by the old one', async () => {
  const node = await createNode('keyed')
  const old = await create(node, { name: 'x' })
  await server.as(old.token).put('/api/agent/key', { publicKey: Buffer.alloc(32, 41).toString('base64') })
  const next = await rotated(node, old)
  expect((await ask(next.token)).json().publicKey).toBe(Buffer.alloc(32, 41).toString('base64'))
  expect((await list(node)).filter(({ broughtKey }) => broughtKey)).toMatchObject([{ id: next.id }])
})

it('leaves the new token alone when the old one ends first, and is refused for one that has ended', async () => {
  const node = await createNode('ended')
  const revoked = await create(node, { name: 'revoked' })
  const removed = await create(node, { name: 'removed' })
  const expired = await create(node, { name: 'expired', expireAt: iso(Date.now() + HOUR) })
  const nexts = [await rotated(node, revoked), await rotated(node, removed)]
  await client.patch(`${pats(node)}/${revoked.id}/revoke`)
  await client.delete(`${pats(node)}/${removed.id}`)
  for (const { id, token } of nexts) {
    expect((await list(node)).find((pat) => pat.id === id)?.replaces).toBeNull()
    expect(await statusOf(token)).toBe(200)
  }
  ahead = 2 * HOUR
  for (const ended of [revoked, expired]) {
    const refused = await rotate(node, ended)
    expect([refused.statusCode, refused.json().message]).toEqual([
      409,
      'This access token has ended. Add a new one instead.',
    ])
  }
  ahead = 0
  expect((await rotate(node, removed)).statusCode).toBe(404)
  expect((await rotate(await createNode('other'), nexts[0] as CreatedPat)).statusCode).toBe(404)
})

it('needs room for one more', async () => {
  const node = await createNode('crowded')
  const [first] = await list(node)
  for (let i = 1; i < LIMITS.tokensPerNode; i++) await create(node, { name: `token ${i}` })
  expect((await rotate(node, first as Pat)).json().message).toContain('which is the limit')
})
