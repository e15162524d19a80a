import { createHmac } from 'node:crypto'
import { shared } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'
import { ANN, claimsOf, OTHER, pathOf, startSignInLab } from '../../../test/sign-in-lab.ts'

const lab = shared(startSignInLab)
beforeEach(async () => {
  lab.time.now = Date.now()
  await lab.allow([ANN])
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
    const answer = await lab.signIn(lab.browser(), to)
    expect(new URL(String(answer.headers.location)).origin).toBe('https://a.example.com')
    expect(answer.headers.location).not.toMatch(/\.postern|[\r\n]/)
  })

  it.each(['//evil.example/', '/\\\\evil.example'])('cannot have a page of ours link to %j', async (to) => {
    const browser = lab.browser()
    await lab.signIn(browser)
    const { body } = await browser.open(`/.postern/sign-in?to=${encodeURIComponent(to)}`)
    const [, href = ''] = /<a href="([^"]*)"/.exec(body) ?? []
    expect(new URL(href, 'https://a.example.com/.postern/sign-in').origin).toBe('https://a.example.com')
  })

  it('cannot use a ticket twice, late, at another domain or in another browser', async () => {
    const browser = lab.browser()
    const { location, back } = await lab.passProvider(await lab.begin(browser, '/'))
    const path = pathOf(location)
    const thief = lab.browser()
    expect((await thief.open(path)).statusCode).toBe(403)
    await lab.begin(thief, '/')
    expect((await thief.open(path)).statusCode).toBe(403)
    // Nor with its own attempt under the name of the ticket's attempt.
    const [[own, note] = ['', '']] = thief.cookies
    const [name = ''] = browser.cookies.keys()
    thief.cookies.set(name, note)
    thief.cookies.delete(own)
    expect((await thief.open(path)).body).toContain('began elsewhere')
    const elsewhere = lab.browser(OTHER)
    for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value)
    expect((await elsewhere.open(path)).statusCode).toBe(403)
    const copy = lab.browser()
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
    expect((await browser.open(path)).statusCode).toBe(302)
    expect((await copy.open(path)).statusCode).toBe(403)
    for (const each of [thief, elsewhere, copy]) expect(each.cookies.has('__Host-postern')).toBe(false)
    // The code, too, can be used only once.
    expect((await lab.browser('203.0.113.1').open(back.pathname + back.search)).statusCode).toBe(403)
    const late = lab.browser()
    const second = await lab.passProvider(await lab.begin(late, '/'))
    lab.time.now += 61_000
    expect((await late.open(pathOf(second.location))).statusCode).toBe(403)
  })

  it.each(['cross-site', 'same-site'])('cannot sign a visitor out by a %s link', async (site) => {
    const browser = lab.browser()
    await lab.signIn(browser)
    const asked = await browser.open('/.postern/sign-out', { 'sec-fetch-site': site })
    expect(asked.body).toContain('Another site sent you here')
    expect(asked.body).toContain('href="/.postern/sign-out"')
    expect(browser.cookies.has('__Host-postern')).toBe(true)
    await browser.open('/.postern/sign-out', { 'sec-fetch-site': 'same-origin' })
    expect(browser.cookies.has('__Host-postern')).toBe(false)
  })

  it('cannot sign a victim in with an account of its own', async () => {
    const { location } = await lab.passProvider(await lab.begin(lab.browser(), '/'), 'ann')
    const victim = lab.browser()
    await lab.begin(victim, '/')
    const answer = await victim.open(pathOf(location))
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('began elsewhere')
    expect(victim.cookies.has('__Host-postern')).toBe(false)
  })

  // Browsers let a sibling domain set these for all: to them the name is not that of ours.
  it.each(['\u00a0', '\t', '\u00a0 '])(
    'cannot sign a victim in by a cookie named %j and ours',
    async (blank) => {
      const attacker = lab.browser()
      const { location } = await lab.passProvider(await lab.begin(attacker, '/'))
      const victim = lab.browser()
      const plant = () => {
        for (const [name, value] of attacker.cookies) victim.cookies.set(blank + name, value)
      }
      plant()
      expect((await victim.open(pathOf(location))).body).toContain('began elsewhere')
      await attacker.open(pathOf(location))
      expect(attacker.cookies.has('__Host-postern')).toBe(true)
      plant()
      expect((await victim.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeUndefined()
    },
  )

  it('gets nowhere with tokens of another step, changed ones or none', async () => {
    const browser = lab.browser()
    const address = new URL(await lab.begin(browser, '/'))
    const state = address.searchParams.get('state') ?? ''
    const { location } = await lab.passProvider(address.href)
    const ticket = new URL(location).searchParams.get('ticket') ?? ''
    const [attempt = ''] = browser.cookies.values()
    const changed = `${ticket.slice(0, -2)}${ticket.endsWith('A') ? 'BB' : 'AA'}`
    for (const each of [state, attempt, changed, '', 'v1.a.b.c', 'x'.repeat(9000)]) {
      const answer = await browser.open(`/.postern/arrive?ticket=${encodeURIComponent(each)}`)
      expect(answer.statusCode).toBe(403)
    }
    for (const each of [ticket, attempt, '', 'x']) {
      const end = new URLSearchParams({ code: 'x', state: each, iss: lab.issuer.url })
      const url = `/.postern/callback?${end}`
      expect((await lab.browser('203.0.113.1').open(url)).statusCode).toBe(403)
    }
    for (const url of ['/.postern/callback', '/.postern/arrive', '/.postern/arrive?ticket=1&ticket=2'])
      expect((await browser.open(url)).statusCode).toBe(403)
    expect(browser.cookies.has('__Host-postern')).toBe(false)
  })

  it('cannot renew what it made, what is over, or what is another domain’s', async () => {
    const browser = lab.browser()
    await lab.signIn(browser)
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
    const elsewhere = lab.browser(OTHER)
    elsewhere.cookies.set('__Host-postern', good)
    expect((await elsewhere.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeUndefined()
    lab.time.now += 13 * 3_600_000
    browser.cookies.set('__Host-postern', good)
    expect((await browser.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeUndefined()
  })

  it('cannot fill a browser with attempts, nor reach the flow at a domain without sign-in', async () => {
    const browser = lab.browser()
    for (let tab = 0; tab < 12; tab++) await lab.begin(browser, '/')
    expect(browser.cookies.size).toBe(5)
    for (const host of ['c.example.com', '203.0.113.1', 'x'])
      expect((await lab.browser(host).open('/.postern/sign-in')).statusCode).toBe(404)
  })
})

it('a host with a dot at its end is redirected to the one without, whose cookies count', async () => {
  const answer = await lab.browser('a.example.com.').open('/.postern/sign-in?to=%2Fx%3Fy')
  expect(answer.statusCode).toBe(302)
  expect(answer.headers.location).toBe('https://a.example.com/x?y')
})
