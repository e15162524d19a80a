import { type Endpoint, pathOf } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { followStream } from '@postern/testkit/event-stream'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test, vi } from 'vitest'
import { factorsLab, SITE } from '../../../test/factors-lab.ts'
import { makeApiToken } from '../../../test/programs-lab.ts'
import { STEP_MS } from '../../core/accounts/factors/totp.ts'
import { setNewPassword } from '../../core/accounts/new-password.ts'
import { hashToken } from '../../core/secrets/secrets.ts'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const client = fresh(() => server.signIn())
const lab = fresh(async () => factorsLab(server))

const require = (rule: string) => client.patch('/api/settings', { POSTERN_SECOND_FACTOR: rule })
const makeRole = (role: 'admin' | 'viewer') => server.context.db.updateTable('users').set({ role }).execute()

/** Open to a person who has to set up a second factor first. A new one is added after a person has checked it. */
const OPEN = [
  'logout',
  'getFactors',
  'listIdentities',
  'beginIdentity',
  'addIdentity',
  'removeIdentity',
  'beginAuthenticator',
  'confirmAuthenticator',
  'removeAuthenticator',
  'beginPasskey',
  'addPasskey',
  'renamePasskey',
  'removePasskey',
  'makeRecoveryCodes',
  'updateAccount',
  'changePassword',
  'confirmAccount',
  'listSessions',
  'endSession',
  'endOtherSessions',
  'listApiTokens',
  'revokeApiToken',
  'deleteApiToken',
]

const all: [string, Endpoint][] = Object.entries(endpoints)
const ofPeople = all.filter(([, { roles }]) => roles !== undefined)

test('where a second factor is required, nothing else is open to a person without one', async () => {
  expect((await require('everybody')).statusCode).toBe(200)
  const codes = new Map<string, string | undefined>()
  // The last ones end the session.
  const last = ['endSession', 'logout']
  for (const [name, endpoint] of ofPeople.sort(([a], [b]) => last.indexOf(a) - last.indexOf(b))) {
    const url = pathOf(endpoint, { id: 1, nodeId: 1, type: 'http' })
    const headers = { authorization: `Bearer ${client.token}`, host: SITE }
    const { method } = endpoint
    const answer = await server.call({ method, url, headers, ...(method !== 'GET' && { payload: {} }) })
    const { code } = answer.headers['content-type']?.toString().includes('json') ? answer.json() : {}
    codes.set(name, code)
    if (code === 'second_factor') expect(answer.statusCode).toBe(403)
  }
  const open = [...codes].filter(([, code]) => code !== 'second_factor').map(([name]) => name)
  expect(open.sort()).toEqual([...OPEN].sort())
})

test('the person sets one up and goes on, and may not remove the last one', async () => {
  await require('administrators')
  expect((await client.get('/api/nodes')).json().code).toBe('second_factor')
  expect(await lab.factors(client)).toMatchObject({ isRequired: true, hasPassword: true })
  await lab.addApp(client)
  expect((await client.get('/api/nodes')).statusCode).toBe(200)
  const kept = await lab.as(client, 'POST', '/api/account/authenticator/remove', lab.password)
  expect([kept.statusCode, kept.json().code]).toEqual([409, 'in_use'])
  expect((await lab.factors(client)).recoveryCodes).toBe(10)
  await lab.addPasskey(client)
  expect((await lab.as(client, 'POST', '/api/account/authenticator/remove', lab.password)).statusCode).toBe(
    200,
  )
})

test('a token of a lesser role passes no more than its person does', async () => {
  const { token } = await makeApiToken(client, { role: 'editor' })
  const program = server.as(token)
  expect((await program.get('/api/nodes')).statusCode).toBe(200)
  await require('administrators')
  const refused = await program.get('/api/nodes')
  expect([refused.statusCode, refused.json().code]).toEqual([403, 'second_factor'])
  expect((await program.post('/api/nodes', { name: 'n' })).json().code).toBe('second_factor')
  expect((await client.post('/api/tokens', { name: 'n', role: 'viewer' })).json().code).toBe('second_factor')
  await lab.addApp(client)
  expect((await program.get('/api/nodes')).statusCode).toBe(200)
})

test.each([
  ['nobody', 'admin', 200],
  ['administrators', 'viewer', 200],
  ['administrators', 'admin', 403],
  ['everybody', 'viewer', 403],
] as const)('required of %s: a person in the role %s gets %i', async (rule, role, status) => {
  await require(rule)
  await makeRole(role)
  expect((await client.get('/api/nodes')).statusCode).toBe(status)
})

test('open streams of a person without one end when it becomes required', async () => {
  const url = `${await server.listen()}/api/hints/stream`
  const stream = await followStream(url, { authorization: `Bearer ${client.token}` })
  expect(stream.status).toBe(200)
  await require('everybody')
  await vi.waitFor(() => expect(stream.isEnded).toBe(true))
})

test('an administrator removes the factors of a person who has lost them, and that person’s sessions end', async () => {
  const { db } = server.context
  await lab.addApp(client)
  const other = {
    username: 'eve',
    role: 'admin',
    password_hash: null,
    created_at: '',
    updated_at: '',
  } as const
  await db.insertInto('users').values(other).execute()
  const eve = await server.context.db
    .selectFrom('users')
    .select('id')
    .where('username', '=', 'eve')
    .executeTakeFirstOrThrow()
  expect((await client.delete('/api/people/1/factors')).statusCode).toBe(409)
  expect((await client.delete('/api/people/77/factors')).statusCode).toBe(404)
  const token = `pts_${'e'.repeat(43)}`
  await db
    .insertInto('sessions')
    .values({
      ...{ token_hash: hashToken(token), key_hash: null, user_id: eve.id, host: '' },
      ...{ expires_at: server.now + 1e6, created_at: new Date(server.now).toISOString() },
    })
    .execute()
  expect((await server.as(token).delete('/api/people/1/factors')).statusCode).toBe(200)
  expect((await client.get('/api/auth/me')).statusCode).toBe(401)
  expect((await lab.login()).json()).toHaveProperty('token')
})

test('a new password from the host is the way back: it removes the second factors', async () => {
  await lab.addApp(client)
  await lab.addPasskey(client)
  const cost = { memory: 8, passes: 1 }
  await setNewPassword(server.context.db, 'chosen-by-a-person', cost)
  const login = await lab.send('/api/auth/login', { username: 'admin', password: 'chosen-by-a-person' })
  expect(login.json()).toHaveProperty('token')
  server.now += STEP_MS
  for (const table of ['authenticators', 'passkeys', 'recovery_codes'] as const)
    expect(await server.context.db.selectFrom(table).selectAll().execute()).toEqual([])
})
