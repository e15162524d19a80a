import type { InvitedPerson, Person } from '@postern/contract/people/people'
import { callApi } from '@postern/testkit/api'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'

const site = shared(() => startSite())

const PASSWORD = 'long enough 1'

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
async function act(page: Page, name: string, what: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: what }).click()
}
const accept = (page: Page, words: string) => page.getByRole('button', { name: words }).click()

/** The address of the shown link, at the console that this test has open. */
async function linkOf(page: Page): Promise<string> {
  const link = await page.getByLabel('Link', { exact: true }).inputValue()
  expect(link).toMatch(/^https:\/\/203\.0\.113\.1\/invite#pti_[\w-]{43}$/)
  return new URL(link).pathname + new URL(link).hash
}

async function choosePassword(page: Page, password: string): Promise<void> {
  await page.getByLabel(label('New Password')).fill(password)
  await page.getByLabel(label('The Same Again')).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function addPerson(username: string, role = 'viewer'): Promise<InvitedPerson> {
  const invited = (await site.api.call('POST', '/api/people', { username, role })).json as InvitedPerson
  await site.api.call('POST', '/api/invites/accept', { token: invited.token, password: PASSWORD })
  return invited
}

async function signIn(page: Page, username: string, password = PASSWORD): Promise<void> {
  await page.getByLabel(label('Username')).fill(username)
  await page.getByLabel(label('Password')).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

it('an invited editor comes in by the link in another browser, and has no page of people', async () => {
  const { id: node } = await site.api.createNode({ name: 'workshop' })
  await site.api.createDomain({ domain: 'shop.example.com' })
  const { page } = await site.open('/nodes')
  await page.getByRole('link', { name: 'People' }).click()
  await expect(page).toHaveTitle('People · Postern')
  await page.getByRole('button', { name: 'Invite' }).click()
  const form = page.getByRole('dialog', { name: 'Invite' })
  await form.getByLabel(label('Name')).fill('ann')
  await form.getByLabel('Sees').selectOption('Chosen nodes and domains')
  await form.getByRole('combobox', { name: 'Node 1' }).fill('work')
  await page.getByRole('option', { name: /workshop/ }).click()
  await form.getByRole('button', { name: 'Add Domain' }).click()
  await form.getByRole('combobox', { name: 'Domain 1' }).fill('shop')
  await page.getByRole('option', { name: 'shop.example.com' }).click()
  await form.getByRole('button', { name: 'Save' }).click()
  const path = await linkOf(page)
  await page.getByRole('dialog', { name: 'Invitation' }).getByRole('button', { name: 'Close' }).last().click()
  await expect(row(page, 'ann')).toContainText('Invited')
  await expect(row(page, 'ann')).toContainText('workshop and shop.example.com')
  const other = await site.open(path, { signedIn: false })
  // The state of the edges is not theirs to see.
  other.forgive(/403|about the whole installation/)
  await other.page.getByText('You were invited as an editor.').waitFor()
  await expect(other.page.getByLabel('Username')).toHaveValue('ann')
  await choosePassword(other.page, PASSWORD)
  await other.page.getByRole('link', { name: 'Your account' }).waitFor()
  expect(new URL(other.page.url()).pathname).toBe('/')
  await expect(other.page.getByRole('link', { name: 'People' })).toHaveCount(0)
  await other.page.getByRole('link', { name: 'Your account' }).click()
  await other.page.getByText('1 node and 1 domain').waitFor()
  await expect(row(page, 'ann')).toContainText('Active')
  const people = (await site.api.call('GET', '/api/people')).json as Person[]
  expect(people.find(({ username }) => username === 'ann')?.reach?.nodes).toEqual([node])
})

it('a link that was used says so, and what is wrong with a password stands below it', async () => {
  const { token } = (await site.api.call('POST', '/api/people', { username: 'ben', role: 'viewer' }))
    .json as InvitedPerson
  const visit = await site.open(`/invite#${token}`, { signedIn: false })
  visit.forgive(/404|Validation failed|could not be read|was not accepted/)
  const { page } = visit
  await choosePassword(page, 'short')
  await page.getByText('must have at least 8 characters').waitFor()
  await page.getByLabel(label('New Password')).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('The two are different. Type the same password.').waitFor()
  await site.api.call('POST', '/api/invites/accept', { token, password: PASSWORD })
  await choosePassword(page, PASSWORD)
  await page.getByText('This link does not work any more.').waitFor()
  await page.getByRole('link', { name: 'Go to the sign-in' }).click()
  await page.waitForURL('**/login')
})

it('whoever is disabled is on the sign-in page within two seconds, and comes back when enabled', async () => {
  await addPerson('carl')
  const { page } = await site.open('/people')
  const other = await site.open('/login', { signedIn: false })
  other.forgive(/401|Sign in first|Invalid Credentials/)
  await signIn(other.page, 'carl')
  await other.page.locator('.sync').first().waitFor()
  await act(page, 'carl', 'Disable')
  const begun = Date.now()
  await accept(page, 'Yes, disable!')
  await other.page.waitForURL('**/login')
  // Two seconds are promised; a busy machine gets five times that.
  expect(Date.now() - begun).toBeLessThan(10_000)
  await expect(row(page, 'carl')).toContainText('Disabled')
  await signIn(other.page, 'carl')
  await other.page.getByText('Invalid Credentials').waitFor()
  await act(page, 'carl', 'Enable')
  await accept(page, 'Yes, enable!')
  await expect(row(page, 'carl')).toContainText('Active')
  await signIn(other.page, 'carl')
  await other.page.getByRole('link', { name: 'Your account' }).waitFor()
})

it('an administrator sees how many API tokens a person has, and ends them', async () => {
  await addPerson('dora')
  const form = { username: 'dora', password: PASSWORD }
  const { token } = (await site.api.call('POST', '/api/auth/login', form)).json as { token: string }
  const call = (who: string, method: string, path: string, body?: object) =>
    callApi(site.paths.serverSocket, who, method, path, body)
  const wanted = { name: 'script', role: 'viewer', password: PASSWORD }
  const program = (await call(token, 'POST', '/api/tokens', wanted)).json as { token: string }
  const { page, expectAccessible } = await site.open('/people')
  await expect(row(page, 'dora')).toContainText('1 API token')
  await expectAccessible()
  await act(page, 'dora', 'End API Tokens')
  await page.getByText('are refused from their next request on').waitFor()
  await accept(page, 'Yes, end them!')
  await expect(row(page, 'dora')).not.toContainText('API token')
  expect((await call(program.token, 'GET', '/api/auth/me')).status).toBe(403)
})

it('a link for a new password replaces the old one and ends the sessions when it is used', async () => {
  await addPerson('dora')
  const { page } = await site.open('/people')
  const other = await site.open('/login', { signedIn: false })
  other.forgive(/401|Sign in first|Invalid Credentials/)
  await signIn(other.page, 'dora')
  await other.page.locator('.sync').first().waitFor()
  await act(page, 'dora', 'New Password')
  const path = await linkOf(page)
  const third = await site.open(path, { signedIn: false })
  await third.page.getByRole('heading', { name: 'New password' }).waitFor()
  await choosePassword(third.page, 'another password')
  await third.page.getByRole('link', { name: 'Your account' }).waitFor()
  await other.page.waitForURL('**/login')
  await signIn(other.page, 'dora')
  await other.page.getByText('Invalid Credentials').waitFor()
})

it('another role is in force at once, and the last administrator stays', async () => {
  const { id } = await addPerson('emil', 'admin')
  const visit = await site.open('/people')
  visit.forgive(/409|The form was not saved/)
  const { page } = visit
  await act(page, 'emil', 'Edit')
  await page.getByLabel('Role').selectOption('Viewer')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Person updated successfully!').waitFor()
  await expect(row(page, 'emil')).toContainText('Viewer')
  const person = (await site.api.call('GET', `/api/people/${id}`)).json as Person
  expect(person.role).toBe('viewer')
  await act(page, 'admin', 'Disable')
  await page.getByText('This is you.').waitFor()
  await accept(page, 'Yes, disable!')
  await page.getByText(/Nobody else could administer the installation/).waitFor()
  await page.keyboard.press('Escape')
  await act(page, 'emil', 'Delete')
  await accept(page, 'Yes, delete it!')
  await expect(row(page, 'emil')).toHaveCount(0)
})

it('a name that somebody has is refused at the field', async () => {
  const visit = await site.open('/people')
  visit.forgive(/409|The form was not saved/)
  const { page } = visit
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByLabel(label('Name')).fill('ADMIN')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Somebody has this name already. Choose another one.').waitFor()
})
