import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { pathOf } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { TAKE_BACK_HEADER } from '@postern/contract/history/take-back'
import { LIMITS } from '@postern/contract/limits'
import { MESSAGES } from '@postern/contract/messages'
import { followStream } from '@postern/testkit/event-stream'
import { addPerson } from '@postern/testkit/people'
import { type Client, startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, test, vi } from 'vitest'
import { makeApiToken } from '../../../test/programs-lab.ts'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const admin = fresh(() => server.signIn())
const statusOf = async (client: Client, url = '/api/nodes') => (await client.get(url)).statusCode
const setPerson = (values: { role?: 'viewer'; is_disabled?: 0 | 1; is_limited?: 1 }) =>
  server.context.db.updateTable('users').set(values).where('username', '=', 'admin').execute()

describe('at every use it may do what both it and its person may', () => {
  test('by its own role', async () => {
    const viewer = server.as((await makeApiToken(admin, { role: 'viewer' })).token)
    expect(await statusOf(viewer)).toBe(200)
    const answer = await viewer.post('/api/nodes', { name: 'site' })
    expect(answer.json()).toMatchObject({ code: 'role', message: expect.stringContaining('Ask an editor') })
    const editor = server.as((await makeApiToken(admin, { role: 'editor' })).token)
    expect((await editor.post('/api/nodes', { name: 'site' })).statusCode).toBe(201)
    expect(await statusOf(editor, '/api/settings')).toBe(403)
  })

  test('by the role that its person has now', async () => {
    const token = server.as((await makeApiToken(admin, { role: 'admin' })).token)
    expect(await statusOf(token, '/api/settings')).toBe(200)
    await setPerson({ role: 'viewer' })
    expect(await statusOf(token, '/api/settings')).toBe(403)
    expect((await token.post('/api/nodes', { name: 'site' })).statusCode).toBe(403)
    expect((await token.get('/api/auth/me')).json()).toMatchObject({ username: 'admin', role: 'viewer' })
  })

  test('by the nodes and domains of both', async () => {
    const ids = []
    for (const name of ['one', 'two', 'three']) ids.push((await admin.createNode({ name })).id)
    const [one = 0, two = 0, three = 0] = ids
    const eve = await addPerson(server, 'eve', 'editor', { nodes: [one, two], domains: [] })
    const whole = await makeApiToken(eve, { role: 'editor' })
    const part = await makeApiToken(eve, { role: 'editor', reach: { nodes: [two], domains: [] } })
    const reachOf = async ({ token }: { token: string }) =>
      (await server.as(token).get('/api/auth/me')).json().reach
    expect(await reachOf(whole)).toEqual({ nodes: [one, two], domains: [] })
    expect(await reachOf(part)).toEqual({ nodes: [two], domains: [] })
    await server.context.db.deleteFrom('user_nodes').where('node_id', '=', two).execute()
    await server.context.db.insertInto('user_nodes').values({ user_id: eve.userId, node_id: three }).execute()
    expect(await reachOf(whole)).toEqual({ nodes: [one, three], domains: [] })
    expect(await reachOf(part)).toEqual({ nodes: [], domains: [] })
    // What is about the whole installation is not for a part of it.
    expect((await server.as(part.token).get('/api/alerts')).json().code).toBe('role')
  })

  test('a node that is deleted leaves it, and never makes it unlimited', async () => {
    const node = await admin.createNode({ name: 'site' })
    const { token } = await makeApiToken(admin, { role: 'viewer', reach: { nodes: [node.id], domains: [] } })
    await admin.delete(`/api/nodes/${node.id}`)
    expect((await server.as(token).get('/api/auth/me')).json().reach).toEqual({ nodes: [], domains: [] })
  })

  test('nothing once its person is disabled or gone, and nothing after its end', async () => {
    const { token } = await makeApiToken(admin, { role: 'admin' })
    const program = server.as(token)
    await setPerson({ is_disabled: 1 })
    expect((await program.get('/api/nodes')).json()).toMatchObject({
      code: 'token_revoked',
      message: 'The account that made this API token is disabled',
    })
    await setPerson({ is_disabled: 0 })
    expect(await statusOf(program)).toBe(200)
    server.now += 90 * 86_400_000
    expect((await program.get('/api/nodes')).json()).toMatchObject({
      code: 'token_expired',
      message: 'This API token has expired',
    })
    await server.context.db.deleteFrom('users').where('username', '=', 'admin').execute()
    expect(await statusOf(program)).toBe(401)
  })
})

test('what is for people alone refuses every token, whatever it may do', async () => {
  const program = server.as((await makeApiToken(admin, { role: 'admin' })).token)
  const all: [string, Endpoint][] = Object.entries(endpoints)
  const forPeople = all.filter(([, { isSessionOnly }]) => isSessionOnly)
  expect(forPeople.length).toBeGreaterThan(5)
  for (const [name, endpoint] of forPeople) {
    const answer = await server.call({
      method: endpoint.method,
      url: pathOf(endpoint, { id: 1 }),
      headers: { authorization: `Bearer ${program.token}` },
      ...(endpoint.method !== 'GET' && { payload: {} }),
    })
    expect([name, answer.statusCode, answer.json().code]).toEqual([name, 403, 'kind'])
  }
  const answer = await program.get('/api/agent/config')
  expect([answer.statusCode, answer.json().message]).toEqual([403, 'Only a node can do this'])
})

test('it counts in the header alone, not in an address and not in a cookie', async () => {
  const { token } = await makeApiToken(admin)
  await server.listen()
  for (const path of [
    '/api/nodes',
    '/api/nodes/stream',
    '/api/nodes/1/download',
    '/api/requests/export?format=csv',
  ]) {
    const query = `${path}${path.includes('?') ? '&' : '?'}token=${token}`
    for (const options of [{ url: query }, { url: path, headers: { cookie: `token=${token}` } }]) {
      const answer = await server.call(options)
      expect([path, answer.statusCode]).toEqual([path, 401])
    }
  }
  const inAddress = await server.call({ url: `/api/nodes/stream?token=${token}` })
  expect(inAddress.json().message).toBe('Send an API token in the header Authorization, as a bearer')
  const stream = await followStream(`${server.origin}/api/nodes/stream`, { authorization: `Bearer ${token}` })
  expect(stream.status).toBe(200)
  stream.close()
})

test.each<[string, (tokenId: number) => unknown]>([
  ['is revoked', (id) => admin.patch(`/api/tokens/${id}/revoke`)],
  ['is deleted', (id) => admin.delete(`/api/tokens/${id}`)],
  ['may do less', () => setPerson({ role: 'viewer' })],
  ['has a disabled person', () => setPerson({ is_disabled: 1 })],
])('a stream ends within two seconds when its token %s', async (_, work) => {
  const { id, token } = await makeApiToken(admin)
  await server.listen()
  const stream = await followStream(`${server.origin}/api/nodes/stream`, { authorization: `Bearer ${token}` })
  await vi.waitFor(() => expect(stream.text).not.toBe(''))
  await work(id)
  await vi.waitFor(() => expect(stream.isEnded).toBe(true), { timeout: 10_000 })
})

test('a token that asks too often waits, and no other one does', async () => {
  const [busy, other] = [await makeApiToken(admin), await makeApiToken(admin)]
  for (let count = 0; count < LIMITS.apiTokenRequests; count++)
    expect(await statusOf(server.as(busy.token), '/api/auth/me')).toBe(200)
  const answer = await server.as(busy.token).get('/api/auth/me')
  expect([answer.statusCode, answer.headers['retry-after'], answer.json()]).toMatchObject([
    429,
    '1',
    { code: 'too_many', message: 'Too many requests with this API token, try again later' },
  ])
  expect(await statusOf(server.as(other.token))).toBe(200)
  server.now += 1000
  expect(await statusOf(server.as(busy.token))).toBe(200)
})

test('a source that shows unknown tokens is told to wait, and known ones from there still work', async () => {
  const { token } = await makeApiToken(admin)
  const unknown = server.as(`pta_${'A'.repeat(43)}`)
  for (let count = 0; count < 60; count++) expect(await statusOf(unknown)).toBe(401)
  const answer = await unknown.get('/api/nodes')
  expect([answer.statusCode, Number(answer.headers['retry-after']) > 0]).toEqual([429, true])
  expect(await statusOf(server.as(token))).toBe(200)
  server.now += 10 * 60_000
  expect(await statusOf(unknown)).toBe(401)
})

test('a token of an administrator changes settings, but not how people sign in', async () => {
  const program = server.as((await makeApiToken(admin, { role: 'admin' })).token)
  expect((await program.patch('/api/settings', { POSTERN_REQUESTS_DAYS: '5' })).statusCode).toBe(200)
  const set = await admin.patch('/api/settings', { POSTERN_SECOND_FACTOR: 'administrators' })
  await server.context.db
    .insertInto('authenticators')
    .values({ user_id: 1, secret: '', last_step: 0, created_at: '' })
    .execute()
  expect(set.statusCode).toBe(200)
  const message = 'Only a person who is signed in can change this, and no API token'
  const refusals = {
    POSTERN_SECOND_FACTOR: 'nobody',
    POSTERN_OIDC_ISSUER: 'https://id.example.com',
    POSTERN_OIDC_CLIENT_ID: 'postern',
    POSTERN_OIDC_CLIENT_SECRET: 'secret',
  }
  const answer = await program.patch('/api/settings', refusals)
  expect([answer.statusCode, answer.json().code]).toEqual([403, 'kind'])
  expect(answer.json().errors).toEqual(Object.keys(refusals).map((field) => ({ field, message })))
  // What stays as it is may be sent along.
  const same = { POSTERN_SECOND_FACTOR: 'administrators', POSTERN_REQUESTS_DAYS: '6' }
  expect((await program.patch('/api/settings', same)).statusCode).toBe(200)

  const { data } = (await admin.get('/api/history')).json<{ data: { revision: number; name: string }[] }>()
  const revision = data.find(({ name }) => name === 'POSTERN_SECOND_FACTOR')?.revision
  expect((await program.post(`/api/history/${revision}/undo`)).statusCode).toBe(403)
  expect((await admin.post(`/api/history/${revision}/undo`)).statusCode).toBe(200)
})

test('a token of an administrator reads nothing of what was done about people, and keeps none of it', async () => {
  const eve = await addPerson(server, 'eve', 'editor')
  await admin.patch(`/api/people/${eve.userId}`, { username: 'evelyn' })
  const demotion = await server.call({
    ...{ method: 'PATCH', url: `/api/people/${eve.userId}`, payload: { role: 'viewer' } },
    headers: { authorization: `Bearer ${admin.token}`, [TAKE_BACK_HEADER]: '600' },
  })
  expect(demotion.statusCode).toBe(200)
  const { db } = server.context
  const now = { revision: 900, actor: 'admin', at: new Date(server.now).toISOString() }
  await db
    .insertInto('changes')
    .values({ ...now, what: 'passwords switched off' } as never)
    .execute()
  const rule = { kind: 'setting', name: 'passwordRule', after: '{"person":"evelyn"}' }
  await db
    .insertInto('change_records')
    .values({ revision: 900, position: 0, ...rule } as never)
    .execute()
  expect((await admin.get('/api/history')).body).toContain('passwords switched off')
  const token = server.as((await makeApiToken(admin, { role: 'admin' })).token)
  const told = [
    (await token.get('/api/history')).body,
    (await token.get('/api/history/export')).body,
    (await token.get('/api/history/pending')).body,
    (await token.get('/api/history?search=evelyn')).body,
  ].join()
  expect(told).not.toMatch(/evelyn|"person"|api-token|passwords switched off/)
  const [{ revision }] = (await admin.get('/api/history/pending')).json().data
  expect((await token.post(`/api/history/${revision}/keep`)).statusCode).toBe(404)
  expect((await admin.post(`/api/history/${revision}/keep`)).statusCode).toBe(200)
})

test('a token of an administrator decides neither by which mail links go nor who has the name of the console', async () => {
  const token = server.as((await makeApiToken(admin, { role: 'admin' })).token)
  const mail = {
    ...{ kind: 'email', name: 'Operators', host: 'smtp.example.com', port: 465, password: 'x' },
    ...{ username: 'postern', sender: 'postern@example.com', recipients: ['ann@example.com'] },
  }
  expect((await token.post('/api/alerts/channels', mail)).json().code).toBe('kind')
  const { id } = (await admin.post('/api/alerts/channels', mail)).json()
  const channel = `/api/alerts/channels/${id}`
  for (const form of [{ host: 'evil.example' }, { enabled: false }])
    expect((await token.patch(channel, form)).json().code).toBe('kind')
  expect((await token.delete(channel)).json().code).toBe('kind')
  const name = { POSTERN_PUBLIC_HOST: 'evil.example', confirmPublicHost: true }
  expect((await token.patch('/api/settings', name)).json()).toMatchObject({
    code: 'kind',
    errors: [{ field: 'POSTERN_PUBLIC_HOST' }],
  })

  const known = { ssl: 'self-signed', skipValidation: true } as const
  const domain = await admin.createDomain({ domain: 'console.example.com', ...known })
  await admin.createDomain({ domain: 'next.example.com', ...known })
  const [own] = (await admin.get('/api/services/http')).json()
  const console = `/api/services/${own.nodeId}/http/${own.id}`
  const moveTo = async (to: string) => (await admin.patch(console, { domain: to })).statusCode
  expect(await moveTo('console.example.com')).toBe(200)
  expect((await token.patch(`/api/domains/${domain.id}`, { domain: 'gone.example.com' })).json().code).toBe(
    'kind',
  )
  expect((await token.patch(console, { allowedIps: [] })).json().code).toBe('kind')
  expect(await moveTo('next.example.com')).toBe(200)
  const node = await admin.createNode({ name: 'office' })
  const form = { name: 'mine', domain: 'console.example.com', backendPort: 80, confirmUsedName: true }
  const refused = await token.post(`/api/services/${node.id}/http`, form)
  expect(refused.json().errors).toMatchObject([{ field: 'domain', message: MESSAGES.consolesName }])
})
