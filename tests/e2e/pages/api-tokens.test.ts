import { callApi } from '@postern/testkit/api'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { rowOf } from '../steps.ts'

const site = shared(startSite)
let nodeId: number
beforeAll(async () => {
  nodeId = (await site.api.createNode({ name: 'workshop' })).id
})

const cardOf = (page: Page) => page.getByRole('region', { name: 'API Tokens' })
const ask = (token: string, path: string) => callApi(site.paths.serverSocket, token, 'GET', path)

async function openForm(page: Page) {
  await cardOf(page).getByRole('button', { name: 'Add Token' }).first().click()
  const form = page.getByRole('dialog', { name: 'API Token', exact: true })
  await form.waitFor()
  return form
}

it('a token is made for chosen nodes, shown once, used, revoked and deleted', async () => {
  const { page, expectAccessible } = await site.open('/account')
  const form = await openForm(page)
  await expect(form.getByLabel('Expires')).toHaveValue(/^\d\d\/\d\d\/\d{4}$/)
  await form.getByLabel(label('Name')).fill('dashboard')
  await form.getByLabel('Sees').selectOption('Chosen nodes and domains')
  await form.getByRole('combobox', { name: 'Node 1' }).fill('workshop')
  await page.getByRole('option', { name: /^workshop/ }).click()
  await expectAccessible()
  await form.getByLabel(label('Your Password')).fill(site.password)
  await form.getByRole('button', { name: 'Save' }).click()
  const shown = page.getByRole('dialog', { name: 'New API Token' })
  const field = shown.getByLabel('API token', { exact: true })
  await expect(field).toHaveValue(/^pta_[\w-]{43}$/)
  const token = await field.inputValue()
  await expectAccessible()
  await shown.getByRole('button', { name: 'Got it!' }).click()
  await expect(shown).toBeHidden()
  expect((await ask(token, '/api/auth/me')).json).toMatchObject({
    role: 'viewer',
    reach: { nodes: [nodeId], domains: [] },
  })
  await page.reload()
  const row = rowOf(page, 'dashboard')
  await expect(row).toContainText('Viewer')
  await expect(row).toContainText('1 node, 0 domains')
  await expect(row).toContainText('Active')
  expect(await page.content()).not.toContain(token)
  await row.getByRole('button', { name: 'Actions for API token dashboard' }).click()
  await page.getByRole('menuitem', { name: 'Revoke' }).click()
  await page.getByRole('button', { name: 'Yes, revoke it!' }).click()
  await expect(row).toContainText('Revoked')
  expect((await ask(token, '/api/auth/me')).status).toBe(403)
  await row.getByRole('button', { name: 'Actions for API token dashboard' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Yes, delete it!' }).click()
  await cardOf(page).getByText('No API Tokens yet').waitFor()
})

it('what is wrong with it is said at its field', async () => {
  const { page, forgive } = await site.open('/account')
  forgive(/422|The token could not be created/)
  const form = await openForm(page)
  await form.getByLabel('Expires').fill('01/01/2098')
  await form.getByLabel(label('Name')).fill('too long')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Choose a day within a year.').waitFor()
  await form.getByLabel('Expires').fill('')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('This field is required').waitFor()
  await form.getByLabel(label('Your Password')).fill('not this one')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('The password is not right.').waitFor()
})

it.each([
  [1440, 'light'],
  [390, 'dark'],
] as const)('the card fits %s px in %s', async (width, scheme) => {
  const nightly = { name: 'nightly backup of everything', role: 'viewer', password: site.password }
  await site.api.call('POST', '/api/tokens', nightly)
  const { page, expectAccessible } = await site.open('/account', { width, scheme })
  await rowOf(page, 'nightly backup of everything').first().waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  await expectAccessible()
})
