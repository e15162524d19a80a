import { ProviderLogin } from '@postern/contract/sign-in/provider-login'
import { fresh } from '@postern/testkit/shared'
import { expect, it } from 'vitest'
import { RULES, startConsoleSignInLab, ticketOf } from '../../../test/console-sign-in-lab.ts'

const lab = fresh(startConsoleSignInLab)
const me = async (token: string, browser = lab.browser()) =>
  (await browser.call('GET', '/api/auth/me', undefined, token)).json()
const history = async () => (await lab.admin.get('/api/history?limit=5')).json().data

it('a person whom a rule lets in gets an account at the first sign-in, and comes back to it', async () => {
  const { id } = await lab.addProvider({ makesAccounts: true, rules: [...RULES] })
  const browser = lab.browser()
  const ways = await browser.call('GET', '/api/auth/ways')
  expect(ways.json()).toEqual({ providers: [{ id, name: 'Example' }], origin: 'https://203.0.113.1' })
  const address = new URL(await browser.begin(id))
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    scope: 'openid email profile groups',
    code_challenge_method: 'S256',
  })
  const back = await browser.pass(address.href, 'bob')
  expect(back.statusCode).toBe(302)
  expect(back.headers.location).toMatch(/^\/login#ticket=[\w.-]+$/)
  expect(back.headers).toMatchObject({ 'cache-control': 'no-store' })
  expect(back.headers).not.toHaveProperty('set-cookie')
  const finished = await browser.finish(ticketOf(back))
  expect(finished.statusCode).toBe(200)
  const { username, login } = ProviderLogin.parse(finished.json())
  expect(username).toBe('bob')
  const token = 'token' in login ? login.token : ''
  const account = await me(token, browser)
  expect(account).toMatchObject({ username: 'bob', role: 'editor', reach: null })
  // The session is bound to the browser's key.
  expect((await lab.browser().call('GET', '/api/auth/me', undefined, token)).statusCode).toBe(401)
  expect(await history()).toContainEqual(
    expect.objectContaining({
      what: 'account made by sign-in at Example',
      actor: expect.objectContaining({ name: 'bob' }),
      address: '198.51.100.7',
    }),
  )
  const again = await lab.browser().signIn(id, 'bob')
  expect(again.json().username).toBe('bob')
  expect((await lab.admin.get('/api/people')).json()).toHaveLength(2)
  expect((await lab.admin.get('/api/console-sign-in')).json().providers).toMatchObject([{ id, people: 1 }])
})
