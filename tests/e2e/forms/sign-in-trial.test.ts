import { type OidcIssuer, startOidcIssuer } from '@postern/testkit/fakes/oidc-issuer'
import { findFreePort } from '@postern/testkit/port'
import type { Page, Request } from 'playwright'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { type Site, startSite } from '../harness.ts'

const PAGE = '/domains/test-sign-in'

/** Nothing listens there: no HAProxy runs here. */
let publicUrl: string
let issuer: OidcIssuer
let site: Site

beforeAll(async () => {
  const port = await findFreePort()
  publicUrl = `https://127.0.0.1:${port}`
  issuer = await startOidcIssuer([`${publicUrl}/.postern/callback`])
  issuer.accounts.set('ann', { email: 'Ann@Example.com', email_verified: true })
  issuer.accounts.set('eve', { email: 'eve@example.com', email_verified: false })
  site = await startSite({
    POSTERN_PUBLIC_HOST: '127.0.0.1',
    POSTERN_HTTPS_PORT: String(port),
    POSTERN_OIDC_ISSUER: issuer.url,
    POSTERN_OIDC_CLIENT_ID: issuer.clientId,
    POSTERN_OIDC_CLIENT_SECRET: issuer.clientSecret,
  })
})
afterAll(async () => {
  await site?.close()
  await issuer?.close()
})

const start = (page: Page) => page.getByRole('button', { name: 'Sign In at the Provider' })

async function signIn(page: Page, account: string): Promise<void> {
  const [tab] = await Promise.all([page.waitForEvent('popup'), start(page).click()])
  await tab.locator('input[name=login]').fill(account)
  await tab.locator('input[name=password]').fill('x')
  await tab.locator('button[type=submit]').click()
  await tab.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' })
  // The provider's page has no access to the console's.
  expect(await tab.evaluate(() => window.opener)).toBeNull()
  const isBack = (request: Request) => request.url().startsWith(publicUrl)
  const [back] = await Promise.all([
    tab.waitForEvent('requestfailed', isBack),
    tab.locator('button[type=submit]').click(),
  ])
  // HAProxy would route it to the server.
  await tab.waitForURL(/^chrome-error:/)
  await tab.goto(back.url().replace(publicUrl, site.origin))
  await tab.getByText('The test is over').waitFor()
  expect(await tab.locator('body').innerText()).not.toContain('@')
  await tab.close()
}

describe('the test of the sign-in', () => {
  it('is reached from the form of a domain, and shows what to enter at the provider', async () => {
    const visit = await site.open('/domains')
    const { page } = visit
    await page.getByRole('button', { name: 'Add Domain' }).first().click()
    const form = page.getByRole('dialog', { name: 'Domain & SSL Settings' })
    const link = form.getByRole('link', { name: 'Test Sign-in' })
    const [tab] = await Promise.all([visit.context.waitForEvent('page'), link.click()])
    await tab.getByRole('heading', { name: 'Test Sign-in' }).waitFor()
    expect(await tab.getByRole('textbox', { name: 'Redirect address' }).inputValue()).toBe(
      `${publicUrl}/.postern/callback`,
    )
    await tab.getByRole('button', { name: 'Copy redirect address' }).click()
    expect(await tab.evaluate(() => navigator.clipboard.readText())).toBe(`${publicUrl}/.postern/callback`)
    const provider = tab.getByRole('region', { name: 'Provider' })
    await provider.getByText('Found', { exact: true }).waitFor()
    for (const each of [issuer.url, `${issuer.url}/auth`, `${issuer.url}/token`, `${issuer.url}/jwks`])
      await provider.getByText(each, { exact: true }).waitFor()
  })

  it('shows the claims of the account, and whether its address counts', async () => {
    const visit = await site.open(PAGE)
    const { page } = visit
    const card = page.getByRole('region', { name: 'Sign in', exact: true })
    await signIn(page, 'ann')
    await card.getByText('Counts', { exact: true }).waitFor()
    await card.getByText('ann@example.com', { exact: true }).waitFor()
    await card.getByText('Ann@Example.com', { exact: true }).waitFor()
    await visit.expectAccessible()
    await signIn(page, 'eve')
    await card.getByText('Does not count', { exact: true }).waitFor()
    await card.getByText(/email_verified is missing or not true/).waitFor()
    await visit.expectAccessible()
    // It is still there after a reload, and for this session only.
    await page.reload()
    await card.getByText('Does not count', { exact: true }).waitFor()
  })

  it('says what is wrong when the provider is down, and finds it again', async () => {
    await issuer.close()
    await site.stopServer()
    await site.startServer()
    const visit = await site.open(PAGE)
    const { page } = visit
    await page.getByText('Not found', { exact: true }).waitFor()
    await page.getByText(/127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/).waitFor()
    await expect(start(page)).toBeDisabled()
    await visit.expectAccessible()
    issuer = await startOidcIssuer([`${publicUrl}/.postern/callback`], {
      port: Number(new URL(issuer.url).port),
    })
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Found', { exact: true }).waitFor()
    await expect(start(page)).toBeEnabled()
  })
})
