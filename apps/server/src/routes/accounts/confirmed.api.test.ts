import { TAKE_BACK_HEADER } from '@postern/contract/history/take-back'
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

test('so does what does the same by another way: an undo, settings, second factors, mail', async () => {
  const { id } = (await admin.post('/api/people', { username: 'eve', role: 'admin' })).json()
  await admin.patch(`/api/people/${id}`, { role: 'viewer' })
  const demoted = await newestRevision()
  await admin.patch(`/api/people/${id}/disable`)
  const disabled = await newestRevision()
  const mail = { kind: 'email', name: 'Mail', host: 'mail.example.com', port: 587, security: 'starttls' }
  const addresses = { sender: 'postern@example.com', recipients: ['ops@example.com'] }
  const channel = (await admin.post('/api/alerts/channels', { ...mail, ...addresses })).json()
  expect(channel.id).toBeGreaterThan(0)
  const ways = () => [
    admin.post(`/api/history/${demoted}/undo`),
    admin.post(`/api/history/${disabled}/undo`),
    admin.patch(`/api/people/${id}/enable`),
    admin.delete(`/api/people/${id}/factors`),
    admin.post('/api/alerts/channels', { ...mail, ...addresses, name: 'Other' }),
    admin.patch(`/api/alerts/channels/${channel.id}`, { host: 'mail.example.org' }),
    admin.patch('/api/settings', { POSTERN_PUBLIC_HOST: 'new.example.com', confirmPublicHost: true }),
    admin.patch('/api/settings', { POSTERN_SECOND_FACTOR: 'administrators' }),
  ]
  server.now += 11 * MINUTE
  for (const way of ways()) expect((await way).json()).toMatchObject({ code: 'confirm' })
  expect((await admin.get(`/api/people/${id}`)).json()).toMatchObject({ role: 'viewer', state: 'disabled' })
  // What lets nobody in does not ask.
  expect((await admin.patch('/api/settings', { POSTERN_REQUESTS_DAYS: '9' })).statusCode).toBe(200)
  expect((await admin.post('/api/nodes', { name: 'n' })).statusCode).toBe(201)
  await admin.post('/api/account/confirm', { password: TEST_ADMIN.password })
  expect((await admin.post(`/api/history/${disabled}/undo`)).statusCode).toBe(200)
  expect((await admin.patch(`/api/alerts/channels/${channel.id}`, { name: 'M' })).statusCode).toBe(200)
})

test('and keeping what would be taken back', async () => {
  const { id } = (await admin.post('/api/people', { username: 'ann', role: 'viewer' })).json()
  const inAnHour = { [TAKE_BACK_HEADER]: '3600' }
  const raised = await server.call({
    method: 'PATCH',
    url: `/api/people/${id}`,
    payload: { role: 'editor' },
    headers: { authorization: `Bearer ${admin.token}`, ...inAnHour },
  })
  expect(raised.statusCode).toBe(200)
  server.now += 11 * MINUTE
  expect((await admin.post(`/api/history/${await newestRevision()}/keep`)).json().code).toBe('confirm')
})

const newestRevision = async () => (await admin.get('/api/history?limit=1')).json().data[0].revision as number

test('a link for a new password is not for oneself', async () => {
  const refused = await admin.post('/api/people/1/invite')
  expect(refused.json().message).toMatch(/^This link would be for yourself/)
})
