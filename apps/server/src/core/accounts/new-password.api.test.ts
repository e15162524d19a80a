import { letIn } from '@postern/testkit/people'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { setNewPassword } from './new-password.ts'

const server = fresh(startTestServer)

/** Cheap, as in all tests. */
const COST = { memory: 8, passes: 1 }

const login = (username: string, password: string) =>
  server.call({ method: 'POST', url: '/api/auth/login', payload: { username, password } })

test('the first account gets a new password, and its sessions end', async () => {
  const client = await server.signIn()
  expect((await client.get('/api/auth/me')).statusCode).toBe(200)
  const account = await setNewPassword(server.context.db, null, COST)
  expect(account?.username).toBe('admin')
  expect(account?.password).toMatch(/^[\w-]{20}$/)
  expect((await client.get('/api/auth/me')).statusCode).toBe(401)
  expect((await login('admin', account?.password ?? '')).statusCode).toBe(200)
})

test('a chosen one is used as it is', async () => {
  expect(await setNewPassword(server.context.db, 'chosen-by-a-person', COST)).toEqual({
    username: 'admin',
    password: 'chosen-by-a-person',
  })
})

test('it is the first administrator who is enabled', async () => {
  const admin = await server.signIn()
  await letIn(server, admin, { username: 'ann', role: 'editor' })
  const max = await letIn(server, admin, { username: 'max', role: 'admin' })
  expect((await max.client.patch('/api/people/1', { role: 'viewer' })).statusCode).toBe(200)
  expect(await setNewPassword(server.context.db, 'a new password', COST)).toMatchObject({ username: 'max' })
  expect((await login('max', 'a new password')).statusCode).toBe(200)
  const { actor, name, what } = await server.context.db
    .selectFrom('changes')
    .selectAll()
    .orderBy('revision', 'desc')
    .executeTakeFirstOrThrow()
  expect([actor, name, what]).toEqual(['the host', 'max', 'person given a new password'])
})

test.each([
  ['disabled', { is_disabled: 1 }],
  ['demoted', { role: 'viewer', is_limited: 1 }],
  ['without a password', { password_hash: null }],
] as const)('it lets in when all are %s', async (_, values) => {
  await server.context.db.updateTable('users').set(values).execute()
  await setNewPassword(server.context.db, 'a new password', COST)
  const { token } = (await login('admin', 'a new password')).json()
  expect((await server.as(token).get('/api/people')).json()).toMatchObject([
    { role: 'admin', state: 'active' },
  ])
})

test('without an account there is nothing to change', async () => {
  await server.context.db.deleteFrom('sessions').execute()
  await server.context.db.deleteFrom('users').execute()
  expect(await setNewPassword(server.context.db, null, COST)).toBeUndefined()
})
