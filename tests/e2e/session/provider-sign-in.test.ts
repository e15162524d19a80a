import type { Login } from '@postern/contract/sign-in/auth'
import { oneTimeCode } from '@postern/testkit/one-time-code'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label } from '../harness.ts'
import { startProviderLab } from '../provider-lab.ts'

const lab = shared(() => startProviderLab())
const RULES = [
  { claim: 'groups', value: 'admins', role: 'admin' },
  { claim: 'groups', value: 'staff', role: 'editor' },
] as const
/** Signing in there makes accounts. */
const company = shared(() => lab.addProvider({ name: 'Company', makesAccounts: true, rules: [...RULES] }))

const companyButton = (page: Page) => page.getByRole('button', { name: 'Continue with Company', exact: true })
const openLogin = () => lab.open(`/login?of=${company.id}`, { signedIn: false })
const isInside = (page: Page) => page.waitForURL(`${lab.origin}/`)

async function continueAs(page: Page, account: string): Promise<void> {
  await companyButton(page).click()
  await lab.passProvider(page, account)
}

it('a person of the company signs in below the form, which stays where it is', async () => {
  const visit = await openLogin()
  const { page } = visit
  const top = async () => (await page.getByLabel(label('Username')).boundingBox())?.y
  // The answer comes when the form has been there for a while.
  const held = Promise.withResolvers<void>()
  await page.route('**/api/auth/ways', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.reload()
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  const before = await top()
  held.resolve()
  await companyButton(page).waitFor()
  expect(await top()).toBe(before)
  await visit.expectAccessible()
  await continueAs(page, 'bob')
  await isInside(page)
  await page.goto(`${lab.origin}/account`)
  await page.getByRole('region', { name: 'Name and Password' }).getByText('bob', { exact: true }).waitFor()
  await page
    .getByRole('region', { name: 'Name and Password' })
    .getByText(/^Editor/)
    .waitFor()
})

it('whose account that made connects no other, and the page Account says so', async () => {
  const second = await lab.addProvider({ name: 'Second' })
  const { page, expectAccessible } = await openLogin()
  await continueAs(page, 'bob')
  await isInside(page)
  await page.goto(`${lab.origin}/account`)
  const card = page.getByRole('region', { name: 'Sign-In by Providers' })
  await card.getByText('Your account was made by a sign-in at this provider').waitFor()
  await card.getByText('bob@example.com', { exact: true }).waitFor()
  await expect(card.getByRole('button', { name: /Connect|Disconnect/ })).toHaveCount(0)
  await expectAccessible()
  await page.setViewportSize({ width: 390, height: 800 })
  await expectAccessible()
  await lab.api.call('DELETE', `/api/console-sign-in/providers/${second.id}`)
})

it('opens the page that the person wanted before', async () => {
  const { page } = await lab.open('/domains', { signedIn: false })
  await page.waitForURL('**/login')
  await continueAs(page, 'ann')
  await page.waitForURL(`${lab.origin}/domains`)
})

it('is refused in words, once: neither a reload nor Back repeats it', async () => {
  const visit = await openLogin()
  const { page, forgive } = visit
  forgive(/403|Signing in by the provider failed/)
  const ends: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/auth/provider/finish')) ends.push(request.url())
  })
  await continueAs(page, 'eve')
  const refusal = page.getByRole('alert').filter({ hasText: /./ })
  await refusal.waitFor()
  expect(await refusal.innerText()).toContain('Company')
  expect(page.url()).toBe(`${lab.origin}/login`)
  await visit.expectAccessible()
  await page.reload()
  await companyButton(page).waitFor()
  await expect(refusal).toHaveCount(0)
  await page.goto(`${lab.origin}/docs/terms`)
  await page.goBack()
  await companyButton(page).waitFor()
  await expect(refusal).toHaveCount(0)
  expect(ends).toHaveLength(1)
})

it('without the server’s answer the page is as it was without providers', async () => {
  const { page, forgive } = await openLogin()
  forgive(/503/)
  await page.route('**/api/auth/ways', (route) => route.fulfill({ status: 503, body: '{}' }))
  await page.reload()
  await lab.signIn(page)
  await isInside(page)
})

it('what another browser brings back opens nothing', async () => {
  const { page: thief, forgive } = await openLogin()
  forgive(/401|Signing in by the provider failed/)
  const { page, forgive: forgiveOwner } = await openLogin()
  forgiveOwner(/ERR_FAILED|Signing in by the provider failed/)
  // The browser leaves before the page can use what it has brought.
  await page.route('**/api/auth/provider/finish', (route) => route.abort())
  await page.addInitScript(() => {
    if (location.hash.startsWith('#ticket=')) sessionStorage.setItem('stolen', location.hash)
  })
  await companyButton(page).click()
  await lab.passProvider(page, 'bob')
  await page.getByRole('alert').waitFor()
  const stolen = await page.evaluate(() => sessionStorage.getItem('stolen'))
  await thief.goto(`${lab.origin}/no/such/page`)
  await thief.goto(`${lab.origin}/login${stolen}`)
  await thief.getByText('This sign-in has ended. Sign in again.').waitFor()
  expect(thief.url()).toBe(`${lab.origin}/login`)
  await page.close()
})

it('the second factor is asked for after the provider', async () => {
  const token = await tokenOfNew('carl')
  const { secret, ticket } = await callAs(token, '/api/account/authenticator', { password: 'long enough 1' })
  const form = { ticket, code: oneTimeCode(secret) }
  const { recoveryCodes } = await callAs(token, '/api/account/authenticator/confirm', form)
  lab.issuer.accounts.set('carl', { email: 'carl@example.com', email_verified: true, groups: [] })
  const { page } = await lab.open('/login', { signedIn: false })
  await lab.signIn(page, 'carl', 'long enough 1')
  // A code works once.
  await page.getByLabel(label('Code')).fill(oneTimeCode(secret, Date.now() + 30_000))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await isInside(page)
  await connect(page, 'carl', 'long enough 1')
  // No page of the console is there to see that its session is gone.
  await page.goto(`${lab.origin}/docs/terms`)
  await page.context().clearCookies()
  await page.goto(`${lab.origin}/login`)
  await continueAs(page, 'carl')
  await page.getByRole('heading', { name: 'One more step' }).waitFor()
  await page.getByText('carl', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByLabel(label('Recovery Code')).fill(recoveryCodes[0])
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await isInside(page)
})

it('at another address the buttons lead to the one that providers know', async () => {
  const visit = await lab.open('/login', { signedIn: false, origin: lab.localOrigin })
  const { page } = visit
  const link = page.getByRole('link', { name: 'Continue with Company' })
  expect(await link.getAttribute('href')).toBe(`${lab.origin}/login`)
  await page.getByText(`This sign-in works at ${lab.origin}`).waitFor()
  await visit.expectAccessible()
})

async function connect(page: Page, account: string, password: string): Promise<void> {
  await page.goto(`${lab.origin}/account`)
  await page.getByRole('button', { name: 'Connect Company', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(label('Your Password')).fill(password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await lab.passProvider(page, account)
  await page.getByText('Account connected successfully!').waitFor()
}

async function tokenOfNew(name: string): Promise<string> {
  const { token } = await lab.invite(name)
  const body = { token, password: 'long enough 1' }
  const { login } = (await lab.api.call('POST', '/api/invites/accept', body)).json as { login: Login }
  return login.token
}

async function callAs(token: string, path: string, body: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(lab.localOrigin + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return answer.json()
}
