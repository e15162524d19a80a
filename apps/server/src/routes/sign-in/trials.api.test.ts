import { signInAt } from '@postern/testkit/fakes/oidc-issuer'

import { findFreePort } from '@postern/testkit/port'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'
import { CALLBACK, HOST, startSignInLab } from '../../../test/sign-in-lab.ts'

const lab = shared(startSignInLab)
beforeEach(() => {
  lab.time.now = Date.now()
})

/** Like a browser, through HAProxy. */
const open = (path: string, { host = '203.0.113.1', cookie = '' } = {}) =>
  lab.server.call({
    method: 'GET',
    url: path,
    headers: { host: 'x', 'x-forwarded-host': host, 'x-forwarded-proto': 'https', cookie },
  })
const begin = async (by = lab.client) => {
  const answer = await lab.server.call({
    method: 'POST',
    url: '/api/sign-in/trial',
    headers: {
      authorization: `Bearer ${by.token}`,
      ...{ host: 'x', 'x-forwarded-host': '203.0.113.1', 'x-forwarded-proto': 'https' },
    },
    payload: {},
  })
  expect(answer.statusCode).toBe(200)
  const cookie = String(answer.headers['set-cookie'])
  expect(cookie).toMatch(
    /^__Host-postern-trial=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; Secure; SameSite=Lax$/,
  )
  return { address: String(answer.json().address), cookie: cookie.split(';')[0] ?? '' }
}
/** @returns the path at the console's host with the provider's answer */
const passProvider = async (address: string, account: string) => {
  const back = await signInAt(lab.issuer, address, account)
  return back.pathname + back.search
}
const result = async (by = lab.client) => (await by.get('/api/sign-in/trial')).json()
const sessions = async () =>
  (await lab.server.context.db.selectFrom('sign_ins').select('id').execute()).length

describe('the provider', () => {
  it('is shown with its addresses, and with the values to enter there', async () => {
    expect((await lab.client.get('/api/sign-in/provider')).json()).toEqual({
      issuer: lab.issuer.url,
      redirectUrl: CALLBACK,
      endpoints: [
        { name: 'Authorization', url: `${lab.issuer.url}/auth` },
        { name: 'Token', url: `${lab.issuer.url}/token` },
        { name: 'Keys', url: `${lab.issuer.url}/jwks` },
      ],
      problem: null,
    })
  })

  it('that does not answer differs from none at all', async () => {
    const secret = { POSTERN_OIDC_CLIENT_ID: 'postern', POSTERN_OIDC_CLIENT_SECRET: 'secret' }
    const nobody = `http://127.0.0.1:${await findFreePort()}`
    const settings = { POSTERN_OIDC_ISSUER: nobody, ...secret }
    const gone = await startTestServer({ settings })
    const bare = await startTestServer()
    const check = async (at: TestServer) => (await (await at.signIn()).get('/api/sign-in/provider')).json()
    expect(await check(gone)).toMatchObject({
      issuer: nobody,
      endpoints: [],
      problem: expect.stringMatching(/^127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/),
    })
    expect(await check(bare)).toMatchObject({ issuer: null, problem: null })
    const refused = await (await gone.signIn()).post('/api/sign-in/trial')
    expect(refused.statusCode).toBe(503)
    expect(refused.json().message).toMatch(/cannot be reached/)
    expect((await (await bare.signIn()).post('/api/sign-in/trial')).statusCode).toBe(409)
    await gone.close()
    await bare.close()
  })
})

describe('a trial', () => {
  it("shows the provider's data about the account, and what counts", async () => {
    expect(await result()).toEqual({ state: 'none' })
    const { address, cookie } = await begin()
    expect(new URL(address).searchParams.get('prompt')).toMatch(/login|select_account/)
    expect(await result()).toEqual({ state: 'waiting' })
    const page = await open(await passProvider(address, 'ann'), { cookie })
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('The result is in the console')
    const { state, account } = await result()
    expect(state).toBe('done')
    expect(account).toMatchObject({ email: 'ann@example.com', doubt: null })
    expect(account.claims).toContainEqual({ name: 'email', value: 'Ann@Example.com' })
    expect(account.claims).toContainEqual({ name: 'email_verified', value: 'true' })
    expect(account.claims).toContainEqual({ name: 'sub', value: 'ann' })
    expect(account.claims.map(({ name }: { name: string }) => name)).not.toContain('nonce')
  })

  it.each([
    ['mallory', 'ann@example.com', /email_verified/],
    ['nobody', null, /does not say which/],
  ])('of %s says why the address does not count', async (name, email, doubt) => {
    const { address, cookie } = await begin()
    await open(await passProvider(address, name), { cookie })
    expect(await result()).toMatchObject({
      state: 'done',
      account: { email, doubt: expect.stringMatching(doubt) },
    })
  })

  it('that the provider refused says so', async () => {
    const { address, cookie } = await begin()
    const state = encodeURIComponent(new URL(address).searchParams.get('state') ?? '')
    const refusal = `error=access_denied&error_description=Not+today&state=${state}&iss=${lab.issuer.url}`
    await open(`/.postern/callback?${refusal}`, { cookie })
    expect(await result()).toEqual({ state: 'failed', problem: expect.stringContaining('Not today') })
  })

  it('opens nothing: no session, no ticket, no line of a record, and nothing of it in the log', async () => {
    const before = await sessions()
    const { address, cookie } = await begin()
    const back = await passProvider(address, 'ann')
    const page = await open(back, { cookie })
    expect(page.headers).not.toHaveProperty('set-cookie')
    expect(page.headers).not.toHaveProperty('location')
    expect(page.body).not.toMatch(/ann@|ticket/i)
    const { searchParams } = new URL(back, CALLBACK)
    // Nor can its state be used for another step, at a domain or here.
    const state = encodeURIComponent(searchParams.get('state') ?? '')
    expect((await open(`/.postern/arrive?ticket=${state}`, { host: HOST, cookie })).statusCode).toBe(403)
    const visit = await open('/.postern/sign-in?to=%2F', { host: HOST })
    const own = new URL(String(visit.headers.location)).searchParams.get('state') ?? ''
    await begin()
    await open(`/.postern/callback?${new URLSearchParams({ code: 'x', state: own, iss: lab.issuer.url })}`)
    expect(await result()).toEqual({ state: 'waiting' })
    expect(await sessions()).toBe(before)
    expect(lab.server.logged()).not.toMatch(/ann@example|code=|a secret of the test/i)
  })

  it('ends once, in the browser that began it, before it is too old, and only the last one counts', async () => {
    const { address, cookie } = await begin()
    const back = await passProvider(address, 'ann')
    const claimed = { state: 'waiting' }
    for (const stolen of ['', '__Host-postern-trial=x', (await begin(await lab.server.signIn())).cookie]) {
      expect((await open(back, { cookie: stolen })).statusCode).toBe(200)
      expect(await result()).toEqual(claimed)
    }
    await open(back, { cookie })
    expect(await result()).toMatchObject({ state: 'done' })
    // Once more, with a code that the provider has taken: the result stays.
    await open(back, { cookie })
    expect(await result()).toMatchObject({ state: 'done' })

    const first = await begin()
    const earlier = await passProvider(first.address, 'ann')
    const second = await begin()
    await open(earlier, { cookie: `${first.cookie}; ${second.cookie}` })
    await open(earlier, { cookie: first.cookie })
    expect(await result()).toEqual(claimed)

    const late = await passProvider(second.address, 'ann')
    lab.time.now += 901_000
    await open(late, { cookie: second.cookie })
    expect(await result()).toEqual({ state: 'none' })
  })

  it('is only shown to the session that began it', async () => {
    const other = await lab.server.signIn()
    const { address, cookie } = await begin()
    await open(await passProvider(address, 'ann'), { cookie })
    expect(await result(other)).toEqual({ state: 'none' })
    expect(await result()).toMatchObject({ state: 'done' })
    for (const url of ['/api/sign-in/trial', '/api/sign-in/provider'])
      expect((await open(url)).statusCode).toBe(401)
    expect((await lab.server.call({ method: 'POST', url: '/api/sign-in/trial' })).statusCode).toBe(401)
  })

  it('is one of a bounded number', async () => {
    const { trials } = lab.server.context
    for (let session = 1000; session < 1150; session++) await trials.begin(session, true)
    expect(trials.find(1000)).toEqual({ state: 'none' })
    expect(trials.find(1149)).toEqual({ state: 'waiting' })
    const kept = Array.from({ length: 150 }, (_, index) => trials.find(1000 + index).state)
    expect(kept.filter((state) => state === 'waiting')).toHaveLength(100)
  })
})
