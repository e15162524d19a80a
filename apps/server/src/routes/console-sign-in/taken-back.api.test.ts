import { TAKE_BACK_HEADER } from '@postern/contract/history/take-back'
import { addPerson } from '@postern/testkit/people'
import { type Client, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'
import { startConsoleSignInLab, ticketOf } from '../../../test/console-sign-in-lab.ts'
import { setNewPassword } from '../../core/accounts/new-password.ts'

const lab = fresh(startConsoleSignInLab)
const { password } = TEST_ADMIN
const newPassword = 'another long one 5'
let provider: number
let boss: Client & { userId: number }
beforeEach(async () => {
  provider = (await lab.addProvider()).id
  boss = await addPerson(lab.server, 'boss', 'admin')
  await connect('eve')
})

/** Connects an account with that of the first administrator, as anybody can who once knows the password. */
async function connect(account: string) {
  const browser = lab.browser()
  const token = await browser.signInByPassword()
  const { address } = (
    await browser.call('POST', '/api/account/identities/begin', { provider, password }, token)
  ).json()
  const ticket = ticketOf(await browser.pass(address, account))
  const added = await browser.call('POST', '/api/account/identities', { ticket }, token)
  expect(added.statusCode, added.body).toBe(201)
}
const codeOf = async (account: string) => (await lab.browser().signIn(provider, account)).json().code
const me = async () => (await boss.get('/api/people/1')).json()
const newest = async () => (await boss.get('/api/history?limit=1')).json().data[0]
const change = (form: object = {}) =>
  lab.admin.post('/api/account/password', { password, newPassword, ...form })
const disconnect = (id: number, by: Client = boss) => by.delete(`/api/people/${id}/identities`)
const linkFor = async (id: number) => (await boss.post(`/api/people/${id}/invite`)).json().token

describe('an account at a provider that somebody else connected goes', () => {
  it('with the password, unless its owner keeps what is connected', async () => {
    expect((await change({ disconnect: false })).json()).toMatchObject({ disconnected: 0 })
    expect((await lab.browser().signIn(provider, 'eve')).statusCode).toBe(200)
    const again = await lab.admin.post('/api/account/password', { password: newPassword, newPassword })
    expect(again.json()).toMatchObject({ disconnected: 1 })
    expect(await codeOf('eve')).toBe('no_account')
    expect(await newest()).toMatchObject({ what: 'changed the password', name: 'admin' })
  })

  it('with a link, used with a password or with another account at a provider', async () => {
    const form = { token: await linkFor(1), password: newPassword }
    const accept = { method: 'POST', url: '/api/invites/accept', payload: form } as const
    expect((await lab.server.call(accept)).statusCode).toBe(200)
    expect(await codeOf('eve')).toBe('no_account')
    expect(await me()).toMatchObject({ identities: 0 })
    for (const account of ['eve', 'ann']) {
      const used = await lab.browser().signIn(provider, account, await linkFor(1))
      expect(used.statusCode).toBe(200)
      expect(await me()).toMatchObject({ identities: 1 })
    }
    expect(await codeOf('eve')).toBe('no_account')
    expect((await lab.browser().signIn(provider, 'ann')).json().username).toBe('admin')
  })

  it('with the password that root sets', async () => {
    await setNewPassword(lab.server.context.db, newPassword, { memory: 8, passes: 1 })
    expect(await codeOf('eve')).toBe('no_account')
    expect(await me()).toMatchObject({ identities: 0 })
  })

  it('by an administrator, who sees how many there are', async () => {
    await connect('bob')
    expect(await me()).toMatchObject({ identities: 2 })
    const browser = lab.browser()
    const { token } = (await browser.signIn(provider, 'eve')).json().login
    expect((await disconnect(1)).json()).toEqual({ disconnected: 2 })
    expect((await browser.call('GET', '/api/auth/me', undefined, token)).statusCode).toBe(401)
    expect(await codeOf('eve')).toBe('no_account')
    expect(await me()).toMatchObject({ identities: 0, sessions: 0 })
    expect(await newest()).toMatchObject({
      ...{ what: 'providers disconnected', name: 'admin', actor: { name: 'boss' } },
    })
    const { revision } = await newest()
    expect((await disconnect(1)).json()).toEqual({ disconnected: 0 })
    expect((await newest()).revision).toBe(revision)
    expect((await disconnect(99)).statusCode).toBe(404)
  })
})

it('an administrator disconnects their own on the page of the account', async () => {
  const refused = await disconnect(1, lab.admin)
  expect([refused.statusCode, refused.json().message]).toEqual([
    409,
    'Disconnect your own providers on your page Account',
  ])
})

it('who signs in by a provider alone is not locked out by a new password', async () => {
  const { id, token: link } = (
    await boss.post('/api/people', { username: 'kim', role: 'viewer', reach: null })
  ).json()
  const form = { token: link, password: 'long enough 1' }
  const browser = lab.browser()
  const { token } = (await browser.call('POST', '/api/invites/accept', form)).json().login
  const begin = { provider, password: form.password }
  const { address } = (await browser.call('POST', '/api/account/identities/begin', begin, token)).json()
  const ticket = ticketOf(await browser.pass(address, 'bob'))
  await browser.call('POST', '/api/account/identities', { ticket }, token)
  expect((await lab.admin.patch('/api/console-sign-in', { person: 1 })).statusCode).toBe(200)
  const body = { password: form.password, newPassword }
  const refused = await browser.call('POST', '/api/account/password', body, token)
  expect([refused.statusCode, refused.json().errors]).toEqual([
    422,
    [
      {
        field: 'disconnect',
        message: 'You could not sign in any more. Keep your providers or your passkeys.',
      },
    ],
  ])
  expect((await browser.signIn(provider, 'bob')).statusCode).toBe(200)
  const kept = await browser.call('POST', '/api/account/password', { ...body, disconnect: false }, token)
  expect(kept.json()).toMatchObject({ disconnected: 0 })
  expect((await boss.get(`/api/people/${id}`)).json()).toMatchObject({ identities: 1 })
})

it('a person whose last way in an administrator takes has no API tokens any more, and gets in by a link', async () => {
  const { id, token: link } = (
    await boss.post('/api/people', { username: 'kim', role: 'editor', reach: null })
  ).json()
  const browser = lab.browser()
  const { token } = (await browser.signIn(provider, 'bob', link)).json().login
  const program = { name: 'x', role: 'viewer', password: null }
  const made = (await browser.call('POST', '/api/tokens', program, token)).json()
  expect((await lab.server.as(made.token).get('/api/nodes')).statusCode).toBe(200)
  await disconnect(id)
  expect((await lab.server.as(made.token).get('/api/nodes')).statusCode).toBe(403)
  expect((await boss.get(`/api/people/${id}`)).json()).toMatchObject({ identities: 0, apiTokens: 0 })
  expect((await lab.browser().signIn(provider, 'bob', await linkFor(id))).statusCode).toBe(200)
})

it('the last administrator keeps a way in', async () => {
  await lab.server.context.db.updateTable('users').set({ password_hash: null }).execute()
  // The other one has a session alone.
  const refused = await disconnect(1)
  expect([refused.statusCode, refused.json()]).toMatchObject([
    409,
    {
      code: 'in_use',
      message: 'No administrator could sign in any more. Give one a password or a passkey first.',
    },
  ])
  expect(await me()).toMatchObject({ identities: 1 })
})

it('what somebody left to be taken back in its name does not come once the account is taken back', async () => {
  const { id } = (await lab.admin.post('/api/people', { username: 'kim', role: 'admin' })).json()
  const disable = await lab.server.call({
    ...{ method: 'PATCH', url: `/api/people/${id}/disable` },
    headers: { authorization: `Bearer ${lab.admin.token}`, [TAKE_BACK_HEADER]: '600' },
  })
  expect(disable.statusCode).toBe(200)
  expect((await boss.get('/api/history/pending')).json().data).toHaveLength(1)
  const form = { token: await linkFor(1), password: newPassword }
  await lab.server.call({ method: 'POST', url: '/api/invites/accept', payload: form })
  expect((await boss.get('/api/history/pending')).json().data).toEqual([])
  expect((await boss.get(`/api/people/${id}`)).json()).toMatchObject({ state: 'disabled' })
})
