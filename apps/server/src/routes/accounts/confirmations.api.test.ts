import type { DeviceCodes } from '@postern/contract/sign-in/device'
import { oneTimeCode } from '@postern/testkit/one-time-code'
import { type Client, startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { createSoftPasskey } from '@postern/testkit/soft-passkey'
import { beforeEach, describe, expect, test } from 'vitest'
import { afterNextCheck } from '../../../test/after-check.ts'
import { factorsLab, ORIGIN } from '../../../test/factors-lab.ts'
import { rememberSource, sourceOf } from '../../core/accounts/sources.ts'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const owner = fresh(() => server.signIn())
/** Another session of the same account, whose password is known to somebody else. */
const other = fresh(() => server.signIn())
const lab = fresh(async () => factorsLab(server))

const { password } = TEST_ADMIN
const NEW = 'another long one 9'
const FORM = { name: 'x', role: 'admin', password }
const CHANGE = { password, newPassword: NEW, removePasskeys: false }
const changePassword = async (client: Client) =>
  expect((await client.post('/api/account/password', CHANGE)).statusCode).toBe(200)

/** All that would be a way in, or is one. */
async function listWaysIn() {
  const { db } = server.context
  const all = async (table: 'api_tokens' | 'authenticators' | 'passkeys' | 'recovery_codes') =>
    await db.selectFrom(table).selectAll().execute()
  return [
    await all('api_tokens'),
    await all('authenticators'),
    await all('passkeys'),
    await all('recovery_codes'),
  ]
}
/** The passkey's id. */
let passkey: number
beforeEach(async () => {
  await lab.addApp(owner)
  passkey = (await lab.addPasskey(owner)).added.json().passkey.id
})

const begunDevice = async () =>
  (await lab.send('/api/auth/device', { client: 'laptop' })).json<DeviceCodes>().user_code

/** Everything that asks for the password and is done with it. */
const GUARDED: [string, (client: Client) => Promise<{ url: string; body: object }>][] = [
  ['an API token', async () => ({ url: '/api/tokens', body: FORM })],
  [
    'the approval of a command',
    async () => ({ url: '/api/auth/device/approve', body: { ...FORM, code: await begunDevice() } }),
  ],
  [
    'another password',
    async () => ({ url: '/api/account/password', body: { password, newPassword: 'of the thief 1' } }),
  ],
  ['new recovery codes', async () => ({ url: '/api/account/recovery-codes', body: { password } })],
  ['an app less', async () => ({ url: '/api/account/authenticator/remove', body: { password } })],
  ['a passkey less', async () => ({ url: `/api/account/passkeys/${passkey}/remove`, body: { password } })],
]

describe.each(GUARDED)('%s', (_what, ask) => {
  test('does not come with the password of before its change', async () => {
    // In the session that stays, which is the owner's.
    const { url, body } = await ask(owner)
    const before = await listWaysIn()
    afterNextCheck(server, () => changePassword(owner))
    const late = await owner.post(url, body)
    expect([late.statusCode, late.json().code]).toEqual([409, 'sign_in_over'])
    expect(await listWaysIn()).toEqual(before)
    expect((await lab.send('/api/auth/login', { ...TEST_ADMIN, password: NEW })).statusCode).toBe(200)
  })

  test('nor in a session that ended meanwhile', async () => {
    const { url, body } = await ask(other)
    const before = await listWaysIn()
    afterNextCheck(server, () => owner.delete('/api/account/sessions'))
    expect((await other.post(url, body)).statusCode).toBe(401)
    expect(await listWaysIn()).toEqual(before)
  })

  test('nor for a person who was disabled meanwhile', async () => {
    const { url, body } = await ask(other)
    const before = await listWaysIn()
    afterNextCheck(server, () => server.context.db.updateTable('users').set({ is_disabled: 1 }).execute())
    expect((await other.post(url, body)).statusCode).toBe(401)
    expect(await listWaysIn()).toEqual(before)
  })
})

describe('what begins with the old password does not end after its change', () => {
  test('an authenticator app', async () => {
    const begun = await lab.as(owner, 'POST', '/api/account/authenticator', { password })
    const app = begun.json()
    const before = await listWaysIn()
    await changePassword(owner)
    const late = await lab.as(owner, 'POST', '/api/account/authenticator/confirm', {
      ticket: app.ticket,
      code: oneTimeCode(app.secret, server.now),
    })
    expect([late.statusCode, late.json().code]).toEqual([409, 'sign_in_over'])
    expect(await listWaysIn()).toEqual(before)
  })

  test('a passkey', async () => {
    const begun = (await lab.as(owner, 'POST', '/api/account/passkeys/challenge', { password })).json()
    const before = await listWaysIn()
    await changePassword(owner)
    const late = await lab.as(owner, 'POST', '/api/account/passkeys', {
      ...{ ticket: begun.ticket, name: 'Phone' },
      passkey: createSoftPasskey(ORIGIN).create(begun.passkey),
    })
    expect([late.statusCode, late.json().code]).toEqual([409, 'sign_in_over'])
    expect(await listWaysIn()).toEqual(before)
  })
})

test('in a session the password is guessed ten times, from however many networks, and nobody else waits for it', async () => {
  const guess = (client: Client, count: number, password = `wrong ${count}`) =>
    server.call({
      ...{ method: 'POST', url: '/api/account/recovery-codes', payload: { password } },
      ...{ remoteAddress: `2001:db8:${count}::1`, headers: { authorization: `Bearer ${client.token}` } },
    })
  for (let count = 0; count < 10; count++) expect((await guess(other, count)).statusCode).toBe(422)
  expect((await guess(other, 10, password)).statusCode).toBe(429)
  // The owner, in a session of their own, is not kept from anything.
  expect((await owner.post('/api/account/recovery-codes', { password })).statusCode).toBe(200)
  server.now += 600_000
  expect((await guess(other, 11, password)).statusCode).toBe(200)
})

test('a session that comes from unknown networks counts with all of their wrong passwords', async () => {
  const known = { address: '2001:db8:0:1::1', isBehindProxy: true }
  await rememberSource(server.context, 1, sourceOf(known))
  for (let count = 0; count < 60; count++)
    await lab.send(
      '/api/auth/login',
      { username: `nobody ${count}`, password: 'wrong' },
      { address: `2001:db8:0:${(count + 2).toString(16)}::1` },
    )
  const confirm = (remoteAddress: string) =>
    server.call({
      ...{ method: 'POST', url: '/api/account/recovery-codes', payload: { password }, remoteAddress },
      headers: { authorization: `Bearer ${owner.token}` },
    })
  expect((await confirm('2001:db8:0:ff::1')).statusCode).toBe(429)
  expect((await confirm('2001:db8:0:1::1')).statusCode).toBe(200)
})
