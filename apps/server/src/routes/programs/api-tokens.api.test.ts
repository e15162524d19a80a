import type { ApiToken } from '@postern/contract/api-tokens'
import { LIMITS } from '@postern/contract/limits'
import { addPerson } from '@postern/testkit/people'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, test } from 'vitest'
import { CONFIRMED, makeApiToken } from '../../../test/programs-lab.ts'

const BEGIN = Date.parse('2026-11-21T12:00:00Z')
const DAY = 86_400_000
const server = fresh(() => startTestServer({ now: BEGIN }))
const admin = fresh(() => server.signIn())

const listOf = async (client = admin) => (await client.get('/api/tokens')).json<ApiToken[]>()
const refusal = async (form: object, client = admin) => {
  const answer = await client.post('/api/tokens', { name: 'backup', role: 'viewer', ...CONFIRMED, ...form })
  return [answer.statusCode, answer.json().errors]
}

test('a token is shown once, and kept as a hash', async () => {
  const { token, ...made } = await makeApiToken(admin, { name: ' nightly  ', role: 'editor' })
  expect(token).toMatch(/^pta_[\w-]{43}$/)
  expect(made).toMatchObject({
    name: 'nightly',
    role: 'editor',
    reach: null,
    revoked: false,
    lastUsed: null,
    lastUsedFrom: null,
  })
  expect(await listOf()).toEqual([made])
  const rows = await server.context.db.selectFrom('api_tokens').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain(token)
  expect(server.logged()).not.toContain(token.slice(4))
})

describe('it ends', () => {
  const expiryOf = async (expireAt?: string) =>
    (await makeApiToken(admin, expireAt === undefined ? {} : { expireAt })).expireAt

  test('after 90 days, unless the form says when', async () => {
    expect(await expiryOf()).toBe(new Date(BEGIN + 90 * DAY).toISOString())
    expect(await expiryOf('')).toBe(new Date(BEGIN + 90 * DAY).toISOString())
    expect(await expiryOf('2027-01-01T00:00:00Z')).toBe('2027-01-01T00:00:00.000Z')
    // A typed day is its local midnight, and today means the end of today.
    expect(await expiryOf('2026-11-21T00:00:00Z')).toBe('2026-11-22T00:00:00.000Z')
  })

  test.each([
    ['in the past', '2026-11-19T00:00:00Z', 'Choose today or later.'],
    ['in more than a year', '2027-11-23T00:00:00Z', 'Choose a day within a year.'],
    ['never', 'never', 'must be a valid date'],
  ])('not %s', async (_, expireAt, message) => {
    expect(await refusal({ expireAt })).toEqual([422, [{ field: 'expireAt', message }]])
  })
})

test('all that is wrong is said at once', async () => {
  const answer = await admin.post('/api/tokens', { role: 'owner', expireAt: '1999-01-01T00:00:00Z', id: 7 })
  expect(answer.statusCode).toBe(422)
  const fields = answer.json<{ errors: { field: string }[] }>().errors.map(({ field }) => field)
  expect(fields.toSorted()).toEqual(['expireAt', 'id', 'name', 'role'])
})

describe('nobody makes a token that may do more than they may', () => {
  test('by its role', async () => {
    const client = await addPerson(server, 'vera', 'viewer')
    const message = 'A token may not do more than you may. Choose another role.'
    for (const role of ['editor', 'admin'])
      expect(await refusal({ role }, client)).toEqual([422, [{ field: 'role', message }]])
    expect((await makeApiToken(client, { role: 'viewer' })).role).toBe('viewer')
  })

  test('by its nodes and domains, of which others do not exist for them', async () => {
    const [mine, other] = [
      await admin.createNode({ name: 'mine' }),
      await admin.createNode({ name: 'other' }),
    ]
    const domain = await admin.createDomain({
      domain: 'a.example.com',
      ssl: 'self-signed',
      skipValidation: true,
    })
    const reach = { nodes: [mine.id], domains: [] }
    const client = await addPerson(server, 'eve', 'editor', reach)
    expect(
      await refusal({ reach: { nodes: [mine.id, other.id, 999], domains: [domain.id] } }, client),
    ).toEqual([
      422,
      [
        { field: 'reach.nodes.1', message: 'A chosen node does not exist any more. Choose again.' },
        { field: 'reach.nodes.2', message: 'A chosen node does not exist any more. Choose again.' },
        { field: 'reach.domains.0', message: 'A chosen domain does not exist any more. Choose again.' },
      ],
    ])
    expect((await makeApiToken(client, { role: 'editor', reach })).reach).toEqual(reach)
    expect(await listOf(client)).toHaveLength(1)
    expect(await listOf(admin)).toEqual([])
  })

  test('and an administrator’s is limited to nothing', async () => {
    const message = 'An administrator cannot be limited. Choose another role, or the whole installation.'
    expect(await refusal({ role: 'admin', reach: { nodes: [1], domains: [] } })).toEqual([
      422,
      [{ field: 'reach.nodes', message }],
    ])
  })
})

test('a person has so many at most', async () => {
  for (let count = 0; count < LIMITS.apiTokensPerPerson; count++) await makeApiToken(admin)
  const answer = await admin.post('/api/tokens', { name: 'one more', role: 'viewer', ...CONFIRMED })
  expect([answer.statusCode, answer.json().message]).toEqual([
    409,
    'You have 50 API tokens, which is the limit. Delete old ones first.',
  ])
})

test('a person revokes and deletes their own, and nobody else’s', async () => {
  const client = await addPerson(server, 'adam', 'admin')
  const made = await makeApiToken(admin)
  expect((await client.patch(`/api/tokens/${made.id}/revoke`)).statusCode).toBe(404)
  expect((await client.delete(`/api/tokens/${made.id}`)).statusCode).toBe(404)
  expect((await server.as(made.token).get('/api/auth/me')).statusCode).toBe(200)
  expect((await admin.patch(`/api/tokens/${made.id}/revoke`)).json()).toMatchObject({ revoked: true })
  expect((await server.as(made.token).get('/api/auth/me')).json()).toMatchObject({
    code: 'token_revoked',
    message: 'This API token was revoked',
  })
  expect((await listOf()).map(({ revoked }) => revoked)).toEqual([true])
  expect((await admin.delete(`/api/tokens/${made.id}`)).json()).toEqual({ id: made.id })
  expect(await listOf()).toEqual([])
  expect((await server.as(made.token).get('/api/auth/me')).statusCode).toBe(401)
})

test('its last use is shown, and survives a restart', async () => {
  const { token } = await makeApiToken(admin)
  server.now += 5000
  await server.call({
    url: '/api/auth/me',
    headers: { authorization: `Bearer ${token}` },
    remoteAddress: '203.0.113.9',
  })
  const seen = { lastUsed: BEGIN + 5000, lastUsedFrom: '203.0.113.9' }
  expect(await listOf()).toMatchObject([seen])
  await server.restart()
  expect(await listOf()).toMatchObject([seen])
})

test('what is done with it is in the history, with its name and its person', async () => {
  const { token } = await makeApiToken(admin, { name: 'deploy' })
  await server.as(token).createNode({ name: 'site' })
  const rows = await server.context.db
    .selectFrom('changes')
    .select(['actor', 'what', 'name'])
    .orderBy('revision', 'desc')
    .limit(2)
    .execute()
  expect(rows).toEqual([
    { actor: 'admin (token deploy)', what: 'node created', name: 'site' },
    { actor: 'admin', what: 'API token created', name: 'deploy' },
  ])
})
