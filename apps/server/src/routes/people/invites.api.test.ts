import { readFileSync } from 'node:fs'
import type { InvitedPerson, Person } from '@postern/contract/people/people'
import { SESSION_KEY_HEADER } from '@postern/contract/sign-in/auth'
import { followStream } from '@postern/testkit/event-stream'
import { letIn, PASSWORD_OF_PEOPLE } from '@postern/testkit/people'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test, vi } from 'vitest'
import { factorsLab } from '../../../test/factors-lab.ts'
import { INVITE_MS } from '../../core/people/invites.ts'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const admin = fresh(() => server.signIn())

const NEW = 'a new password'

const invite = async () =>
  (await admin.post('/api/people', { username: 'ann', role: 'viewer' })).json<InvitedPerson>()
const read = (token: string, remoteAddress = '127.0.0.1') =>
  server.call({ method: 'POST', url: '/api/invites/read', payload: { token }, remoteAddress })
const accept = (token: string, password = NEW, headers: Record<string, string> = {}) =>
  server.call({ method: 'POST', url: '/api/invites/accept', payload: { token, password }, headers })
const login = (password: string) =>
  server.call({ method: 'POST', url: '/api/auth/login', payload: { username: 'ann', password } })
const getPerson = async (id: number) => (await admin.get(`/api/people/${id}`)).json<Person>()

test('a link says what it is for, works once, and signs in', async () => {
  const { id, token, state, invite: link } = await invite()
  expect(token).toMatch(/^pti_[\w-]{43}$/)
  expect([state, link]).toEqual(['invited', { isReset: false, endsAt: '2026-11-23T12:00:00.000Z' }])
  expect((await read(token)).json()).toEqual({
    ...{
      username: 'ann',
      role: 'viewer',
      isReset: false,
      mayUsePassword: true,
      endsAt: '2026-11-23T12:00:00.000Z',
    },
  })
  const accepted = (await accept(token)).json()
  expect(accepted).toEqual({
    username: 'ann',
    login: { token: expect.stringMatching(/^pts_/), expires_in: 604_800 },
  })
  expect((await server.as(accepted.login.token).get('/api/auth/me')).json()).toMatchObject({
    id,
    role: 'viewer',
  })
  for (const again of [await read(token), await accept(token, 'yet another one')])
    expect([again.statusCode, again.json().message]).toEqual([404, 'Invite not found'])
  expect((await login(NEW)).statusCode).toBe(200)
  expect(await getPerson(id)).toMatchObject({ state: 'active', invite: null })
})

test('before that there is no password that opens the account', async () => {
  await invite()
  expect((await login('')).statusCode).toBe(422)
  expect((await login('null')).statusCode).toBe(401)
})

test('of two that use it at once, one comes in', async () => {
  const { token } = await invite()
  const answers = await Promise.all([accept(token, 'the first one'), accept(token, 'the second one')])
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 404])
  const passwords = await Promise.all([login('the first one'), login('the second one')])
  expect(passwords.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401])
})

test('it ends after 48 hours, and a new one replaces it', async () => {
  const { id, token } = await invite()
  server.now += INVITE_MS - 1
  expect((await read(token)).statusCode).toBe(200)
  server.now += 1
  expect((await read(token)).statusCode).toBe(404)
  expect((await accept(token)).statusCode).toBe(404)
  expect(await getPerson(id)).toMatchObject({ state: 'invited' })
  const again = await server.signIn()
  const first = (await again.post(`/api/people/${id}/invite`)).json<InvitedPerson>()
  const second = (await again.post(`/api/people/${id}/invite`)).json<InvitedPerson>()
  expect(second).toMatchObject({ state: 'invited', invite: { isReset: false } })
  expect((await read(first.token)).statusCode).toBe(404)
  expect((await accept(second.token)).statusCode).toBe(200)
})

test('a disabled or deleted person has no use for it', async () => {
  const { id, token } = await invite()
  await admin.patch(`/api/people/${id}/disable`)
  expect((await accept(token)).statusCode).toBe(404)
  await admin.patch(`/api/people/${id}/enable`)
  expect((await read(token)).statusCode).toBe(200)
  await admin.delete(`/api/people/${id}`)
  expect((await accept(token)).statusCode).toBe(404)
})

test('for a person who was in, the old password and the sessions end when it is used, and not before', async () => {
  const { id, client } = await letIn(server, admin, { username: 'ann', role: 'viewer' })
  const stream = await followStream(`${await server.listen()}/api/hints/stream?token=${client.token}`)
  const { token, state, invite: link } = (await admin.post(`/api/people/${id}/invite`)).json<InvitedPerson>()
  expect([state, link?.isReset]).toEqual(['active', true])
  expect((await read(token)).json()).toMatchObject({ isReset: true })
  expect((await client.get('/api/auth/me')).statusCode).toBe(200)
  expect((await login(PASSWORD_OF_PEOPLE)).statusCode).toBe(200)
  expect((await accept(token)).statusCode).toBe(200)
  await vi.waitFor(() => expect(stream.isEnded).toBe(true), 2000)
  expect((await client.get('/api/auth/me')).statusCode).toBe(401)
  expect((await login(PASSWORD_OF_PEOPLE)).statusCode).toBe(401)
  expect((await login(NEW)).statusCode).toBe(200)
})

test.each([
  ['', 'This field is required'],
  ['seven77', 'must have at least 8 characters'],
  ['x'.repeat(1025), 'must be less than or equal to 1024 characters long'],
])(
  'a password that is empty, too short or too long is refused, and the link still works: %#',
  async (password, message) => {
    const { token } = await invite()
    const answer = await accept(token, password)
    expect([answer.statusCode, answer.json().errors]).toEqual([422, [{ field: 'password', message }]])
    expect((await accept(token)).statusCode).toBe(200)
  },
)

test('the session of a link is bound to its key like that of a sign-in', async () => {
  const key = 'k'.repeat(43)
  const { token } = (await accept((await invite()).token, NEW, { [SESSION_KEY_HEADER]: key })).json().login
  expect((await server.as(token).get('/api/auth/me')).statusCode).toBe(401)
  const headers = { authorization: `Bearer ${token}`, [SESSION_KEY_HEADER]: key }
  expect((await server.call({ method: 'GET', url: '/api/auth/me', headers })).statusCode).toBe(200)
})

test('a link does not replace a second factor, which is asked for at the sign-in then', async () => {
  const lab = factorsLab(server)
  await lab.addApp(admin)
  const max = await letIn(server, admin, { username: 'max', role: 'admin' })
  const { token, hasFactor } = (await max.client.post('/api/people/1/invite')).json<InvitedPerson>()
  expect(hasFactor).toBe(true)
  expect((await accept(token)).json()).toEqual({ username: 'admin', login: null })
  expect((await admin.get('/api/auth/me')).statusCode).toBe(401)
  const payload = { username: 'admin', password: NEW }
  const answer = await server.call({ method: 'POST', url: '/api/auth/login', payload })
  expect(answer.json()).toEqual({ second_factor: expect.anything() })
})

test('after five unknown links a source waits, like after wrong passwords; others do not', async () => {
  const { token } = await invite()
  for (let i = 0; i < 5; i++) expect((await read(`pti_${i}`, '198.51.100.7')).statusCode).toBe(404)
  const locked = await read(token, '198.51.100.7')
  expect([locked.statusCode, locked.headers['retry-after']]).toEqual([429, '600'])
  expect((await read(token, '198.51.100.8')).statusCode).toBe(200)
  server.now += 10 * 60_000
  expect((await read(token, '198.51.100.7')).statusCode).toBe(200)
})

test('links of people who were signed out and foreign pages open nothing', async () => {
  const { token } = await invite()
  const foreign = await accept(token, NEW, { origin: 'https://evil.example', host: 'localhost' })
  expect(foreign.statusCode).toBe(403)
  for (const url of ['/api/auth/me', '/api/nodes', '/api/agent/config'])
    expect([url, (await server.as(token).get(url)).statusCode]).toEqual([url, 401])
})

test('the token is kept only as a hash, and no answer, log line or file has it again', async () => {
  const { id, token } = await invite()
  await read(token)
  const answers = [await admin.get('/api/people'), await admin.get(`/api/people/${id}`), await read(token)]
  for (const { body } of answers) expect(body).not.toContain(token)
  await accept(token)
  const { database } = server.context.config.paths
  const bytes = readFileSync(database, 'latin1') + readFileSync(`${database}-wal`, 'latin1')
  expect([bytes.includes(token), bytes.includes(NEW)]).toEqual([false, false])
  expect(server.logged()).not.toContain(token)
})
