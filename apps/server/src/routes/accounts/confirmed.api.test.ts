import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const admin = fresh(() => server.signIn())
const MINUTE = 60_000

test('what decides who may come in asks for the password once more, ten minutes after the sign-in', async () => {
  const person = { username: 'ann', role: 'viewer' }
  const { id } = (await admin.post('/api/people', person)).json()
  const provider = { name: 'Company', issuer: 'https://id.example.com', clientId: 'x', clientSecret: 'y' }
  const ways = () => [
    admin.post('/api/people', { username: 'backdoor', role: 'admin' }),
    admin.patch(`/api/people/${id}`, { role: 'admin' }),
    admin.post(`/api/people/${id}/invite`),
    admin.post('/api/console-sign-in/providers', provider),
    admin.patch('/api/console-sign-in', { person: 1 }),
  ]
  server.now += 11 * MINUTE
  for (const refused of await Promise.all(ways()))
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'confirm'])
  // What takes a way away does not wait.
  expect((await admin.patch(`/api/people/${id}/disable`)).statusCode).toBe(200)

  const confirm = (password: string) => admin.post('/api/account/confirm', { password })
  expect((await confirm('not this one')).statusCode).toBe(422)
  expect((await admin.post(`/api/people/${id}/invite`)).json().code).toBe('confirm')
  expect((await confirm(TEST_ADMIN.password)).statusCode).toBe(200)
  expect((await admin.post(`/api/people/${id}/invite`)).statusCode).toBe(201)
  server.now += 11 * MINUTE
  expect((await admin.post(`/api/people/${id}/invite`)).json().code).toBe('confirm')
})

test('a link for a new password is not for oneself', async () => {
  const refused = await admin.post('/api/people/1/invite')
  expect(refused.json().message).toMatch(/^This link would be for yourself/)
})
