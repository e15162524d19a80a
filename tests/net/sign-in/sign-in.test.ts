import type { RequestPage } from '@postern/contract/requests/query'
import type { HttpService } from '@postern/contract/services/services'
import { startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { expect, test } from 'vitest'
import { CALLBACK, SITE, seen, startSignInLab } from './sign-in-lab.ts'
import { endStrangeSignIns, passIssuer, startHearer, strangeEnd } from './sign-in-steps.ts'

const CONSOLE = 'https://203.0.113.1'

const lab = shared(startLab)
const at = shared(() => startSignInLab(lab))

test('a visitor signs in and returns to the requested address, identified to the service', async () => {
  const page = await at.newVisitor()
  await at.signIn(page, '/deep/page?x=1&y=a%2Fb')
  await page.waitForURL(`${SITE}/deep/page?x=1&y=a%2Fb`)
  const { url, headers } = await seen(page)
  expect(url).toBe('/deep/page?x=1&y=a%2Fb')
  expect(headers).toMatchObject({
    'remote-user': 'ann@example.com',
    'x-auth-request-email': 'ann@example.com',
  })
  expect(headers).not.toHaveProperty('cookie')
  expect(await at.verify(headers['x-postern-identity'])).toMatchObject({ email: 'ann@example.com' })
  const [session, ...others] = await page.context().cookies(SITE)
  expect(others).toEqual([])
  expect(session).toMatchObject({ name: '__Host-postern', httpOnly: true, secure: true, sameSite: 'Lax' })
  // A program gets no redirect, and open paths need no sign-in.
  expect(await at.ask('/')).toBe(401)
  expect(await at.ask('/open')).toBe(200)
  expect(await at.ask('/', page)).toBe(200)
  const kept = async (query: string) => {
    const { json } = await at.installation.api.call('GET', `/api/requests?service=${at.service.id}&${query}`)
    return (json as RequestPage).data.map(({ path, status }) => [path, status])
  }
  // Who came is kept with each request, and what the sign-in decided.
  await until('the last request', async () => (await kept('person=ann%40example.com')).length >= 2)
  expect(await kept('person=ann%40example.com')).toContainEqual(['/deep/page', 200])
  expect(await kept('reason=sign-in')).toContainEqual(['/', 401])
  await page.context().close()
}, 120_000)

test('a host with a trailing dot redirects to the one without, which signs in', async () => {
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
  const one = await at.newVisitor()
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
  const page = await at.newVisitor()
  await at.signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  await page.goto('http://127.0.0.1:9300/.well-known/openid-configuration')
  await page.evaluate((address) => location.assign(address), `${SITE}/.postern/sign-out`)
  await page.getByText('Another site sent you here').waitFor()
  expect(await at.ask('/', page)).toBe(200)
  await page.getByRole('link', { name: 'Sign out' }).click()
  await page.getByText('You are signed out of').waitFor()
  expect(await at.ask('/', page)).toBe(401)
  await page.context().close()
}, 120_000)

test('a person who is not on the list is told so, and can use another account', async () => {
  const page = await at.newVisitor()
  await at.signIn(page, '/x', 'eve')
  await page.getByText('eve@example.com').waitFor()
  expect(page.url()).toMatch(/^https:\/\/app\.example\.com\/\.postern\/arrive/)
  await page.getByRole('link', { name: 'Use another account' }).click()
  await page.waitForURL(/^http:\/\/127\.0\.0\.1:9300\//)
  await page.context().close()
}, 120_000)

test('what was taken out of one browser’s sign-in opens nothing in another', async () => {
  const page = await at.newVisitor()
  const seen: string[] = []
  page.on('request', (request) => seen.push(request.url()))
  // Nor does a sign-in lead anywhere except to the service.
  await at.signIn(page, '/.postern/sign-in?to=https%3A%2F%2Fevil.example%2F')
  await page.waitForURL(`${SITE}/`)
  for (const step of ['/.postern/callback?', '/.postern/arrive?']) {
    const address = seen.find((url) => url.includes(step)) ?? ''
    expect(address).toContain('https://')
    const thief = await at.newVisitor()
    // The attacker has begun a sign-in, too.
    await thief.goto(`${SITE}/`)
    expect((await thief.goto(address))?.status()).toBe(403)
    expect(await at.ask('/', thief)).toBe(401)
    await thief.context().close()
  }
  await page.context().close()
}, 120_000)

test('an unverified person is refused, and a person whose sessions are ended is signed out', async () => {
  const unverified = await at.newVisitor()
  await at.signIn(unverified, '/x', 'una')
  await unverified.getByText('ann@example.com').waitFor()
  expect(await at.ask('/', unverified)).toBe(401)
  await unverified.context().close()
  const page = await at.newVisitor()
  await at.signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  const email = { email: 'ann@example.com' }
  await at.installation.api.call('POST', `/api/domains/${at.domainId}/sign-ins/end`, email)
  await until('the session to be over', async () => (await at.ask('/', page)) === 401)
  await page.context().close()
}, 120_000)

test('the TLS port of another name receives nothing from a signed-in browser', async () => {
  const { api, dataDir } = at.installation
  const heard = await startHearer(lab.server, `${dataDir}/upstreams`, 9050)
  const backend = { backendHost: '127.0.0.1', backendPort: 9050, ssl: true }
  const publish = async (domain: string) => {
    const port = await api.publishPort(1, { name: domain, domain, confirmSharedCookies: true, ...backend })
    await until('the port', async () => (await api.getService(port)).state.phase === 'live')
    return port
  }
  const [other, own] = [await publish('other.example.com'), await publish('app.example.com')]
  const log = api.stream(`/api/logs/stream?type=tcp&id=${other.id}`)
  const page = await at.newVisitor()
  await at.signIn(page, '/')
  await page.waitForURL(`${SITE}/`)
  await expect(page.goto(`${SITE}:${other.port}/`)).rejects.toThrow('net::ERR_')
  await until('the refusal', () =>
    JSON.stringify(log.events).includes("asked for a name other than the service's domain"),
  )
  expect(heard()).toBe('')
  // The first page may still be on its way to the browser's own page about the failure.
  const tab = await page.context().newPage()
  await tab.goto(`https://other.example.com:${other.port}/`)
  await until('a visit under its own name', () => heard().includes('Host: other.example.com'))
  expect(heard()).not.toContain('__Host-postern')
  // A port of the domain itself gets the domain's cookies, which a person has confirmed.
  await tab.goto(`${SITE}:${own.port}/`)
  await until('the cookies', () => heard().includes('__Host-postern'))
  log.close()
  for (const port of [other, own]) await api.removeService(port)
  await page.context().close()
}, 120_000)

test('the provider is asked once for each sign-in begun, whoever returns with it', async () => {
  const begun = await visit(lab.visitor, `${SITE}/.postern/sign-in?to=/`)
  const state = new URL(/^location: (\S+)/im.exec(begun.headers)?.[1] ?? '').searchParams.get('state') ?? ''
  const count = () => [...at.issuer.output().matchAll(/^\/token$/gm)].length
  const before = count()
  for (const host of [lab.visitor, lab.site, lab.visitor]) {
    expect((await visit(host, `${CALLBACK}?${strangeEnd(state)}`)).status).toBe(403)
  }
  expect(count() - before).toBe(1)
})

test('a source that ends sign-ins with invented codes keeps nobody from signing in', async () => {
  const strange = endStrangeSignIns(lab.visitor, SITE, CALLBACK)
  await until('the first to be refused', () => strange.statuses.includes('403'))
  const page = await at.newVisitor()
  await at.signIn(page, '/beside')
  await page.waitForURL(`${SITE}/beside`)
  expect((await seen(page)).headers).toMatchObject({ 'remote-user': 'ann@example.com' })
  await strange.stop()
  expect(strange.statuses.filter((status) => status.startsWith('2') || status.startsWith('3'))).toEqual([])
  await page.context().close()
}, 120_000)

test('the console can require sign-in, and leaves agents and its own host alone', async () => {
  const { api } = at.installation
  const form = { domain: 'ops.example.com', skipValidation: true, authentication: true }
  const { json } = await api.call('POST', '/api/domains', { ...form, allowedEmails: ['ann@example.com'] })
  const { id } = json as { id: number }
  const demand = async (domain: string | null, requireAuth: boolean) => {
    const { status, json } = await api.call('PATCH', '/api/services/1/http/1', { domain, requireAuth })
    expect(status).toBe(200)
    // The edge may not know of the change yet, so wait for the service's own state.
    const isLive = async () => (await api.getService(json as HttpService)).state.phase === 'live'
    await until('the console to be live', isLive)
  }
  await demand('ops.example.com', true)
  const page = await at.newVisitor()
  await page.goto('https://203.0.113.1/nodes?x=1')
  await passIssuer(page, 'ann')
  await page.waitForURL('https://ops.example.com/login')
  await page.getByLabel('Username').fill('admin')
  await page.locator('input[type=password]').fill(at.installation.env.POSTERN_ADMIN_PASSWORD ?? '')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Client / Nodes' }).waitFor()
  expect(page.url()).toBe('https://ops.example.com/nodes?x=1')
  const answer = async (url: string) => await lab.server.must('curl', '-sk', url)
  expect(await answer('https://203.0.113.1/api/nodes')).toContain('sign_in')
  for (const open of ['https://203.0.113.1/api/agent/config', 'http://127.0.0.1:3000/api/nodes'])
    expect(JSON.parse(await answer(open))).toMatchObject({ code: 'unauthenticated' })
  // A person removed from the list meanwhile also loses the open page.
  await api.call('PATCH', `/api/domains/${id}`, { allowedEmails: [] })
  await page.getByText('This account has no access').waitFor()
  await demand(null, false)
  expect(await answer('https://203.0.113.1/api/nodes')).toContain('unauthenticated')
  await page.context().close()
}, 120_000)

test('an operator tests the provider from the console, which signs in nowhere', async () => {
  const page = await at.newVisitor()
  const { token } = at.installation.api
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
  expect(await at.ask('/', page)).toBe(401)
  await page.context().close()
}, 120_000)
