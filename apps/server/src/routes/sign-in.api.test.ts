import { createHmac } from 'node:crypto'
import { fetchState } from '@postern/testkit/edge-client'
import { type OidcIssuer, signInAt, startOidcIssuer } from '@postern/testkit/oidc-issuer'
import { type Client, startTestServer, type TestServer } from '@postern/testkit/server'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JWTVerifyOptions, jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadIdentities } from '../core/sign-in/identities.ts'
import { createVisitorSessions } from '../core/sign-in/sessions.ts'

const HOST = 'a.example.com'
const OTHER = 'b.example.com'
const ANN = 'ann@example.com'

let now = Date.now()
let issuer: OidcIssuer
let server: TestServer
let client: Client
let ids: Record<string, number>

beforeAll(async () => {
  issuer = await startOidcIssuer(['https://203.0.113.1/.postern/callback'])
  issuer.accounts.set('ann', { email: 'Ann@Example.com', email_verified: true })
  issuer.accounts.set('eve', { email: 'eve@example.com', email_verified: true })
  issuer.accounts.set('mallory', { email: ANN, email_verified: false })
  issuer.accounts.set('nobody', {})
  server = await startTestServer({
    trustForwarded: true,
    settings: {
      POSTERN_OIDC_ISSUER: issuer.url,
      POSTERN_OIDC_CLIENT_ID: issuer.clientId,
      POSTERN_OIDC_CLIENT_SECRET: issuer.clientSecret,
    },
    world: { clock: () => now },
  })
  client = await server.signIn()
  ids = {}
  for (const domain of [HOST, OTHER]) {
    const form = { domain, skipValidation: true, authentication: true, allowedEmails: ['ANN@example.com'] }
    const answer = await client.post('/api/domains', form)
    expect(answer.statusCode).toBe(201)
    ids[domain] = answer.json().id
  }
})
afterAll(async () => {
  await server.close()
  await issuer.close()
})
beforeEach(async () => {
  now = Date.now()
  await allow([ANN])
})

const allow = (allowedEmails: string[], domain = HOST) =>
  client.patch(`/api/domains/${ids[domain]}`, { allowedEmails })

/** A browser at one domain, as far as cookies go. */
function makeBrowser(host = HOST) {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async open(url: string) {
      const answer = await server.call({
        method: 'GET',
        url,
        headers: {
          host: 'x',
          'x-forwarded-host': host,
          'x-forwarded-proto': 'https',
          cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
        },
      })
      for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
        const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*); (.*)$/.exec(line) ?? []
        expect(name).toMatch(/^__Host-postern(-[0-9a-f]{12})?$/)
        expect(rest).toMatch(/^Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=Lax$/)
        if (value === '') cookies.delete(name)
        else cookies.set(name, value)
      }
      return answer
    },
  }
}
type Browser = ReturnType<typeof makeBrowser>

const begin = async (browser: Browser, to: string) => {
  const answer = await browser.open(`/.postern/sign-in?to=${encodeURIComponent(to)}`)
  expect(answer.statusCode).toBe(302)
  return String(answer.headers.location)
}
/** @returns the address at the domain with the ticket */
const passProvider = async (address: string, account = 'ann') => {
  const back = await signInAt(issuer, address, account)
  expect(back.origin + back.pathname).toBe('https://203.0.113.1/.postern/callback')
  const answer = await makeBrowser('203.0.113.1').open(back.pathname + back.search)
  return { answer, back, location: String(answer.headers.location) }
}
const pathOf = (address: string) => {
  const url = new URL(address)
  return url.pathname + url.search
}
const signIn = async (browser: Browser, to = '/', account = 'ann') => {
  const { location } = await passProvider(await begin(browser, to), account)
  return await browser.open(pathOf(location))
}
const claimsOf = (browser: Browser) => {
  const body = browser.cookies.get('__Host-postern')?.split('.')[1] ?? ''
  return JSON.parse(Buffer.from(body, 'base64url').toString() || 'null')
}

describe('a visitor', () => {
  it('goes to the provider and comes back to the exact address, with a session for that domain', async () => {
    const browser = makeBrowser()
    const address = new URL(await begin(browser, '/deep/page?x=1&y=a%2Fb'))
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      scope: 'openid email',
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: 'https://203.0.113.1/.postern/callback',
    })
    const { location } = await passProvider(address.href)
    expect(location).toMatch(/^https:\/\/a\.example\.com\/\.postern\/arrive\?ticket=/)
    const answer = await browser.open(pathOf(location))
    expect(answer.headers.location).toBe('https://a.example.com/deep/page?x=1&y=a%2Fb')
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.headers).not.toHaveProperty('strict-transport-security')
    expect(claimsOf(browser)).toMatchObject({ email: ANN, aud: HOST, exp: expect.any(Number) })
    expect([...browser.cookies.keys()]).toEqual(['__Host-postern'])
    expect(server.logged()).not.toMatch(/ticket=|state=|ann@example/i)
  })

  it('arrives from two tabs that began at once, each where it wanted to be', async () => {
    const browser = makeBrowser()
    const [one, two] = [await begin(browser, '/one'), await begin(browser, '/two')]
    const [first, second] = [await passProvider(one), await passProvider(two)]
    expect((await browser.open(pathOf(second.location))).headers.location).toBe('https://a.example.com/two')
    expect((await browser.open(pathOf(first.location))).headers.location).toBe('https://a.example.com/one')
  })

  it('who is not on the list is told by which account, and can use another', async () => {
    const answer = await signIn(makeBrowser(), '/x', 'eve')
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('eve@example.com')
    expect(answer.body).toContain('/.postern/sign-in?to=%2Fx&amp;account=other')
    expect(answer.headers['set-cookie']).not.toMatch(/__Host-postern=/)
    const again = await makeBrowser().open('/.postern/sign-in?to=%2Fx&account=other')
    expect(again.headers.location).toMatch(/prompt=(login|select_account)/)
  })

  it('whose e-mail is not verified, or not known, does not come in', async () => {
    const browser = makeBrowser()
    const answer = await signIn(browser, '/', 'mallory')
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('does not confirm')
    expect(browser.cookies.size).toBe(0)
    const { answer: nameless } = await passProvider(await begin(makeBrowser(), '/'), 'nobody')
    expect(nameless.statusCode).toBe(403)
  })

  it('who gave up at the provider is told so', async () => {
    const address = new URL(await begin(makeBrowser(), '/'))
    const state = encodeURIComponent(address.searchParams.get('state') ?? '')
    const answer = await makeBrowser('203.0.113.1').open(
      `/.postern/callback?error=access_denied&state=${state}`,
    )
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('You could not be signed in')
  })

  it('is renewed without the provider for a week, and signs out', async () => {
    const browser = makeBrowser()
    await signIn(browser)
    const before = claimsOf(browser)
    now += 7 * 3_600_000
    const answer = await browser.open('/.postern/renew?to=%2Fx%3Fy')
    expect(answer.headers.location).toBe('https://a.example.com/x?y')
    expect(claimsOf(browser)).toMatchObject({ email: ANN, auth_time: before.auth_time })
    expect(claimsOf(browser).exp - before.exp).toBe(7 * 3600)
    for (let hours = 0; hours < 162; hours += 9) {
      now += 9 * 3_600_000
      await browser.open('/.postern/renew?to=%2F')
    }
    const late = await browser.open('/.postern/renew?to=%2Fx')
    expect(late.headers.location).toBe('/.postern/sign-in?to=%2Fx')
    expect((await browser.open('/.postern/sign-out')).body).toContain('signed out')
    expect(browser.cookies.size).toBe(0)
  })

  it('who has signed out leaves no copy that can be renewed, and goes on elsewhere', async () => {
    const [laptop, phone, thief] = [makeBrowser(), makeBrowser(), makeBrowser()]
    await signIn(laptop)
    now += 5000
    await signIn(phone)
    const renew = async (browser: Browser) =>
      (await browser.open('/.postern/renew?to=%2F')).headers['set-cookie'] !== undefined
    const copy = laptop.cookies.get('__Host-postern') ?? ''
    // Renewed before and after it was copied: it is the same session.
    now += 7 * 3_600_000
    expect(await renew(laptop)).toBe(true)
    await laptop.open('/.postern/sign-out')
    thief.cookies.set('__Host-postern', copy)
    expect(await renew(thief)).toBe(false)
    expect(await renew(phone)).toBe(true)
    await signIn(laptop)
    expect(await renew(laptop)).toBe(true)
    // What can be renewed no more is forgotten.
    const rows = async () => (await server.context.db.selectFrom('signed_out').selectAll().execute()).length
    const before = await rows()
    expect(before).toBeGreaterThan(0)
    now += 7 * 86_400_000
    await signIn(phone)
    await phone.open('/.postern/sign-out')
    expect(await rows()).toBe(1)
  })

  it('does not go round when the edge does not know the session yet', async () => {
    const browser = makeBrowser()
    await signIn(browser)
    const answer = await browser.open('/.postern/sign-in?to=%2Fx')
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('is still letting you in')
    now += 60_000
    expect((await browser.open('/.postern/sign-in?to=%2Fx')).statusCode).toBe(302)
  })

  it('is not renewed once the e-mail is off the list, also when it comes back to it', async () => {
    const browser = makeBrowser()
    await signIn(browser)
    await allow([])
    expect((await browser.open('/.postern/renew?to=%2F')).headers.location).toBe('/.postern/sign-in?to=%2F')
    await allow([ANN])
    expect((await browser.open('/.postern/renew?to=%2F')).headers.location).toBe('/.postern/sign-in?to=%2F')
  })
})

describe('the identity for services', () => {
  /** As a service does that has the keys which the edges have. */
  const verify = async (token: string, options: JWTVerifyOptions = {}) => {
    const { sections } = await fetchState(server, {})
    const keys = (sections.settings?.identityKeys ?? []).map(({ id, x, y }) => ({
      ...{ kty: 'EC', crv: 'P-256', alg: 'ES256', kid: id, x, y },
    }))
    const expected = { issuer: 'https://203.0.113.1', audience: HOST, currentDate: new Date(now) }
    return await jwtVerify(token, createLocalJWKSet({ keys }), { ...expected, ...options })
  }

  it('is verified by the public keys: who, for which domain, and no longer than the session', async () => {
    const browser = makeBrowser()
    await signIn(browser)
    const { identity, iat, exp } = claimsOf(browser)
    const { payload, protectedHeader } = await verify(identity)
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'JWT' })
    expect(payload).toEqual({ iss: 'https://203.0.113.1', sub: ANN, email: ANN, aud: HOST, iat, exp })
    await expect(verify(identity, { audience: OTHER })).rejects.toThrow('aud')
    await expect(verify(identity, { currentDate: new Date((exp + 1) * 1000) })).rejects.toThrow('exp')
    const [head, , mark] = identity.split('.')
    const changed = Buffer.from(JSON.stringify({ ...payload, email: 'eve@example.com' })).toString(
      'base64url',
    )
    await expect(verify(`${head}.${changed}.${mark}`)).rejects.toThrow('signature')
  })

  it('is made anew with the session, and is none itself', async () => {
    const browser = makeBrowser()
    await signIn(browser)
    const { identity } = claimsOf(browser)
    now += 7 * 3_600_000
    await browser.open('/.postern/renew?to=%2F')
    const next = claimsOf(browser)
    expect(decodeJwt(next.identity).exp).toBe(next.exp)
    expect(next.exp - (decodeJwt(identity).exp ?? 0)).toBe(7 * 3600)
    browser.cookies.set('__Host-postern', next.identity)
    expect((await browser.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeUndefined()
  })

  it('is signed by a new key only a day after it is shown, and the old one is shown on', async () => {
    const browser = makeBrowser(OTHER)
    await signIn(browser)
    const old = claimsOf(browser).identity
    const { identities } = server.context
    const before = identities.publicKeys()
    now += 31 * 86_400_000
    await identities.renew()
    expect(identities.publicKeys()).toEqual([expect.anything(), ...before])
    const idOf = (token: string) => decodeProtectedHeader(token).kid
    await signIn(browser)
    expect(idOf(claimsOf(browser).identity)).toBe(idOf(old))
    now += 86_400_000
    await signIn(browser)
    const next = claimsOf(browser).identity
    expect(idOf(next)).toBe(identities.publicKeys()[0]?.id)
    await verify(next, { audience: OTHER })
    await verify(old, { audience: OTHER, currentDate: new Date() })
    client = await server.signIn()
  })

  it('fits into a cookie with the longest names that there are', async () => {
    const longest = (length: number) => 'x'.repeat(length)
    const identities = await loadIdentities(server.context, `https://${longest(253)}:32443`)
    const sessions = createVisitorSessions({ ...server.context, identities })
    const session = sessions.seal({
      ...{
        member: '9'.repeat(15),
        email: longest(254),
        aud: longest(253),
        auth_time: Math.floor(now / 1000),
      },
    })
    expect(session.length).toBeLessThan(3500)
    expect(sessions.read(session)).toMatchObject({ email: longest(254) })
  })

  it('is signed by a key that nobody reads from a copy of the database', async () => {
    const rows = await server.context.db.selectFrom('settings').selectAll().execute()
    const kept = rows.find(({ key }) => key === 'sign-in.identity-keys')?.value ?? ''
    expect(kept).toMatch(/^v1\./)
    expect(JSON.stringify(await fetchState(server, {}))).not.toContain('pkcs8')
    const [key] = JSON.parse(server.context.secrets.open(kept))
    expect(JSON.stringify(await fetchState(server, {}))).not.toContain(key.secret)
  })
})

describe('an attacker', () => {
  it.each([
    'https://evil.example/',
    '//evil.example/',
    '\\\\evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    'evil.example',
    '/a\r\nset-cookie: x=1',
    '/\u0000',
    '',
    '/.postern/sign-out',
    '/.postern/renew?to=/',
    `/${'x'.repeat(3000)}`,
    '@evil.example',
    '/ä',
  ])('cannot send a visitor to %j', async (to) => {
    const answer = await signIn(makeBrowser(), to)
    expect(new URL(String(answer.headers.location)).origin).toBe('https://a.example.com')
    expect(answer.headers.location).not.toMatch(/\.postern|[\r\n]/)
  })

  it('cannot use a ticket twice, late, at another domain or in another browser', async () => {
    const browser = makeBrowser()
    const { location, back } = await passProvider(await begin(browser, '/'))
    const path = pathOf(location)
    const thief = makeBrowser()
    expect((await thief.open(path)).statusCode).toBe(403)
    await begin(thief, '/')
    expect((await thief.open(path)).statusCode).toBe(403)
    // Nor with an attempt of its own under the name of the one that the ticket belongs to.
    const [[own, note] = ['', '']] = thief.cookies
    const [name = ''] = browser.cookies.keys()
    thief.cookies.set(name, note)
    thief.cookies.delete(own)
    expect((await thief.open(path)).body).toContain('began elsewhere')
    const elsewhere = makeBrowser(OTHER)
    for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value)
    expect((await elsewhere.open(path)).statusCode).toBe(403)
    const copy = makeBrowser()
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
    expect((await browser.open(path)).statusCode).toBe(302)
    expect((await copy.open(path)).statusCode).toBe(403)
    for (const each of [thief, elsewhere, copy]) expect(each.cookies.has('__Host-postern')).toBe(false)
    // The code is good for one use, too.
    expect((await makeBrowser('203.0.113.1').open(back.pathname + back.search)).statusCode).toBe(403)
    const late = makeBrowser()
    const second = await passProvider(await begin(late, '/'))
    now += 61_000
    expect((await late.open(pathOf(second.location))).statusCode).toBe(403)
  })

  it('cannot sign a victim in with an account of its own', async () => {
    const { location } = await passProvider(await begin(makeBrowser(), '/'), 'ann')
    const victim = makeBrowser()
    await begin(victim, '/')
    const answer = await victim.open(pathOf(location))
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('began elsewhere')
    expect(victim.cookies.has('__Host-postern')).toBe(false)
  })

  it('gets nowhere with notes of another step, changed ones and none', async () => {
    const browser = makeBrowser()
    const address = new URL(await begin(browser, '/'))
    const state = address.searchParams.get('state') ?? ''
    const { location } = await passProvider(address.href)
    const ticket = new URL(location).searchParams.get('ticket') ?? ''
    const [attempt = ''] = browser.cookies.values()
    const changed = `${ticket.slice(0, -2)}${ticket.endsWith('A') ? 'BB' : 'AA'}`
    for (const each of [state, attempt, changed, '', 'v1.a.b.c', 'x'.repeat(9000)]) {
      const answer = await browser.open(`/.postern/arrive?ticket=${encodeURIComponent(each)}`)
      expect(answer.statusCode).toBe(403)
    }
    for (const each of [ticket, attempt, '', 'x']) {
      const url = `/.postern/callback?code=x&state=${encodeURIComponent(each)}`
      expect((await makeBrowser('203.0.113.1').open(url)).statusCode).toBe(403)
    }
    for (const url of ['/.postern/callback', '/.postern/arrive', '/.postern/arrive?ticket=1&ticket=2'])
      expect((await browser.open(url)).statusCode).toBe(403)
    expect(browser.cookies.has('__Host-postern')).toBe(false)
  })

  it('cannot renew what it made, what is over, or what is another domain’s', async () => {
    const browser = makeBrowser()
    await signIn(browser)
    const good = browser.cookies.get('__Host-postern') ?? ''
    const [head, body = ''] = good.split('.')
    const claims = claimsOf(browser)
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const mac = createHmac('sha256', 'x').update(`${head}.${body}`).digest('base64url')
    const none = `${part({ alg: 'none' })}.${body}.`
    for (const each of [
      `${head}.${body}.${mac}`,
      none,
      `${head}.${part({ ...claims, exp: 1e10 })}.x`,
      `${head}.x.y`,
      '',
    ]) {
      browser.cookies.set('__Host-postern', each)
      expect((await browser.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeUndefined()
    }
    const elsewhere = makeBrowser(OTHER)
    elsewhere.cookies.set('__Host-postern', good)
    expect((await elsewhere.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeUndefined()
    now += 13 * 3_600_000
    browser.cookies.set('__Host-postern', good)
    expect((await browser.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeUndefined()
  })

  it('cannot fill a browser with attempts, nor reach the flow where no sign-in is', async () => {
    const browser = makeBrowser()
    for (let tab = 0; tab < 12; tab++) await begin(browser, '/')
    expect(browser.cookies.size).toBe(5)
    for (const host of ['c.example.com', '203.0.113.1', 'x'])
      expect((await makeBrowser(host).open('/.postern/sign-in')).statusCode).toBe(404)
  })
})

describe('the record', () => {
  const recordOf = async () => (await client.get(`/api/domains/${ids[HOST]}/sign-ins?limit=3`)).json()

  it('says who came, was refused and went, and forgets after thirty days', async () => {
    const browser = makeBrowser()
    await signIn(browser)
    await signIn(makeBrowser(), '/', 'eve')
    await browser.open('/.postern/sign-out')
    const { data } = await recordOf()
    expect(data).toMatchObject([
      { email: ANN, outcome: 'signed-out' },
      { email: 'eve@example.com', outcome: 'refused' },
      { email: ANN, outcome: 'signed-in', address: '127.0.0.1' },
    ])
    // Who is not signed in leaves no trace by signing out.
    await makeBrowser().open('/.postern/sign-out')
    expect((await recordOf()).data[0]).toEqual(data[0])
    // Other tests here set the clock up to a week ahead.
    now += 38 * 86_400_000
    expect((await client.get('/api/auth/me')).statusCode).toBe(401)
    client = await server.signIn()
    expect(await recordOf()).toMatchObject({ data: [], total: 0 })
    expect((await client.get('/api/domains/99/sign-ins')).statusCode).toBe(404)
    await signIn(makeBrowser())
    const kept = server.context.db
      .selectFrom('sign_ins')
      .selectAll()
      .where('domain_id', '=', ids[HOST] ?? 0)
    expect(await kept.execute()).toMatchObject([{ email: ANN, outcome: 'signed-in' }])
  })

  it('is bounded, whatever comes', async () => {
    const rows = Array.from({ length: 1200 }, (_, i) => ({
      ...{ domain_id: ids[HOST] ?? 0, email: `${i}@example.com`, address: '192.0.2.1' },
      ...{ outcome: 'refused' as const, at: new Date(now).toISOString() },
    }))
    for (let start = 0; start < rows.length; start += 300)
      await server.context.db
        .insertInto('sign_ins')
        .values(rows.slice(start, start + 300))
        .execute()
    const browser = makeBrowser()
    await signIn(browser)
    expect((await recordOf()).total).toBe(1000)
    const second = Math.floor(now / 1000)
    const ended = Array.from({ length: 1200 }, (_, i) => ({
      domain_id: ids[HOST] ?? 0,
      auth_time: second - i,
    }))
    for (let start = 0; start < ended.length; start += 300)
      await server.context.db
        .insertInto('signed_out')
        .values(ended.slice(start, start + 300).map((row) => ({ ...row, email: 'x@example.com' })))
        .execute()
    await browser.open('/.postern/sign-out')
    expect(await server.context.db.selectFrom('signed_out').select('email').execute()).toHaveLength(1000)
  })

  it('ends the sessions of a person, who may sign in again', async () => {
    const browser = makeBrowser()
    // Sessions that began in the same second are told apart by nobody.
    now += 2000
    await signIn(browser)
    const end = (email: string) => client.post(`/api/domains/${ids[HOST]}/sign-ins/end`, { email })
    expect((await end('eve@example.com')).statusCode).toBe(409)
    expect((await browser.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeDefined()
    expect((await end(ANN)).statusCode).toBe(200)
    expect((await browser.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeUndefined()
    expect((await signIn(browser)).statusCode).toBe(302)
  })
})
