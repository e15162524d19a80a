import { addPerson } from '@postern/testkit/people'
import { type Client, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { createSoftPasskey, type SoftPasskey } from '@postern/testkit/soft-passkey'
import { beforeEach, describe, expect, it } from 'vitest'
import { RULES, startConsoleSignInLab } from '../../../test/console-sign-in-lab.ts'
import { ORIGIN, SITE } from '../../../test/factors-lab.ts'

const lab = fresh(startConsoleSignInLab)
let boss: Client & { userId: number }
beforeEach(async () => {
  boss = await addPerson(lab.server, 'boss', 'admin')
})

/** At the server's own address, where passkeys work without a certificate. */
const call = (url: string, payload: object, token?: string) =>
  lab.server.call({
    ...{ method: 'POST', url, payload },
    headers: {
      ...{ host: SITE, 'x-forwarded-for': '198.51.100.7' },
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  })

async function addPasskey(token: string, password: string | null): Promise<SoftPasskey> {
  const begun = (await call('/api/account/passkeys/challenge', { password }, token)).json()
  const passkey = createSoftPasskey(ORIGIN)
  const form = { ticket: begun.ticket, name: 'Key', passkey: passkey.create(begun.passkey) }
  const added = await call('/api/account/passkeys', form, token)
  expect(added.statusCode, added.body).toBe(201)
  return passkey
}

/** Signs in by the passkey alone. */
async function signIn(passkey: SoftPasskey) {
  const begun = (await call('/api/auth/passkey/challenge', {})).json()
  return await call('/api/auth/passkey', { ticket: begun.ticket, answer: passkey.answer(begun.passkey) })
}

describe('a passkey of an account that a sign-in made', () => {
  let provider: number
  let passkey: SoftPasskey
  beforeEach(async () => {
    provider = (await lab.addProvider({ makesAccounts: true, rules: [...RULES] })).id
    const made = await lab.browser().signIn(provider, 'ann')
    // A session without a key, as this client has none.
    const { id } = await lab.server.context.db
      .selectFrom('users')
      .select('id')
      .where('username', '=', made.json().username)
      .executeTakeFirstOrThrow()
    await lab.server.context.db
      .updateTable('sessions' as never)
      .set({ key_hash: null } as never)
      .where('user_id' as never, '=', id as never)
      .execute()
    passkey = await addPasskey(made.json().login.token, null)
  })

  it('lets nobody in, whatever its rules give', async () => {
    const refused = await signIn(passkey)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'no_role'])
    expect(refused.json().message).toBe(
      'Your account here was made by a sign-in at Example: sign in by that one.',
    )
  })

  it('nor once the provider is gone, and until an administrator sends a link', async () => {
    expect((await lab.admin.delete(`/api/console-sign-in/providers/${provider}`)).statusCode).toBe(200)
    const refused = await signIn(passkey)
    expect([refused.statusCode, refused.json().message]).toEqual([
      403,
      'The provider that made your account here is not connected any more. Ask an administrator for a link.',
    ])
    const people = (await lab.admin.get('/api/people')).json() as { id: number; username: string }[]
    const { id } = people.find(({ username }) => username === 'ann') as { id: number }
    const { token } = (await lab.admin.post(`/api/people/${id}/invite`)).json()
    const accepted = await call('/api/invites/accept', { token, password: 'a long one 12' })
    const own = await addPasskey(accepted.json().login.token, 'a long one 12')
    expect((await signIn(own)).statusCode).toBe(200)
    expect((await signIn(passkey)).statusCode).toBe(401)
  })
})

describe('a passkey that somebody else added with the password', () => {
  const newPassword = 'another long one 5'
  let passkey: SoftPasskey
  beforeEach(async () => {
    const thief = await lab.server.signIn()
    passkey = await addPasskey(thief.token, TEST_ADMIN.password)
    expect((await signIn(passkey)).statusCode).toBe(200)
    expect((await boss.get('/api/people/1')).json()).toMatchObject({ passkeys: 1 })
  })
  const change = (form: object = {}) =>
    lab.admin.post('/api/account/password', { password: TEST_ADMIN.password, newPassword, ...form })

  it('goes with the password, unless its owner keeps them', async () => {
    expect((await change({ removePasskeys: false })).json()).toMatchObject({ removedPasskeys: 0 })
    expect((await signIn(passkey)).statusCode).toBe(200)
    const again = await change({ password: newPassword })
    expect(again.json()).toMatchObject({ removedPasskeys: 1 })
    expect((await signIn(passkey)).statusCode).toBe(401)
    expect((await boss.get('/api/people/1')).json()).toMatchObject({ passkeys: 0, hasFactor: false })
  })

  it('goes with a link, which is not asked for it', async () => {
    const { token } = (await boss.post('/api/people/1/invite')).json()
    const accepted = await call('/api/invites/accept', { token, password: newPassword })
    expect(accepted.json().login.token).toMatch(/^pts_/)
    expect((await signIn(passkey)).statusCode).toBe(401)
  })
})

it('once more the password is asked of an account that has one, after a sign-in by a provider', async () => {
  const { id: provider } = await lab.addProvider()
  const { password } = TEST_ADMIN
  const browser = lab.browser()
  const own = await browser.signInByPassword()
  const { address } = (
    await browser.call('POST', '/api/account/identities/begin', { provider, password }, own)
  ).json()
  const came = await browser.pass(address, 'ann')
  const ticket = /#ticket=([\w.-]+)$/.exec(String(came.headers.location))?.[1]
  await browser.call('POST', '/api/account/identities', { ticket }, own)
  const { token } = (await browser.signIn(provider, 'ann')).json().login
  const invite = () => browser.call('POST', '/api/people', { username: 'x', role: 'admin' }, token)
  expect((await invite()).json()).toMatchObject({ code: 'confirm' })
  await browser.call('POST', '/api/account/confirm', { password }, token)
  expect((await invite()).statusCode).toBe(201)
})
