import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { setNewPassword } from './new-password.ts'

const server = fresh(startTestServer)

/** Cheap, as in all tests. */
const COST = { memory: 8, passes: 1 }

test('the first account gets a new password, and its sessions end', async () => {
  const client = await server.signIn()
  expect((await client.get('/api/auth/me')).statusCode).toBe(200)
  const account = await setNewPassword(server.context.db, null, COST)
  expect(account?.username).toBe('admin')
  expect(account?.password).toMatch(/^[\w-]{20}$/)
  expect((await client.get('/api/auth/me')).statusCode).toBe(401)
  const payload = { username: 'admin', password: account?.password ?? '' }
  expect((await server.call({ method: 'POST', url: '/api/auth/login', payload })).statusCode).toBe(200)
})

test('a chosen one is used as it is', async () => {
  expect(await setNewPassword(server.context.db, 'chosen-by-a-person', COST)).toEqual({
    username: 'admin',
    password: 'chosen-by-a-person',
  })
})

test('without an account there is nothing to change', async () => {
  await server.context.db.deleteFrom('sessions').execute()
  await server.context.db.deleteFrom('users').execute()
  expect(await setNewPassword(server.context.db, null, COST)).toBeUndefined()
})
