import { signInAt } from '@postern/testkit/fakes/oidc-issuer'
import { fresh } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'
import { RULES, startConsoleSignInLab, ticketOf } from '../../../test/console-sign-in-lab.ts'

const lab = fresh(startConsoleSignInLab)
let provider: number
beforeEach(async () => {
  provider = (await lab.addProvider({ makesAccounts: true, rules: [...RULES] })).id
})
const OVER = { code: 'sign_in_over' }
const pathOf = (url: URL) => url.pathname + url.search
const stateOf = (address: string) => new URL(address).searchParams.get('state') ?? ''

describe('a sign-in', () => {
  it('needs the key of a browser, and says so', async () => {
    const payload = { provider }
    const refused = await lab.server.call({ method: 'POST', url: '/api/auth/provider', payload })
    expect(refused.statusCode).toBe(422)
    expect(refused.json().errors).toEqual([{ field: 'x-postern-key', message: 'This field is required' }])
    expect((await lab.browser().call('POST', '/api/auth/provider', { provider: 99 })).statusCode).toBe(404)
  })

  it('begun elsewhere signs nobody in: its ticket is worth nothing without the key', async () => {
    const attacker = lab.browser()
    const ticket = ticketOf(await attacker.pass(await attacker.begin(provider), 'eve'))
    const victim = lab.browser()
    const refused = await victim.finish(ticket)
    expect([refused.statusCode, refused.json()]).toMatchObject([401, OVER])
    const keyless = { method: 'POST', url: '/api/auth/provider/finish', payload: { ticket } } as const
    expect((await lab.server.call(keyless)).json()).toMatchObject(OVER)
    // Nor does the address of somebody else help who stole it: the code comes back, but the key does not.
    const address = await victim.begin(provider)
    expect((await attacker.finish(ticketOf(await attacker.pass(address, 'ann')))).json()).toMatchObject(OVER)
  })

  it('opens one session, and its code is redeemed once', async () => {
    const browser = lab.browser()
    const back = await signInAt(lab.issuer, await browser.begin(provider), 'ann')
    const asked: string[] = []
    lab.issuer.onRequest((path) => asked.push(path))
    const ticket = ticketOf(await browser.call('GET', pathOf(back)))
    const again = await browser.call('GET', pathOf(back))
    expect([again.statusCode, again.headers.location]).toEqual([403, undefined])
    expect(again.body).toMatch(/This sign-in is over.*href="\/login"/s)
    expect(asked.filter((path) => path === '/token')).toHaveLength(1)
    expect((await browser.finish(ticket)).statusCode).toBe(200)
    expect((await browser.finish(ticket)).json()).toMatchObject(OVER)
  })

  it('ends with its time, before and after the provider', async () => {
    const browser = lab.browser()
    const begun = Date.now()
    lab.server.now = begun
    const address = await browser.begin(provider)
    const ticket = ticketOf(await browser.pass(address, 'ann'))
    const late = await signInAt(lab.issuer, await browser.begin(provider), 'ann')
    lab.server.now = begun + 121_000
    expect((await browser.finish(ticket)).json()).toMatchObject(OVER)
    lab.server.now = begun + 901_000
    expect((await browser.call('GET', pathOf(late))).headers.location).toBeUndefined()
  })

  it('takes no ticket or state that was changed, or made for something else', async () => {
    const browser = lab.browser()
    const address = await browser.begin(provider)
    const state = stateOf(address)
    const ticket = ticketOf(await browser.pass(address, 'ann'))
    const [version, iv, tag, body = ''] = ticket.split('.')
    const turned = [version, iv, tag, [...body].reverse().join('')].join('.')
    const session = await browser.signInByPassword()
    const streams = await browser.call('POST', '/api/auth/ticket', {}, session)
    for (const foreign of [turned, state, streams.json().ticket, 'x', 'v2...'])
      expect((await browser.finish(foreign)).json(), foreign).toMatchObject(OVER)
    // A ticket is no state, and neither opens a visitor's way.
    for (const foreign of [ticket, turned]) {
      const query = new URLSearchParams({ code: 'x', state: foreign, iss: lab.issuer.url })
      const answer = await browser.call('GET', `/.postern/callback?${query}`)
      expect([answer.statusCode, answer.headers.location]).toEqual([403, undefined])
    }
    for (const url of ['/api/auth/code', '/api/auth/passkey'])
      expect((await browser.call('POST', url, { ticket, code: '123456' })).statusCode).toBeGreaterThan(400)
    expect((await browser.finish(ticket)).statusCode).toBe(200)
  })

  it('does not pass the code of one provider to another', async () => {
    const browser = lab.browser()
    const back = await signInAt(lab.issuer, await browser.begin(provider), 'ann')
    const { db } = lab.server.context
    const asked: string[] = []
    lab.issuer.onRequest((path) => asked.push(path))
    await db.updateTable('console_providers').set({ issuer: 'https://other.example.com' }).execute()
    const answer = await browser.call('GET', pathOf(back))
    expect([answer.statusCode, answer.headers.location]).toEqual([403, undefined])
    expect(asked).toEqual([])
  })

  it('ends when the rules change meanwhile, or the provider is deleted', async () => {
    const browser = lab.browser()
    const url = `/api/console-sign-in/providers/${provider}`
    const first = ticketOf(await browser.pass(await browser.begin(provider), 'ann'))
    await lab.admin.patch(url, { rules: [{ claim: 'groups', value: 'none', role: 'viewer' }] })
    expect((await browser.finish(first)).json()).toMatchObject(OVER)
    const second = ticketOf(await browser.pass(await browser.begin(provider), 'ann'))
    await lab.admin.delete(url)
    expect((await browser.finish(second)).json()).toMatchObject(OVER)
  })

  it('to connect an account is no sign-in, and serves its own session alone', async () => {
    const browser = lab.browser()
    const token = await browser.signInByPassword()
    const begin = async () => {
      const form = { provider, password: 'correct horse battery' }
      const begun = await browser.call('POST', '/api/account/identities/begin', form, token)
      return await browser.pass(begun.json().address, 'bob')
    }
    const back = await begin()
    expect(back.headers.location).toMatch(/^\/account#ticket=/)
    expect((await browser.finish(ticketOf(back))).json()).toMatchObject(OVER)
    const other = await browser.signInByPassword()
    const add = (ticket: string, by: string, from = browser) =>
      from.call('POST', '/api/account/identities', { ticket }, by)
    expect((await add(ticketOf(await begin()), other)).statusCode).toBe(409)
    expect((await add(ticketOf(await begin()), token, lab.browser())).statusCode).toBe(401)
    // Nor does a ticket for signing in connect anything.
    const login = ticketOf(await browser.pass(await browser.begin(provider), 'bob'))
    expect((await add(login, token)).json()).toMatchObject(OVER)
    expect((await browser.call('GET', '/api/account/identities', undefined, token)).json()).toEqual([])
  })
})

it('a provider that refuses shows a page that leads back to the sign-in, and the log says why', async () => {
  const browser = lab.browser()
  const state = stateOf(await browser.begin(provider))
  const query = new URLSearchParams({
    error: 'access_denied',
    error_description: 'Not today',
    state,
    iss: lab.issuer.url,
  })
  const page = await browser.call('GET', `/.postern/callback?${query}`)
  expect(page.statusCode).toBe(403)
  expect(page.body).toMatch(/You could not be signed in.*<a href="\/login">Try again<\/a>/s)
  expect(lab.server.logged()).toContain('Not today')
})

it('neither code, state, ticket nor secret is in the log', async () => {
  const browser = lab.browser()
  const address = await browser.begin(provider)
  const back = await signInAt(lab.issuer, address, 'ann')
  const ticket = ticketOf(await browser.call('GET', pathOf(back)))
  await browser.finish(ticket)
  await browser.finish(ticket)
  for (const secret of [
    ticket,
    stateOf(address),
    back.searchParams.get('code') ?? '',
    'a secret of the test',
    browser.key,
  ])
    expect(lab.server.logged()).not.toContain(secret)
})

it('who guesses tickets, or begins without end, has to wait', async () => {
  const browser = lab.browser('198.51.100.9')
  const finish = async () => await browser.finish('v2.guess')
  for (let at = 0; at < 30; at++) expect((await finish()).statusCode).toBe(401)
  const waits = await finish()
  expect([waits.statusCode, Number(waits.headers['retry-after'])]).toEqual([429, expect.any(Number)])
  const crowd = lab.browser('198.51.100.10')
  for (let at = 0; at < 60; at++) await crowd.begin(provider)
  expect((await crowd.call('POST', '/api/auth/provider', { provider })).statusCode).toBe(429)
  // Others are not slowed down.
  expect((await lab.browser('192.0.2.5').signIn(provider, 'ann')).statusCode).toBe(200)
})
