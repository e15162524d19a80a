import { LIMITS } from '@postern/contract/limits'
import type { Node } from '@postern/contract/nodes'
import type { CreatedPat, Pat } from '@postern/contract/pats'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { beforeAll, describe, expect, it, test } from 'vitest'

const DAY = 86_400_000
/** Added to the clock of the server. */
let ahead = 0

const server = shared(() => startTestServer({ world: { clock: () => Date.now() + ahead } }))
const client = shared(() => server.signIn())
beforeAll(() => server.listen())

const createNode = (name: string) => client.createNode({ name })
const pats = (node: { id: number }) => `/api/nodes/${node.id}/pats`
const add = (node: Node, form: object) => client.post(pats(node), form)
const create = async (node: Node, form: object): Promise<CreatedPat> => (await add(node, form)).json()
const list = async (node: Node, query = ''): Promise<Pat[]> =>
  (await client.get(`${pats(node)}${query}`)).json()
const ask = (token: string) => server.as(token).get('/api/agent/config')
const iso = (ms: number) => new Date(ms).toISOString()

describe('a new token', () => {
  it('is shown once, and stored only as a hash', async () => {
    const node = await createNode('site')
    const answer = await add(node, { name: '  laptop  ' })
    expect(answer.statusCode).toBe(201)
    const { token, ...pat } = answer.json<CreatedPat>()
    expect(pat).toEqual({
      id: expect.any(Number),
      nodeId: node.id,
      name: 'laptop',
      expireAt: null,
      revoked: false,
      replaces: null,
      broughtKey: false,
      published: 0,
      lastUsed: null,
      lastUsedFrom: null,
      created_at: expect.any(String),
      updated_at: pat.created_at,
    })
    expect(token).toMatch(/^ptn_[\w-]{43}$/)
    expect((await ask(token)).json().node.id).toBe(node.id)
    const others = [await client.get(pats(node)), await client.get(`/api/nodes/${node.id}`)]
    for (const { body } of others) expect(body).not.toContain(token)
    const rows = await server.context.db.selectFrom('node_tokens').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(token)
    expect(server.logged()).not.toContain(token)
  })

  it("is listed beside the one from the node's creation, which is called default", async () => {
    const node = await createNode('with-default')
    expect(await list(node)).toMatchObject([{ name: 'default', expireAt: null, revoked: false }])
    await create(node, { name: 'second' })
    expect((await list(node)).map(({ name }) => name)).toEqual(['second', 'default'])
    expect((await client.get(`/api/nodes/${node.id}`)).json().tokens).toBe(2)
  })

  it.each([
    [{}, 'name', 'This field is required'],
    [{ name: '   ' }, 'name', 'This field is required'],
    [{ name: 5 }, 'name', 'must be a valid string'],
    [{ name: 'x'.repeat(101) }, 'name', 'must be less than or equal to 100 characters long'],
    [{ name: 'a\u202eb' }, 'name', 'Control characters and invisible marks are not allowed.'],
    [{ name: 'x', expireAt: 'tomorrow' }, 'expireAt', 'must be a valid date'],
    [{ name: 'x', expireAt: '2026-02-30T00:00:00Z' }, 'expireAt', 'must be a valid date'],
    [{ name: 'x', expireAt: '9999-12-31T23:59:59-12:00' }, 'expireAt', 'must be a valid date'],
    [{ name: 'x', expireAt: 1795252758000 }, 'expireAt', 'must be a valid date'],
    [{ name: 'x', revoked: true }, 'revoked', 'Unknown field'],
    // A token has no such field.
    [{ name: 'x', ttl: '30m' }, 'ttl', 'Unknown field'],
    [{ name: 'x', expiresAt: '2099-01-01T00:00:00Z' }, 'expiresAt', 'Unknown field'],
    [{ name: 'x', token: 'ptn_mine' }, 'token', 'Unknown field'],
  ])('cannot be %j', async (form, field, message) => {
    const node = await createNode('strict')
    const answer = await add(node, form)
    expect([answer.statusCode, answer.json().errors]).toEqual([422, [{ field, message }]])
    expect(await list(node)).toHaveLength(1)
  })

  it('treats every blank as no expiry', async () => {
    const node = await createNode('blank')
    for (const form of [{}, { expireAt: null }, { expireAt: '' }])
      expect((await create(node, { name: 'x', ...form })).expireAt).toBe(null)
  })

  it('is not added to a node that has very many, until an old one is deleted', async () => {
    const node = await createNode('full')
    const [first] = await list(node)
    for (let i = 1; i < LIMITS.tokensPerNode; i++) await create(node, { name: `token ${i}` })
    const refused = await add(node, { name: 'one too many' })
    expect([refused.statusCode, refused.json().message]).toEqual([
      409,
      'This node has 100 access tokens, which is the limit. Delete old ones first.',
    ])
    await client.delete(`${pats(node)}/${first?.id}`)
    expect((await add(node, { name: 'fits' })).statusCode).toBe(201)
  })
})

describe('the expiry', () => {
  it('is stored in UTC when it is in the future', async () => {
    const node = await createNode('later')
    const at = Date.now() + 3 * DAY
    expect((await create(node, { name: 'x', expireAt: iso(at) })).expireAt).toBe(iso(at))
    const offset = '2099-03-31T23:59:59.999+02:00'
    expect((await create(node, { name: 'x', expireAt: offset })).expireAt).toBe('2099-03-31T21:59:59.999Z')
  })

  it('is moved to the end of today when it is its beginning, and refused when it is older', async () => {
    const node = await createNode('today')
    const justNow = Date.now() - 60_000
    expect((await create(node, { name: 'x', expireAt: iso(justNow) })).expireAt).toBe(iso(justNow + DAY))
    const almost = Date.now() - DAY + 60_000
    const made = await create(node, { name: 'x', expireAt: iso(almost) })
    expect(made.expireAt).toBe(iso(almost + DAY))
    expect((await ask(made.token)).statusCode).toBe(200)
    const answer = await add(node, { name: 'x', expireAt: iso(Date.now() - DAY) })
    expect([answer.statusCode, answer.json().errors]).toEqual([
      422,
      [{ field: 'expireAt', message: 'Choose today or later.' }],
    ])
    const both = await add(node, { name: ' ', expireAt: iso(Date.now() - DAY) })
    expect(both.json().errors).toMatchObject([{ field: 'name' }, { field: 'expireAt' }])
  })

  it('ends the token at that moment', async () => {
    const node = await createNode('short')
    const { token } = await create(node, { name: 'x', expireAt: iso(Date.now() + DAY) })
    expect((await ask(token)).statusCode).toBe(200)
    ahead = DAY + 1000
    const refused = await ask(token)
    ahead = 0
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'token_expired'])
  })
})

describe('revoking and deleting', () => {
  it('ends this token at the next request, and no other', async () => {
    const node = await createNode('site')
    const kept = await create(node, { name: 'kept' })
    const revoked = await create(node, { name: 'revoked' })
    const removed = await create(node, { name: 'removed' })
    const answer = await client.patch(`${pats(node)}/${revoked.id}/revoke`)
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { id: revoked.id, revoked: true }])
    expect((await client.delete(`${pats(node)}/${removed.id}`)).json()).toEqual({ id: removed.id })
    const refused = await ask(revoked.token)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'token_revoked'])
    expect((await ask(removed.token)).statusCode).toBe(401)
    for (const { token } of [kept, node]) expect((await ask(token)).statusCode).toBe(200)
    expect((await list(node)).map(({ name, revoked }) => [name, revoked])).toEqual([
      ['revoked', true],
      ['kept', false],
      ['default', false],
    ])
  })

  it('removes the key that it registered, if asked, and no other', async () => {
    const node = await createNode('taken')
    const stolen = await create(node, { name: 'stolen' })
    const register = (token: string, fill: number) =>
      server.as(token).put('/api/agent/key', { publicKey: Buffer.alloc(32, fill).toString('base64') })
    const keyOf = async () => (await ask(node.token)).json().publicKey
    const broughtBy = async () =>
      (await list(node)).filter(({ broughtKey }) => broughtKey).map(({ name }) => name)
    await register(node.token, 21)
    expect(await broughtBy()).toEqual(['default'])
    await register(stolen.token, 22)
    expect(await broughtBy()).toEqual(['stolen'])
    const other = await create(node, { name: 'other' })
    await client.delete(`${pats(node)}/${other.id}?forgetKey=true`)
    await client.patch(`${pats(node)}/${stolen.id}/revoke`)
    expect(await keyOf()).toBe(Buffer.alloc(32, 22).toString('base64'))
    expect((await client.patch(`${pats(node)}/${stolen.id}/revoke?forgetKey=true`)).json()).toMatchObject({
      revoked: true,
      broughtKey: false,
    })
    expect(await keyOf()).toBeNull()
    await register(node.token, 21)
    const id = (await list(node)).find(({ name }) => name === 'default')?.id
    await client.delete(`${pats(node)}/${id}?forgetKey=true`)
    expect((await client.get(`/api/nodes/${node.id}`)).json()).toMatchObject({ id: node.id })
    const row = await server.context.db
      .selectFrom('nodes')
      .selectAll()
      .where('id', '=', node.id)
      .executeTakeFirst()
    expect(row?.public_key).toBeNull()
  })

  it('is recorded with its author, and pages get a hint', async () => {
    const node = await createNode('noted')
    const { id } = await create(node, { name: 'x' })
    await client.patch(`${pats(node)}/${id}/revoke`)
    await client.delete(`${pats(node)}/${id}`)
    const { db } = server.context
    const notes = await db.selectFrom('changes').selectAll().orderBy('revision', 'desc').limit(3).execute()
    expect(notes.map(({ actor, what, name, node_id }) => [actor, what, name, node_id])).toEqual([
      ['admin', 'access token deleted', 'x', node.id],
      ['admin', 'access token revoked', 'x', node.id],
      ['admin', 'access token created', 'x', node.id],
    ])
  })
})

test('a token belongs to its node: of another it does not exist, and it reaches nothing else', async () => {
  const [a, b] = [await createNode('a'), await createNode('b')]
  const own = await create(a, { name: 'own' })
  for (const answer of [
    await client.patch(`${pats(b)}/${own.id}/revoke`),
    await client.delete(`${pats(b)}/${own.id}`),
    await client.delete(`${pats(a)}/999999`),
  ])
    expect([answer.statusCode, answer.json().message]).toEqual([404, 'Token not found'])
  for (const url of ['/api/nodes/999999/pats', '/api/nodes/x/pats', '/api/nodes/0/pats'])
    expect((await client.get(url)).json()).toMatchObject({ code: 'not_found', message: 'Node not found' })
  expect((await ask(own.token)).json().node.id).toBe(a.id)
  const asNode = server.as(own.token)
  for (const call of [asNode.get(pats(a)), asNode.post(pats(a)), asNode.get(`/api/nodes/${a.id}`)])
    expect((await call).json()).toMatchObject({ code: 'kind' })
})

test('the local node has no tokens, and gets none', async () => {
  for (const answer of [
    await client.get('/api/nodes/1/pats'),
    await client.post('/api/nodes/1/pats', { name: 'x' }),
    await client.patch('/api/nodes/1/pats/1/revoke'),
    await client.delete('/api/nodes/1/pats/1'),
  ])
    expect([answer.statusCode, answer.json()]).toMatchObject([
      409,
      { code: 'local_node', message: 'The local node is this server itself and needs no access tokens' },
    ])
})

test('they need a session', async () => {
  for (const url of ['/api/nodes/2/pats', '/api/nodes/1/pats'])
    expect((await server.call({ method: 'GET', url })).statusCode).toBe(401)
})

test('the list is searched, sorted and cut into pages', async () => {
  const node = await createNode('many')
  for (const name of ['Äpfel', 'bananas', 'Cherries', 'apples 100%']) await create(node, { name })
  const names = async (query: string) => (await list(node, query)).map(({ name }) => name)
  expect(await names('')).toEqual(['apples 100%', 'Cherries', 'bananas', 'Äpfel', 'default'])
  expect(await names('?orderBy=created_at,asc')).toEqual((await names('')).reverse())
  expect(await names('?orderBy=name,asc')).toEqual(['apples 100%', 'bananas', 'Cherries', 'default', 'Äpfel'])
  expect(await names('?search=%C3%A4PF')).toEqual(['Äpfel'])
  expect(await names('?search=%25')).toEqual(['apples 100%'])
  const { json } = await client.get(`${pats(node)}?orderBy=name,desc&page=2&limit=2`)
  expect(json()).toMatchObject({
    data: [{ name: 'Cherries' }, { name: 'bananas' }],
    page: 2,
    limit: 2,
    total: 5,
  })
  for (const query of ['?orderBy=expireAt,asc', '?limit=101', '?page=0', '?other=1'])
    expect((await client.get(`${pats(node)}${query}`)).statusCode, query).toBe(422)
})

test("a token's name is shown to people and never interpreted", async () => {
  const node = await createNode('hostile')
  for (const name of [
    "'; DROP TABLE node_tokens; --",
    '<script>',
    '%_',
    '{{7*7}}',
    '\\',
    '👩‍👩‍👧‍👦',
    'ptn_x',
  ])
    expect((await create(node, { name })).name).toBe(name)
  expect(await list(node, `?search=${encodeURIComponent("'; DROP")}`)).toHaveLength(1)
})
