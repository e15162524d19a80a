import { oneTimeCode } from '@postern/testkit/one-time-code'
import { fresh } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'
import { startConsoleSignInLab, ticketOf } from '../../../test/console-sign-in-lab.ts'

const lab = fresh(startConsoleSignInLab)
let provider: number
beforeEach(async () => {
  provider = (await lab.addProvider()).id
})
const invite = async (username = 'bob'): Promise<{ id: number; token: string }> =>
  (await lab.admin.post('/api/people', { username, role: 'viewer', reach: null })).json()
const reset = async (id: number) => (await lab.admin.post(`/api/people/${id}/invite`)).json().token
const PASSWORD = 'long enough 1'

describe('a person who was invited', () => {
  it('connects an account in place of a password, once, and keeps the role', async () => {
    const { id, token } = await invite('robert')
    const browser = lab.browser()
    const finished = await browser.signIn(provider, 'bob', token)
    expect(finished.json()).toMatchObject({ username: 'robert', login: { token: expect.any(String) } })
    expect((await lab.admin.get(`/api/people/${id}`)).json()).toMatchObject({ state: 'active', invite: null })
    const { data } = (await lab.admin.get('/api/history?limit=5')).json()
    const change = data.find(({ what }: { what: string }) => what === 'accepted the invitation by Example')
    expect(change).toMatchObject({ actor: { kind: 'person', name: 'robert', id } })
    expect(JSON.stringify(change.records)).toContain('Example')
    // The groups of the account count only where a sign-in made it.
    await lab.admin.patch(`/api/console-sign-in/providers/${provider}`, {
      makesAccounts: true,
      rules: [{ claim: 'groups', value: 'staff', role: 'admin' }],
    })
    expect((await lab.browser().signIn(provider, 'bob')).json().username).toBe('robert')
    expect((await lab.admin.get(`/api/people/${id}`)).json().role).toBe('viewer')
    const again = await browser.call('POST', '/api/auth/provider', { provider, invite: token })
    expect([again.statusCode, again.json().code]).toEqual([404, 'not_found'])
  })

  it('comes too late with a link that was used meanwhile', async () => {
    const { token } = await invite()
    const browser = lab.browser()
    const ticket = ticketOf(await browser.pass(await browser.begin(provider, token), 'bob'))
    await browser.call('POST', '/api/invites/accept', { token, password: PASSWORD })
    expect((await browser.finish(ticket)).statusCode).toBe(404)
    const other = await lab.browser().signIn(provider, 'bob')
    expect(other.json().code).toBe('no_account')
  })

  it('cannot take an account with which somebody else signs in', async () => {
    await lab.browser().signIn(provider, 'bob', (await invite('one')).token)
    const { id, token } = await invite('two')
    const refused = await lab.browser().signIn(provider, 'bob', token)
    expect([refused.statusCode, refused.json().message]).toEqual([
      409,
      'Somebody else here is connected with this account at Example.',
    ])
    // The link can still be used.
    expect((await lab.admin.get(`/api/people/${id}`)).json().state).toBe('invited')
  })
})

it('a link for who forgot the password ends it, and all sessions, by a provider, too', async () => {
  const { id, token } = await invite()
  const browser = lab.browser()
  const accepted = await browser.call('POST', '/api/invites/accept', { token, password: PASSWORD })
  const old = accepted.json().login.token
  expect((await browser.signIn(provider, 'bob', await reset(id))).statusCode).toBe(200)
  expect((await browser.call('GET', '/api/auth/me', undefined, old)).statusCode).toBe(401)
  const form = { username: 'bob', password: PASSWORD }
  expect((await browser.call('POST', '/api/auth/login', form)).statusCode).toBe(401)
})

it('an account with a second factor is asked for it, and the session is the provider’s', async () => {
  const { token } = await invite()
  const browser = lab.browser()
  const session = (await browser.signIn(provider, 'bob', token)).json().login.token
  const call = (url: string, body: object) => browser.call('POST', url, body, session)
  const { secret, ticket } = (await call('/api/account/authenticator', { password: null })).json()
  await call('/api/account/authenticator/confirm', { ticket, code: oneTimeCode(secret, Date.now()) })
  const step = (await browser.signIn(provider, 'bob')).json()
  expect(step).toMatchObject({ username: 'bob', login: { second_factor: { kinds: ['code', 'recovery'] } } })
  const next = { ticket: step.login.second_factor.ticket, code: oneTimeCode(secret, Date.now() + 30_000) }
  // Of another browser the ticket is worth nothing.
  expect((await lab.browser().call('POST', '/api/auth/code', next)).statusCode).toBe(401)
  const opened = (await browser.call('POST', '/api/auth/code', next)).json().token
  expect((await browser.call('GET', '/api/auth/me', undefined, opened)).statusCode).toBe(200)
  await lab.admin.delete(`/api/console-sign-in/providers/${provider}`)
  expect((await browser.call('GET', '/api/auth/me', undefined, opened)).statusCode).toBe(401)
})
