import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label } from '../harness.ts'
import { startProviderLab } from '../provider-lab.ts'

const lab = shared(() => startProviderLab())
/** Only for people who were invited. */
const company = shared(() => lab.addProvider({ name: 'Company' }))

const card = (page: Page) => page.getByRole('region', { name: 'Sign-In by Providers' })
const dialog = (page: Page) => page.getByRole('dialog')
const companyButton = (page: Page) => page.getByRole('button', { name: 'Continue with Company', exact: true })
const isInside = (page: Page) => page.waitForURL(`${lab.origin}/`)

async function openAccount(): Promise<Page> {
  const { page, forgive } = await lab.open(`/login?of=${company.id}`, { signedIn: false })
  forgive(/422|not connected|not disconnected/)
  await lab.signIn(page)
  await isInside(page)
  await page.goto(`${lab.origin}/account`)
  await card(page).waitFor()
  return page
}

it('an account is connected, signs in, and is disconnected again', async () => {
  const page = await openAccount()
  await card(page).getByText('None connected yet').waitFor()
  await card(page).getByRole('button', { name: 'Connect Company', exact: true }).click()
  await dialog(page).getByLabel(label('Your Password')).fill('wrong')
  await dialog(page).getByRole('button', { name: 'Continue' }).click()
  await dialog(page).getByText('The password is not right.').waitFor()
  await dialog(page).getByLabel(label('Your Password')).fill(lab.password)
  await dialog(page).getByRole('button', { name: 'Continue' }).click()
  await lab.passProvider(page, 'ann')
  await page.getByText('Account connected successfully!').waitFor()
  expect(page.url()).toBe(`${lab.origin}/account`)
  await card(page).getByText('ann@example.com', { exact: true }).waitFor()
  await expect(card(page).getByRole('button', { name: 'Connect Company', exact: true })).toHaveCount(0)

  const { page: other } = await lab.open('/login', { signedIn: false })
  await companyButton(other).click()
  await lab.passProvider(other, 'ann')
  await isInside(other)

  await page.reload()
  await card(page).getByRole('button', { name: 'Disconnect Company' }).click()
  await dialog(page).getByLabel(label('Your Password')).fill(lab.password)
  await dialog(page).getByRole('button', { name: 'Disconnect', exact: true }).click()
  await page.getByText('Account disconnected successfully!').waitFor()
  await card(page).getByText('None connected yet').waitFor()

  const { page: third, forgive } = await lab.open('/login', { signedIn: false })
  forgive(/403|Signing in by the provider failed/)
  await companyButton(third).click()
  await lab.passProvider(third, 'ann')
  await third.getByRole('alert').filter({ hasText: 'Company' }).waitFor()
})

it('who is invited comes in by the provider, without a password', async () => {
  const { token } = await lab.invite('dora')
  const visit = await lab.open(`/invite#${token}`, { signedIn: false })
  const { page } = visit
  await page.getByLabel(label('New Password')).waitFor()
  await companyButton(page).waitFor()
  await visit.expectAccessible()
  await companyButton(page).click()
  await lab.passProvider(page, 'bob')
  await isInside(page)
  await page.goto(`${lab.origin}/account`)
  await page.getByRole('region', { name: 'Name and Password' }).getByText('dora', { exact: true }).waitFor()
  await card(page).getByText('bob@example.com', { exact: true }).waitFor()
  // The link is used up.
  const { page: again, forgive } = await lab.open(`/invite#${token}`, { signedIn: false })
  forgive(/404/)
  await again.getByText('This link does not work any more.').waitFor()
})

it('an administrator sees how many accounts a person has connected, and disconnects them', async () => {
  const { token } = await lab.invite('gerd')
  lab.issuer.accounts.set('gerd', { email: 'gerd@example.com', email_verified: true })
  const theirs = await lab.open(`/invite#${token}`, { signedIn: false })
  theirs.forgive(/401|Sign in first/)
  await companyButton(theirs.page).click()
  await lab.passProvider(theirs.page, 'gerd')
  await isInside(theirs.page)
  const { page, expectAccessible } = await lab.open('/login', { signedIn: false })
  await lab.signIn(page)
  await isInside(page)
  await page.goto(`${lab.origin}/people`)
  const row = page.getByRole('row').filter({ hasText: 'gerd' })
  await expect(row).toContainText('1 connected account')
  await expectAccessible()
  await page.getByRole('button', { name: 'Actions for gerd', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Disconnect Providers', exact: true }).click()
  await page.getByText('and they need a new link from you').waitFor()
  await page.getByRole('button', { name: 'Yes, disconnect them!', exact: true }).click()
  await page.getByText('Providers disconnected successfully!').waitFor()
  await expect(row).not.toContainText('connected account')
  await theirs.page.waitForURL('**/login')
})

it('a new password disconnects the providers too, unless they are kept', async () => {
  const { token } = await lab.invite('hugo')
  const password = 'long enough 1'
  await lab.api.call('POST', '/api/invites/accept', { token, password })
  lab.issuer.accounts.set('hugo', { email: 'hugo@example.com', email_verified: true })
  const { page, expectAccessible } = await lab.open('/login', { signedIn: false })
  await lab.signIn(page, 'hugo', password)
  await isInside(page)
  await page.goto(`${lab.origin}/account`)
  const opener = page.getByRole('button', { name: 'Change Password', exact: true })
  await card(page).getByText('None connected yet').waitFor()
  await opener.click()
  await dialog(page).getByLabel('End my API tokens too').waitFor()
  await expect(dialog(page).getByLabel('Disconnect my providers too')).toHaveCount(0)
  await page.keyboard.press('Escape')
  await card(page).getByRole('button', { name: 'Connect Company', exact: true }).click()
  await dialog(page).getByLabel(label('Your Password')).fill(password)
  await dialog(page).getByRole('button', { name: 'Continue' }).click()
  await lab.passProvider(page, 'hugo')
  await card(page).getByText('hugo@example.com', { exact: true }).waitFor()
  await opener.click()
  await expect(dialog(page).getByLabel('Disconnect my providers too')).toBeChecked()
  await expectAccessible()
  await dialog(page).getByLabel(label('Present Password')).fill(password)
  await dialog(page).getByLabel(label('New Password')).fill('a new password')
  await dialog(page).getByLabel(label('The Same Again')).fill('a new password')
  await dialog(page).getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Ended: 1 other session and 1 connected account').waitFor()
  await card(page).getByText('None connected yet').waitFor()
})

it('a link that is opened where somebody is signed in ends that session, and begins its own', async () => {
  const { token } = await lab.invite('emil')
  lab.issuer.accounts.set('emil', { email: 'emil@example.com', email_verified: true })
  const { page } = await lab.open('/login', { signedIn: false })
  await lab.signIn(page)
  await isInside(page)
  await page.goto(`${lab.origin}/invite#${token}`)
  await page.getByText('Somebody is signed in here.').waitFor()
  await companyButton(page).click()
  await lab.passProvider(page, 'emil')
  await isInside(page)
  await page.goto(`${lab.origin}/account`)
  await page.getByRole('region', { name: 'Name and Password' }).getByText('emil', { exact: true }).waitFor()
})

it('where there are neither providers nor connected accounts, the page Account has no card for them', async () => {
  const { page } = await lab.open('/no/such/page')
  const empty = { status: 200, contentType: 'application/json' }
  await page.route('**/api/auth/ways', (route) =>
    route.fulfill({ ...empty, body: JSON.stringify({ providers: [], origin: lab.origin }) }),
  )
  await page.route('**/api/account/identities', (route) => route.fulfill({ ...empty, body: '[]' }))
  await page.goto(`${lab.origin}/account`)
  await page.getByRole('region', { name: 'Sessions' }).getByText('This session').waitFor()
  await expect(card(page)).toHaveCount(0)
})
