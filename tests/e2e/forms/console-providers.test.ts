import { shared } from '@postern/testkit/shared'
import type { Locator, Page } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, type Visit } from '../harness.ts'
import { startProviderLab } from '../provider-lab.ts'
import { choose, expectClipboard, rowOf } from '../steps.ts'

const lab = shared(() => startProviderLab())

const card = (page: Page) => page.getByRole('region', { name: 'Sign-In of the Console' })
const dialog = (page: Page) => page.getByRole('dialog')
const save = (form: Locator) => form.getByRole('button', { name: 'Save' }).click()

async function openCard(): Promise<Visit> {
  const visit = await lab.open('/login', { signedIn: false })
  await lab.signIn(visit.page)
  await visit.page.waitForURL(`${lab.origin}/`)
  await visit.page.goto(`${lab.origin}/settings`)
  await card(visit.page).getByText('Redirect Address').waitFor()
  return visit
}

async function fillIn(form: Locator, name: string): Promise<void> {
  await form.getByLabel(label('Name')).fill(name)
  await form.getByLabel(label('Provider')).fill(lab.issuer.url)
  await form.getByLabel(label('Client ID')).fill(lab.issuer.clientId)
  await form.getByLabel(label('Client Secret')).fill(lab.issuer.clientSecret)
}

async function tryAs(page: Page, account: string): Promise<void> {
  const [tab] = await Promise.all([
    page.waitForEvent('popup'),
    dialog(page).getByRole('button', { name: 'Try', exact: true }).click(),
  ])
  await lab.passProvider(tab, account)
  await tab.getByText('The test is over').waitFor()
  await tab.close()
}

it('a provider is tried before it is saved, and a click on what it says makes the rules', async () => {
  const visit = await openCard()
  const { page } = visit
  await card(page).getByText('No providers yet').waitFor()
  await card(page).getByRole('button', { name: 'Add Provider' }).click()
  const form = dialog(page)
  await fillIn(form, 'Company')
  await form.getByRole('button', { name: 'Copy redirect address' }).click()
  await expectClipboard(page, `${lab.origin}/.postern/callback`)
  await form.getByText('Make Accounts on First Sign-In').click()
  await tryAs(page, 'ann')
  await form.getByText('No rule fits: nobody without an account gets in.').waitFor()
  await form.getByText('ann@example.com', { exact: true }).waitFor()
  await visit.expectAccessible()
  await form.getByRole('button', { name: 'Add a rule: groups is staff' }).click()
  await form.getByText('Rule 1 gives Viewer.').waitFor()
  await form.getByLabel('Role of rule 1').selectOption({ label: 'Editor' })
  await form.getByText('Rule 1 gives Editor.').waitFor()
  await form.getByRole('button', { name: 'Add a rule: groups is admins' }).click()
  await form.getByLabel('Role of rule 2').selectOption({ label: 'Administrator' })
  await form.getByText('Rule 1 gives Editor.').waitFor()
  // The order counts.
  await form.getByRole('button', { name: 'Move rule 2 up' }).click()
  await form.getByText('Rule 1 gives Administrator.').waitFor()
  await expect(form.getByLabel('Value of rule 1')).toHaveValue('admins')
  // An unfinished rule in front of the others changes nothing but their places.
  await form.getByLabel('Value of rule 1').fill('')
  await form.getByText('Rule 2 gives Editor.').waitFor()
  await form.getByLabel('Value of rule 1').fill('admins')
  await visit.expectAccessible()
  await save(form)
  await page.getByText('Provider added successfully!').waitFor()
  const row = rowOf(page, 'Company')
  await row.getByText('Made on first sign-in').waitFor()
  await row.getByText('2 rules').waitFor()
  await visit.expectAccessible()
})

it('the stored secret is kept, also for a trial, and errors are at their fields', async () => {
  const visit = await openCard()
  const { page, forgive } = visit
  forgive(/422|Validation failed|not saved/)
  await choose(page, 'Actions for provider Company', 'Edit')
  const form = dialog(page)
  await expect(form.getByLabel('Client Secret')).toHaveValue('Stored')
  await tryAs(page, 'eve')
  await form.getByText('No rule fits: nobody without an account gets in.').waitFor()
  await form.getByLabel(label('Provider')).fill('nothing of the kind')
  await form.getByLabel(label('Name')).fill('The Company')
  const popups: unknown[] = []
  page.on('popup', (popup) => popups.push(popup))
  await form.getByRole('button', { name: 'Try', exact: true }).click()
  await expect(form.getByLabel(label('Provider'))).toHaveAttribute('aria-invalid', 'true')
  expect(popups).toEqual([])
  await form.getByLabel(label('Provider')).fill(lab.issuer.url)
  await form.getByRole('button', { name: 'Remove rule 2' }).click()
  await form.getByRole('button', { name: 'Remove rule 1' }).click()
  await save(form)
  await form.getByText('Add a rule: without one, nobody would get an account.').waitFor()
  await form.getByText('Make Accounts on First Sign-In').click()
  await save(form)
  await page.getByText('Provider updated successfully!').waitFor()
  await rowOf(page, 'The Company').getByText('Invited people only').waitFor()
  await choose(page, 'Actions for provider The Company', 'Edit')
  await form.getByLabel(label('Name')).fill('Company')
  await save(form)
  await rowOf(page, 'Company').waitFor()
})

it('a wrong secret is told at the trial, in the provider’s words', async () => {
  const { page } = await openCard()
  await choose(page, 'Actions for provider Company', 'Edit')
  const form = dialog(page)
  await form.getByRole('button', { name: 'Replace' }).click()
  await form.getByLabel(label('Client Secret')).fill('wrong')
  await tryAs(page, 'ann')
  await form.getByText(/invalid_client|client authentication/i).waitFor()
  await form.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Discard' }).click()
})

it('passwords are switched off but for one administrator, whose word is the way back', async () => {
  const { token, id } = await lab.invite('frank', 'admin')
  const accept = { token, password: 'long enough 1' }
  await lab.api.call('POST', '/api/invites/accept', accept)
  const visit = await openCard()
  const { page } = visit
  await card(page).getByRole('button', { name: 'Edit Password Sign-In' }).click()
  await dialog(page).getByLabel('May Sign In by Password').selectOption({ label: 'Only admin' })
  await dialog(page).getByText('npm run password').waitFor()
  await visit.expectAccessible()
  await save(dialog(page))
  await page.getByText('Password sign-in updated successfully!').waitFor()
  await card(page).getByText('Only admin', { exact: true }).waitFor()

  const { page: frank, forgive } = await lab.open('/login', { signedIn: false })
  forgive(/403|401|Signing in failed/)
  await lab.signIn(frank, 'frank', 'wrong')
  await frank.getByText('Invalid Credentials').waitFor()
  await lab.signIn(frank, 'frank', accept.password)
  await frank.getByText('Passwords are switched off here. Sign in by Company or a passkey.').waitFor()
  await lab.signIn(frank)
  await frank.waitForURL(`${lab.origin}/`)

  // A link leads to the providers only.
  const invited = await lab.invite('gina')
  const { page: gina } = await lab.open(`/invite#${invited.token}`, { signedIn: false })
  await gina.getByRole('button', { name: 'Continue with Company' }).waitFor()
  await expect(gina.getByLabel(label('New Password'))).toHaveCount(0)

  await card(page).getByRole('button', { name: 'Edit Password Sign-In' }).click()
  await dialog(page).getByLabel('May Sign In by Password').selectOption({ label: 'Everybody' })
  await save(dialog(page))
  await card(page).getByText('Everybody', { exact: true }).waitFor()
  await lab.api.call('DELETE', `/api/people/${id}`)
})

it('deleting a provider says what it means', async () => {
  const visit = await openCard()
  const { page } = visit
  await choose(page, 'Actions for provider Company', 'Delete')
  await page.getByText('No account is connected with it.').waitFor()
  await visit.expectAccessible()
  await page.getByRole('button', { name: 'Yes, delete it!' }).click()
  await page.getByText('Provider deleted successfully!').waitFor()
  await card(page).getByText('No providers yet').waitFor()
})
