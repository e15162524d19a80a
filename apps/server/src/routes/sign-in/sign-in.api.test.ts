import { shared } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'
import { ANN, type Browser, claimsOf, HOST, pathOf, startSignInLab } from '../../../test/sign-in-lab.ts'

const lab = shared(startSignInLab)
beforeEach(async () => {
  lab.time.now = Date.now()
  await lab.allow([ANN])
})

describe('a visitor', () => {
  it('goes to the provider and comes back to the exact address, with a session for that domain', async () => {
    const browser = lab.browser()
    const address = new URL(await lab.begin(browser, '/deep/page?x=1&y=a%2Fb'))
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      scope: 'openid email',
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: 'https://203.0.113.1/.postern/callback',
    })
    const { location } = await lab.passProvider(address.href)
    expect(location).toMatch(/^https:\/\/a\.example\.com\/\.postern\/arrive\?ticket=/)
    const answer = await browser.open(pathOf(location))
    expect(answer.headers.location).toBe('https://a.example.com/deep/page?x=1&y=a%2Fb')
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.headers).not.toHaveProperty('strict-transport-security')
    expect(claimsOf(browser)).toMatchObject({ email: ANN, aud: HOST, exp: expect.any(Number) })
    expect([...browser.cookies.keys()]).toEqual(['__Host-postern'])
    expect(lab.server.logged()).not.toMatch(/ticket=|state=|ann@example/i)
  })

  it('works in two tabs at once, each of which arrives at its own address', async () => {
    const browser = lab.browser()
    const [one, two] = [await lab.begin(browser, '/one'), await lab.begin(browser, '/two')]
    const [first, second] = [await lab.passProvider(one), await lab.passProvider(two)]
    expect((await browser.open(pathOf(second.location))).headers.location).toBe('https://a.example.com/two')
    expect((await browser.open(pathOf(first.location))).headers.location).toBe('https://a.example.com/one')
  })

  it('a visitor who is not on the list sees the account, and can use another', async () => {
    const answer = await lab.signIn(lab.browser(), '/x', 'eve')
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('eve@example.com')
    expect(answer.body).toContain('/.postern/sign-in?to=%2Fx&amp;account=other')
    expect(answer.headers['set-cookie']).not.toMatch(/__Host-postern=/)
    const again = await lab.browser().open('/.postern/sign-in?to=%2Fx&account=other')
    expect(again.headers.location).toMatch(/prompt=(login|select_account)/)
  })

  it('a visitor whose e-mail is unverified or unknown does not come in', async () => {
    const browser = lab.browser()
    const answer = await lab.signIn(browser, '/', 'mallory')
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('does not confirm')
    expect(browser.cookies.size).toBe(0)
    const { answer: nameless } = await lab.passProvider(await lab.begin(lab.browser(), '/'), 'nobody')
    expect(nameless.statusCode).toBe(403)
  })

  it('a visitor who gave up at the provider gets a page', async () => {
    const address = new URL(await lab.begin(lab.browser(), '/'))
    const state = encodeURIComponent(address.searchParams.get('state') ?? '')
    const answer = await lab
      .browser('203.0.113.1')
      .open(`/.postern/callback?error=access_denied&state=${state}`)
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('You could not be signed in')
  })

  it('is renewed without the provider for a week, and signs out', async () => {
    const browser = lab.browser()
    await lab.signIn(browser)
    const before = claimsOf(browser)
    lab.time.now += 7 * 3_600_000
    const answer = await browser.open('/.postern/renew?to=%2Fx%3Fy')
    expect(answer.headers.location).toBe('https://a.example.com/x?y')
    expect(claimsOf(browser)).toMatchObject({ email: ANN, auth_time: before.auth_time })
    expect(claimsOf(browser).exp - before.exp).toBe(7 * 3600)
    for (let hours = 0; hours < 162; hours += 9) {
      lab.time.now += 9 * 3_600_000
      await browser.open('/.postern/renew?to=%2F')
    }
    const late = await browser.open('/.postern/renew?to=%2Fx')
    expect(late.headers.location).toBe('/.postern/sign-in?to=%2Fx')
    expect((await browser.open('/.postern/sign-out')).body).toContain('signed out')
    expect(browser.cookies.size).toBe(0)
  })

  it('after signing out no copy of the session can be renewed, and sessions elsewhere go on', async () => {
    const [laptop, phone, thief] = [lab.browser(), lab.browser(), lab.browser()]
    await lab.signIn(laptop)
    lab.time.now += 5000
    await lab.signIn(phone)
    const renew = async (browser: Browser) =>
      (await browser.open('/.postern/renew?to=%2F')).headers['set-cookie'] !== undefined
    const copy = laptop.cookies.get('__Host-postern') ?? ''
    // Renewed before and after it was copied: it is the same session.
    lab.time.now += 7 * 3_600_000
    expect(await renew(laptop)).toBe(true)
    await laptop.open('/.postern/sign-out')
    thief.cookies.set('__Host-postern', copy)
    expect(await renew(thief)).toBe(false)
    expect(await renew(phone)).toBe(true)
    await lab.signIn(laptop)
    expect(await renew(laptop)).toBe(true)
    // Entries for sessions that cannot be renewed are removed.
    const rows = async () =>
      (await lab.server.context.db.selectFrom('signed_out').selectAll().execute()).length
    const before = await rows()
    expect(before).toBeGreaterThan(0)
    lab.time.now += 7 * 86_400_000
    await lab.signIn(phone)
    await phone.open('/.postern/sign-out')
    expect(await rows()).toBe(1)
  })

  it('does not loop when the edge does not know the session yet', async () => {
    const browser = lab.browser()
    await lab.signIn(browser)
    const answer = await browser.open('/.postern/sign-in?to=%2Fx')
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('is still letting you in')
    lab.time.now += 60_000
    expect((await browser.open('/.postern/sign-in?to=%2Fx')).statusCode).toBe(302)
  })

  it('is not renewed once the e-mail is off the list, even when it is added again', async () => {
    const browser = lab.browser()
    await lab.signIn(browser)
    await lab.allow([])
    expect((await browser.open('/.postern/renew?to=%2F')).headers.location).toBe('/.postern/sign-in?to=%2F')
    await lab.allow([ANN])
    expect((await browser.open('/.postern/renew?to=%2F')).headers.location).toBe('/.postern/sign-in?to=%2F')
  })
})

describe('the record', () => {
  const recordOf = async () => (await lab.client.get(`/api/domains/${lab.ids[HOST]}/sign-ins?limit=3`)).json()

  it('records who came, was refused and left, and forgets after thirty days', async () => {
    const browser = lab.browser()
    await lab.signIn(browser)
    await lab.signIn(lab.browser(), '/', 'eve')
    await browser.open('/.postern/sign-out')
    const { data } = await recordOf()
    expect(data).toMatchObject([
      { email: ANN, outcome: 'signed-out' },
      { email: 'eve@example.com', outcome: 'refused' },
      { email: ANN, outcome: 'signed-in', address: '127.0.0.1' },
    ])
    // Signing out without a session leaves no trace.
    await lab.browser().open('/.postern/sign-out')
    expect((await recordOf()).data[0]).toEqual(data[0])
    // Other tests in this file set the clock up to a week ahead.
    lab.time.now += 38 * 86_400_000
    expect((await lab.client.get('/api/auth/me')).statusCode).toBe(401)
    lab.client = await lab.server.signIn()
    expect(await recordOf()).toMatchObject({ data: [], total: 0 })
    expect((await lab.client.get('/api/domains/99/sign-ins')).statusCode).toBe(404)
    await lab.signIn(lab.browser())
    const kept = lab.server.context.db
      .selectFrom('sign_ins')
      .selectAll()
      .where('domain_id', '=', lab.ids[HOST] ?? 0)
    expect(await kept.execute()).toMatchObject([{ email: ANN, outcome: 'signed-in' }])
  })

  it('is bounded in any case', async () => {
    const rows = Array.from({ length: 1200 }, (_, i) => ({
      ...{ domain_id: lab.ids[HOST] ?? 0, email: `${i}@example.com`, address: '192.0.2.1' },
      ...{ outcome: 'refused' as const, at: new Date(lab.time.now).toISOString() },
    }))
    for (let start = 0; start < rows.length; start += 300)
      await lab.server.context.db
        .insertInto('sign_ins')
        .values(rows.slice(start, start + 300))
        .execute()
    const browser = lab.browser()
    await lab.signIn(browser)
    expect((await recordOf()).total).toBe(1000)
    const second = Math.floor(lab.time.now / 1000)
    const ended = Array.from({ length: 1200 }, (_, i) => ({
      domain_id: lab.ids[HOST] ?? 0,
      auth_time: second - i,
    }))
    for (let start = 0; start < ended.length; start += 300)
      await lab.server.context.db
        .insertInto('signed_out')
        .values(ended.slice(start, start + 300).map((row) => ({ ...row, email: 'x@example.com' })))
        .execute()
    await browser.open('/.postern/sign-out')
    expect(await lab.server.context.db.selectFrom('signed_out').select('email').execute()).toHaveLength(1000)
  })

  it('ends the sessions of a person, who may sign in again', async () => {
    const browser = lab.browser()
    // Sessions that began in the same second cannot be told apart.
    lab.time.now += 2000
    await lab.signIn(browser)
    const end = (email: string) => lab.client.post(`/api/domains/${lab.ids[HOST]}/sign-ins/end`, { email })
    expect((await end('eve@example.com')).statusCode).toBe(409)
    expect((await browser.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeDefined()
    expect((await end(ANN)).statusCode).toBe(200)
    expect((await browser.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeUndefined()
    expect((await lab.signIn(browser)).statusCode).toBe(302)
  })
})
