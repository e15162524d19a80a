import type { OwnSession } from '@postern/contract/people/account'
import type { InvitedPerson } from '@postern/contract/people/people'
import { followStream } from '@postern/testkit/event-stream'
import { letIn, PASSWORD_OF_PEOPLE } from '@postern/testkit/people'
import { type Client, startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test, vi } from 'vitest'

const BEGIN = Date.parse('2026-11-21T12:00:00Z')
const HOUR = 3600_000

const server = fresh(() => startTestServer({ now: BEGIN }))
const admin = fresh(() => server.signIn())

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0'

async function signIn(remoteAddress = '198.51.100.7', userAgent = FIREFOX): Promise<Client> {
  const answer = await server.call({
    ...{ method: 'POST', url: '/api/auth/login', payload: TEST_ADMIN, remoteAddress },
    headers: { 'user-agent': userAgent },
  })
  return server.as(answer.json().token)
}
const sessionsOf = async (client: Client) => (await client.get('/api/account/sessions')).json<OwnSession[]>()
const isIn = async (client: Client) => (await client.get('/api/auth/me')).statusCode === 200
const changePassword = (client: Client, password: string, newPassword = 'a new password') =>
  client.post('/api/account/password', { password, newPassword })
const login = (username: string, password: string) =>
  server.call({ method: 'POST', url: '/api/auth/login', payload: { username, password } })
async function changes() {
  const rows = await server.context.db.selectFrom('changes').selectAll().orderBy('revision').execute()
  return rows.map(({ actor, name, what }) => `${actor}: ${name} ${what}`)
}

test('a viewer changes the own name, and signs in with it', async () => {
  const { id, client } = await letIn(server, admin, { username: 'ann', role: 'viewer' })
  const answer = await client.patch('/api/account', { username: 'Ann B.' })
  expect(answer.json()).toEqual({ id, username: 'Ann B.', role: 'viewer', reach: null })
  expect((await client.get('/api/auth/me')).json()).toEqual(answer.json())
  expect((await login('Ann B.', PASSWORD_OF_PEOPLE)).statusCode).toBe(200)
  expect((await login('ann', PASSWORD_OF_PEOPLE)).statusCode).toBe(401)
  expect((await changes()).at(-1)).toBe('ann: Ann B. person renamed')
  const taken = await client.patch('/api/account', { username: 'ADMIN' })
  expect([taken.statusCode, taken.json().errors?.[0].field]).toEqual([409, 'username'])
  const role = await client.patch('/api/account', { username: 'ann', role: 'admin' })
  expect([role.statusCode, role.json().errors?.[0].field]).toEqual([422, 'role'])
})

test('a new password needs the present one, and ends all other sessions and an open link', async () => {
  const { id, client } = await letIn(server, admin, { username: 'ann', role: 'viewer' })
  const other = server.as((await login('ann', PASSWORD_OF_PEOPLE)).json().token)
  const link = (await admin.post(`/api/people/${id}/invite`)).json<InvitedPerson>()
  const stream = await followStream(`${await server.listen()}/api/hints/stream?token=${other.token}`)
  const wrong = await changePassword(client, 'not this one')
  expect([wrong.statusCode, wrong.json().errors]).toEqual([
    422,
    [{ field: 'password', message: 'The password is not right.' }],
  ])
  expect(await isIn(other)).toBe(true)
  expect((await changePassword(client, PASSWORD_OF_PEOPLE)).json()).toEqual({
    ...{ ended: 1, endedTokens: 0, removedPasskeys: 0, disconnected: 0 },
  })
  await vi.waitFor(() => expect(stream.isEnded).toBe(true), 2000)
  expect([await isIn(client), await isIn(other), await isIn(admin)]).toEqual([true, false, true])
  expect((await login('ann', PASSWORD_OF_PEOPLE)).statusCode).toBe(401)
  expect((await login('ann', 'a new password')).statusCode).toBe(200)
  const used = { method: 'POST', url: '/api/invites/read', payload: { token: link.token } } as const
  expect((await server.call(used)).statusCode).toBe(404)
  expect((await changes()).at(-1)).toBe('ann: ann changed the password')
})

test.each([
  ['', 'This field is required'],
  ['seven77', 'must have at least 8 characters'],
])('the new password %j is refused', async (newPassword, message) => {
  const answer = await changePassword(admin, TEST_ADMIN.password, newPassword)
  expect([answer.statusCode, answer.json().errors]).toEqual([422, [{ field: 'newPassword', message }]])
})

test('wrong present passwords count like those of a sign-in', async () => {
  for (let i = 0; i < 5; i++) expect((await changePassword(admin, 'no')).statusCode).toBe(422)
  expect((await changePassword(admin, TEST_ADMIN.password)).statusCode).toBe(429)
  expect(await isIn(admin)).toBe(true)
})

test('a person without a password is told who can give a link', async () => {
  await server.context.db.updateTable('users').set({ password_hash: null }).execute()
  const answer = await changePassword(admin, 'x')
  expect([answer.statusCode, answer.json().errors[0].message]).toEqual([
    422,
    'You have no password yet. Ask an administrator for a link that sets one.',
  ])
})

test('the list of sessions tells each by its browser, address and times', async () => {
  const first = await signIn()
  server.now += HOUR
  const second = await signIn('203.0.113.9', 'curl/8.14.1')
  server.now += HOUR
  const [own, ...others] = await sessionsOf(first)
  expect(own).toEqual({
    ...{ id: expect.any(Number), isThis: true, browser: 'Firefox on Linux', address: '127.0.0.1' },
    ...{ lastUsedAt: '2026-11-21T14:00:00.000Z', beganAt: '2026-11-21T12:00:00.000Z' },
    endsAt: '2026-11-28T14:00:00.000Z',
  })
  expect(others).toMatchObject([
    { isThis: false, browser: 'curl', address: '203.0.113.9', lastUsedAt: '2026-11-21T13:00:00.000Z' },
    { isThis: false, lastUsedAt: '2026-11-21T12:00:00.000Z' },
  ])
  expect((await sessionsOf(second)).map(({ isThis }) => isThis)).toEqual([true, false, false])
})

test('sessions of the same minute are listed by their beginning, the newest first', async () => {
  const [first] = [await signIn(), await signIn(), await signIn()]
  const ids = (await sessionsOf(first)).slice(1).map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted((a, b) => b - a))
})

test('a use a minute later, or from another address, is noted, and ends of the list are not passed', async () => {
  const client = await signIn()
  const seen = async () =>
    (
      await server.context.db
        .selectFrom('sessions')
        .select(['address', 'last_used_at'])
        .where('browser', '<>', 'lightMyRequest')
        .execute()
    )[0]
  const ask = (remoteAddress: string) =>
    server.call({
      ...{ method: 'GET', url: '/api/auth/me', remoteAddress },
      headers: { authorization: `Bearer ${client.token}` },
    })
  server.now += 59_000
  await ask('198.51.100.7')
  expect(await seen()).toEqual({ address: '198.51.100.7', last_used_at: BEGIN })
  await ask('198.51.100.8')
  expect(await seen()).toEqual({ address: '198.51.100.8', last_used_at: BEGIN + 59_000 })
  server.now += 60_000
  await ask('198.51.100.8')
  expect(await seen()).toEqual({ address: '198.51.100.8', last_used_at: BEGIN + 119_000 })
})

test('one session or all others are ended, at once, and only own ones', async () => {
  const { client } = await letIn(server, admin, { username: 'ann', role: 'viewer' })
  const [first, second] = [await signIn(), await signIn()]
  const stream = await followStream(`${await server.listen()}/api/hints/stream?token=${first.token}`)
  const [{ id } = { id: 0 }] = await sessionsOf(first)
  expect((await client.delete(`/api/account/sessions/${id}`)).statusCode).toBe(404)
  expect((await admin.delete(`/api/account/sessions/${id}`)).json()).toEqual({ id })
  await vi.waitFor(() => expect(stream.isEnded).toBe(true), 2000)
  expect([await isIn(first), await isIn(second), await isIn(client)]).toEqual([false, true, true])
  expect((await admin.delete('/api/account/sessions')).json()).toEqual({ ended: 1 })
  expect((await admin.delete('/api/account/sessions')).json()).toEqual({ ended: 0 })
  expect([await isIn(admin), await isIn(second), await isIn(client)]).toEqual([true, false, true])
  expect((await changes()).slice(-2)).toEqual(['admin: admin sessions ended', 'admin: admin sessions ended'])
})

test('a sign-in from a network never seen before is on record, also when no alert is wanted', async () => {
  await server.context.db.updateTable('alert_rules').set({ enabled: 0 }).execute()
  await signIn('198.51.100.7')
  await signIn('198.51.100.7')
  await signIn('203.0.113.9')
  const found = (await changes()).filter((text) => text.includes('network'))
  expect(found).toEqual([
    'admin: admin (198.51.100.7) signed in from a new network',
    'admin: admin (203.0.113.9) signed in from a new network',
  ])
})
