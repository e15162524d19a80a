import { chmodSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { HttpService } from '@postern/contract/services'
import type { Running } from '@postern/testkit/exec'
import { type Installation, isApplied, startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho, startListening } from '@postern/testkit/lab/upstreams'
import { rotateAll } from '@postern/testkit/rotate-all'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose'
import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endStrangeSignIns, ISSUER, passIssuer, startHearer, strangeEnd } from './sign-in-steps.ts'

const ISSUERS_PROGRAM = fileURLToPath(new URL('../../packages/testkit/src/programs/oidc.ts', import.meta.url))
const CALLBACK = 'https://203.0.113.1/.postern/callback'
const ACCOUNTS = {
  ann: { email: 'Ann@example.com', email_verified: true },
  una: { email: 'ann@example.com', email_verified: false },
  eve: { email: 'eve@example.com', email_verified: true },
}
const SITE = 'https://app.example.com'
const CONSOLE = 'https://203.0.113.1'

let installation: Installation
let browser: Browser
let domainId: number
let service: HttpService
let issuer: Running

const lab = shared(startLab)
beforeAll(async () => {
  const secret = { POSTERN_OIDC_CLIENT_ID: 'postern', POSTERN_OIDC_CLIENT_SECRET: 'a secret of the test' }
  installation = await startInstallation(lab, { POSTERN_OIDC_ISSUER: ISSUER, ...secret })
  const { api, dataDir } = installation
  const dir = `${dataDir}/upstreams`
  const program = [process.execPath, ISSUERS_PROGRAM, '9300', CALLBACK, JSON.stringify(ACCOUNTS)]
  await startEcho(lab.server, dir, 9000, '127.0.0.1')
  issuer = await startListening(lab.server, program, dir, 'issuer', 9300)
  const form = { domain: 'app.example.com', skipValidation: true, authentication: true }
  const { json } = await api.call('POST', '/api/domains', { ...form, allowedEmails: ['ann@example.com'] })
  domainId = (json as { id: number }).id
  const backend = { backendHost: '127.0.0.1', backendPort: 9000 }
  const guarded = { requireAuth: true, skipAuthRoutes: '/open' }
  service = await api.publish(1, { name: 'web', domain: 'app.example.com', ...backend, ...guarded })
  await isLive()
  browser = await startBrowser(`${dataDir}/chromium`)
})
afterAll(async () => {
  await browser?.close()
  await installation?.close()
})

const isLive = () =>
  until('the service to be live', async () => {
    const { api } = installation
    return (await isApplied(api)) && (await api.getService(service)).state.phase === 'live'
  })
const allow = async (...allowedEmails: string[]) => {
  await installation.api.call('PATCH', `/api/domains/${domainId}`, { allowedEmails })
}

/** On the host of the server, where the issuer is at the same address for both. */
async function startBrowser(wrapper: string): Promise<Browser> {
  writeFileSync(wrapper, `#!/bin/sh\nexec ${lab.server.argv('/usr/bin/chromium').join(' ')} "$@"\n`)
  chmodSync(wrapper, 0o755)
  return await chromium.launch({
    executablePath: wrapper,
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP *.example.com 203.0.113.1'],
  })
}

async function newVisitor(): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  page.setDefaultTimeout(45_000)
  return page
}

async function signIn(page: Page, path: string, account = 'ann'): Promise<void> {
  await page.goto(SITE + path)
  await passIssuer(page, account)
}
/** A program without a browser. @returns the status */
async function ask(path: string, page?: Page): Promise<number> {
  const cookies = (await page?.context().cookies(SITE)) ?? []
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const target = ['--resolve', 'app.example.com:443:203.0.113.1', SITE + path]
  const output = ['-o', '/dev/null', '-w', '%{http_code}', '-sk', '-H', `Cookie: ${cookie}`]
  return Number(await lab.server.must('curl', ...output, ...target))
}
/** What a service does that verifies who came; it gets the keys as it gets everything, by the domain's address. */
async function verify(identity: string) {
  const address = `${SITE}/.postern/jwks.json`
  const keys = createRemoteJWKSet(new URL(address), {
    [customFetch]: async () => {
      const place = ['--resolve', 'app.example.com:443:203.0.113.1', '-sk', address]
      return new Response(await lab.server.must('curl', ...place))
    },
  })
  const expected = { issuer: 'https://203.0.113.1', audience: 'app.example.com' }
  return (await jwtVerify(identity, keys, expected)).payload
}
const seen = async (page: Page) => JSON.parse(await page.locator('body').innerText())

test('a visitor signs in and is back at the address that was wanted, known to the service', async () => {
  const page = await newVisitor()
  await signIn(page, '/deep/page?x=1&y=a%2Fb')
  await page.waitForURL(`${SITE}/deep/page?x=1&y=a%2Fb`)
  const { url, headers } = await seen(page)
  expect(url).toBe('/deep/page?x=1&y=a%2Fb')
  expect(headers).toMatchObject({
    'remote-user': 'ann@example.com',
    'x-auth-request-email': 'ann@example.com',
  })
  expect(headers).not.toHaveProperty('cookie')
  expect(await verify(headers['x-postern-identity'])).toMatchObject({ email: 'ann@example.com' })
  const [session, ...others] = await page.context().cookies(SITE)
  expect(others).toEqual([])
  expect(session).toMatchObject({ name: '__Host-postern', httpOnly: true, secure: true, sameSite: 'Lax' })
  // A program gets no redirect, and what is open needs nobody.
  expect(await ask('/')).toBe(401)
  expect(await ask('/open')).toBe(200)
  expect(await ask('/', page)).toBe(200)
  await page.context().close()
}, 120_000)

test('a host with a dot at its end leads to the one without, which signs in', async () => {
  const next = (url: string) => {
    const place = ['--resolve', 'app.example.com.:443:203.0.113.1']
    const output = ['-o', '/dev/null', '-w', '%{redirect_url}', '-sk', '-H', 'Accept: text/html']
    return lab.server.must('curl', ...output, ...place, url)
  }
  const begin = await next('https://app.example.com./deep?x=1')
  expect(begin).toMatch(/^https:\/\/app\.example\.com\.\/\.postern\/sign-in\?to=/)
  expect(await next(begin)).toBe(`${SITE}/deep?x=1`)
})

test('two tabs that sign in at once both arrive', async () => {
  const one = await newVisitor()
  const two = await one.context().newPage()
  await one.goto(`${SITE}/one`)
  await two.goto(`${SITE}/two`)
  await passIssuer(one, 'ann')
  await one.waitForURL(`${SITE}/one`)
  await passIssuer(two, 'ann')
  await two.waitForURL(`${SITE}/two`)
  expect((await seen(two)).headers).toMatchObject({ 'remote-user': 'ann@example.com' })
  await one.context().close()
}, 120_000)

test('no page of another site signs a visitor out unasked', async () => {
  const page = await newVisitor()
  await signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  await page.goto('http://127.0.0.1:9300/.well-known/openid-configuration')
  await page.evaluate((address) => location.assign(address), `${SITE}/.postern/sign-out`)
  await page.getByText('Another site led you here').waitFor()
  expect(await ask('/', page)).toBe(200)
  await page.getByRole('link', { name: 'Sign out' }).click()
  await page.getByText('You are signed out of').waitFor()
  expect(await ask('/', page)).toBe(401)
  await page.context().close()
}, 120_000)

test('who is not on the list is told so, and uses another account', async () => {
  const page = await newVisitor()
  await signIn(page, '/x', 'eve')
  await page.getByText('eve@example.com').waitFor()
  expect(page.url()).toMatch(/^https:\/\/app\.example\.com\/\.postern\/arrive/)
  await page.getByRole('link', { name: 'Use another account' }).click()
  await page.waitForURL(/^http:\/\/127\.0\.0\.1:9300\//)
  await page.context().close()
}, 120_000)

test('what was taken out of one browser’s sign-in opens nothing in another', async () => {
  const page = await newVisitor()
  const seen: string[] = []
  page.on('request', (request) => seen.push(request.url()))
  // Nor does a sign-in lead anywhere but to the service.
  await signIn(page, '/.postern/sign-in?to=https%3A%2F%2Fevil.example%2F')
  await page.waitForURL(`${SITE}/`)
  for (const step of ['/.postern/callback?', '/.postern/arrive?']) {
    const address = seen.find((url) => url.includes(step)) ?? ''
    expect(address).toContain('https://')
    const thief = await newVisitor()
    // The thief has begun a sign-in, too.
    await thief.goto(`${SITE}/`)
    expect((await thief.goto(address))?.status()).toBe(403)
    expect(await ask('/', thief)).toBe(401)
    await thief.context().close()
  }
  await page.context().close()
}, 120_000)

test('who is not verified does not come in, and whose sessions are ended is out', async () => {
  const unverified = await newVisitor()
  await signIn(unverified, '/x', 'una')
  await unverified.getByText('ann@example.com').waitFor()
  expect(await ask('/', unverified)).toBe(401)
  await unverified.context().close()
  const page = await newVisitor()
  await signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  const email = { email: 'ann@example.com' }
  await installation.api.call('POST', `/api/domains/${domainId}/sign-ins/end`, email)
  await until('the session to be over', async () => (await ask('/', page)) === 401)
  await page.context().close()
}, 120_000)

test('the TLS port of another name hears nothing of a browser that is signed in', async () => {
  const { api, dataDir } = installation
  const heard = await startHearer(lab.server, `${dataDir}/upstreams`, 9050)
  const backend = { backendHost: '127.0.0.1', backendPort: 9050, ssl: true }
  const publish = async (domain: string) => {
    const port = await api.publishPort(1, { name: domain, domain, confirmSharedCookies: true, ...backend })
    await until('the port', async () => (await api.getService(port)).state.phase === 'live')
    return port
  }
  const [other, own] = [await publish('other.example.com'), await publish('app.example.com')]
  const log = api.stream(`/api/logs/stream?type=tcp&id=${other.id}`)
  const page = await newVisitor()
  await signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  await expect(page.goto(`${SITE}:${other.port}/`)).rejects.toThrow('net::ERR_')
  await until('the refusal', () => JSON.stringify(log.events).includes('asked for another name'))
  expect(heard()).toBe('')
  // The first page may still be on its way to the browser's own page about the failure.
  const tab = await page.context().newPage()
  await tab.goto(`https://other.example.com:${other.port}/`)
  await until('a visit by its own name', () => heard().includes('Host: other.example.com'))
  expect(heard()).not.toContain('__Host-postern')
  // A port of the domain itself gets its cookies, which a person has confirmed.
  await tab.goto(`${SITE}:${own.port}/`)
  await until('the cookies', () => heard().includes('__Host-postern'))
  log.close()
  for (const port of [other, own]) await api.removeService(port)
  await page.context().close()
}, 120_000)

test('the provider is asked once for each beginning, whoever comes back with it', async () => {
  const begun = await visit(lab.visitor, `${SITE}/.postern/sign-in?to=/`)
  const state = new URL(/^location: (\S+)/im.exec(begun.headers)?.[1] ?? '').searchParams.get('state') ?? ''
  const count = () => [...issuer.output().matchAll(/^\/token$/gm)].length
  const before = count()
  for (const host of [lab.visitor, lab.site, lab.visitor]) {
    expect((await visit(host, `${CALLBACK}?${strangeEnd(state)}`)).status).toBe(403)
  }
  expect(count() - before).toBe(1)
})

test('a source that ends sign-ins with strange codes keeps nobody from signing in', async () => {
  const strange = endStrangeSignIns(lab.visitor, SITE, CALLBACK)
  await until('the first to be refused', () => strange.statuses.includes('403'))
  const page = await newVisitor()
  await signIn(page, '/beside')
  await page.waitForURL(`${SITE}/beside`)
  expect((await seen(page)).headers).toMatchObject({ 'remote-user': 'ann@example.com' })
  await strange.stop()
  expect(strange.statuses.filter((status) => status.startsWith('2') || status.startsWith('3'))).toEqual([])
  await page.context().close()
}, 120_000)

test('an e-mail that is taken away loses access, with an open WebSocket', async () => {
  const page = await newVisitor()
  await signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  await page.evaluate(() => {
    const socket = new WebSocket('wss://app.example.com/socket')
    return new Promise((resolve, reject) => {
      socket.onopen = resolve
      socket.onerror = reject
      socket.onclose = () => document.body.setAttribute('data-closed', String(Date.now()))
    })
  })
  const before = Date.now()
  await allow('bob@example.com')
  await page.locator('body[data-closed]').waitFor()
  // A second on a machine that has nothing else to do; five are promised.
  expect(Date.now() - before).toBeLessThan(25_000)
  expect(await ask('/', page)).toBe(401)
  await allow('ann@example.com')
  await isLive()
  expect(await ask('/', page)).toBe(401)
  await page.context().close()
}, 120_000)

test('the console asks for a sign-in of its own, and leaves agents and its own host alone', async () => {
  const { api } = installation
  const form = { domain: 'ops.example.com', skipValidation: true, authentication: true }
  const { json } = await api.call('POST', '/api/domains', { ...form, allowedEmails: ['ann@example.com'] })
  const { id } = json as { id: number }
  const demand = async (domain: string | null, requireAuth: boolean) => {
    const { status, json } = await api.call('PATCH', '/api/services/1/http/1', { domain, requireAuth })
    expect(status).toBe(200)
    // The edge may not have heard of the change yet: the state of the service itself knows of it.
    const isLive = async () => (await api.getService(json as HttpService)).state.phase === 'live'
    await until('the console to be live', isLive)
  }
  await demand('ops.example.com', true)
  const page = await newVisitor()
  await page.goto('https://203.0.113.1/nodes?x=1')
  await passIssuer(page, 'ann')
  await page.waitForURL('https://ops.example.com/login')
  await page.getByLabel('Username').fill('admin')
  await page.locator('input[type=password]').fill(installation.env.POSTERN_ADMIN_PASSWORD ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Client / Nodes' }).waitFor()
  expect(page.url()).toBe('https://ops.example.com/nodes?x=1')
  const answer = async (url: string) => await lab.server.must('curl', '-sk', url)
  expect(await answer('https://203.0.113.1/api/nodes')).toContain('sign_in')
  for (const open of ['https://203.0.113.1/api/agent/config', 'http://127.0.0.1:3000/api/nodes'])
    expect(JSON.parse(await answer(open))).toMatchObject({ code: 'unauthenticated' })
  // Whoever is taken off the list meanwhile is out of the open page, too.
  await api.call('PATCH', `/api/domains/${id}`, { allowedEmails: [] })
  await page.getByText('This account has no access').waitFor()
  await demand(null, false)
  expect(await answer('https://203.0.113.1/api/nodes')).toContain('unauthenticated')
  await page.context().close()
}, 120_000)

test('a renamed domain answers at its new name alone, where no session of the old one counts', async () => {
  const { api } = installation
  const page = await newVisitor()
  await signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  const cookies = await page.context().cookies(SITE)
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const answerOf = async (host: string, path: string) => {
    const place = ['--resolve', `${host}:443:203.0.113.1`, `https://${host}${path}`]
    const output = ['-o', '/dev/null', '-w', '%{http_code} %{certs}', '-sk', '-H', `Cookie: ${cookie}`]
    const { stdout } = await lab.server.run('curl', ...output, ...place)
    return { status: Number(stdout.slice(0, 3)), hasName: stdout.includes(`DNS:${host}`) }
  }
  expect(await answerOf('app.example.com', '/')).toEqual({ status: 200, hasName: true })
  const rename = async (domain: string) => {
    expect((await api.call('PATCH', `/api/domains/${domainId}`, { domain })).status).toBe(200)
    await isLive()
  }
  await rename('new.example.com')
  expect(await answerOf('new.example.com', '/open')).toEqual({ status: 200, hasName: true })
  expect(await answerOf('new.example.com', '/')).toEqual({ status: 401, hasName: true })
  const old = await answerOf('app.example.com', '/open')
  expect(old.hasName).toBe(false)
  expect(old.status).not.toBe(200)
  // Nor does it count again when the name comes back.
  await rename('app.example.com')
  expect(await answerOf('app.example.com', '/')).toEqual({ status: 401, hasName: true })
  await page.context().close()
}, 120_000)

test('an operator tries the provider out from the console, and is signed in nowhere by it', async () => {
  const page = await newVisitor()
  const { token } = installation.api
  await page.context().addCookies([{ name: 'token', value: token, url: CONSOLE, sameSite: 'Strict' }])
  await page.goto(`${CONSOLE}/domains/test-sign-in`)
  const start = page.getByRole('button', { name: 'Sign In at the Provider' })
  const [tab] = await Promise.all([page.waitForEvent('popup'), start.click()])
  await passIssuer(tab, 'ann')
  await tab.getByText('The test is over').waitFor()
  expect(tab.url()).toMatch(/^https:\/\/203\.0\.113\.1\/\.postern\/callback\?/)
  await page.getByText('Counts', { exact: true }).waitFor()
  await page.getByText('ann@example.com', { exact: true }).waitFor()
  const names = (await page.context().cookies([CONSOLE, SITE])).map(({ name }) => name).sort()
  expect(names).toEqual(['__Host-postern-trial', 'token'])
  expect(await ask('/', page)).toBe(401)
  await page.context().close()
}, 120_000)

test('who has signed in goes on while server and edge are away', async () => {
  const page = await newVisitor()
  await signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  await Promise.all([installation.server.stop(), installation.edge.stop()])
  await page.goto(`${SITE}/still`)
  expect((await seen(page)).headers).toMatchObject({ 'remote-user': 'ann@example.com' })
  const again = (await seen(page)).headers['x-postern-identity']
  expect(await verify(again)).toMatchObject({ sub: 'ann@example.com' })
  const stranger = await newVisitor()
  expect(await ask('/')).toBe(401)
  expect((await stranger.goto(`${SITE}/`))?.status()).toBe(503)
  await installation.startServer()
  installation.startEdge()
  await isLive()
  // The keys are those of before.
  await page.goto(`${SITE}/again`)
  expect((await seen(page)).url).toBe('/again')
  for (const each of [page, stranger]) await each.context().close()
}, 180_000)

test('after rotate-key --all a session of before opens nothing, and the visitor signs in again', async () => {
  const page = await newVisitor()
  await signIn(page, '/before')
  await page.waitForURL(`${SITE}/before`)
  expect(await ask('/', page)).toBe(200)
  await rotateAll(lab.server, installation)
  await until('the next keys', async () => (await ask('/', page)) === 401)
  const next = await newVisitor()
  await signIn(next, '/after')
  await next.waitForURL(`${SITE}/after`)
  for (const each of [page, next]) await each.context().close()
}, 180_000)
