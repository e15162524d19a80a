import { startNameServer } from '@postern/testkit/fakes/name-server'
import { shared } from '@postern/testkit/shared'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, type Site, startSite } from '../harness.ts'

let site: Site

const dns = shared(() => startNameServer())
beforeAll(async () => {
  dns.answers.set('elsewhere.example.com', ['198.51.100.9'])
  site = await startSite({ POSTERN_DNS_SERVERS: dns.address, POSTERN_PUBLIC_HOST: '' })
})
afterAll(async () => {
  await site?.close()
})

async function openForm(page: Page, title: string): Promise<Locator> {
  await page.getByRole('button', { name: `Edit ${title}` }).click()
  return page.getByRole('dialog', { name: title })
}
const save = (form: Locator) => form.getByRole('button', { name: 'Save' }).click()
const card = (page: Page, title: string) => page.getByRole('region', { name: title })

it('shows all settings, and those of the environment as locked, on every screen', async () => {
  const visit = await site.open('/nodes')
  const { page } = visit
  await page.getByRole('link', { name: 'Settings' }).click()
  await expect(page).toHaveTitle('Settings · Postern')
  await card(page, 'Certificate Authority')
    .getByText('Set by POSTERN_ACME_DIRECTORY in the environment')
    .waitFor()
  await card(page, 'Set When Postern Starts').getByText('32660-32760').waitFor()
  await visit.expectAccessible()
  const form = await openForm(page, 'Certificate Authority')
  await expect(form.getByLabel('ACME Directory')).toBeDisabled()
  await expect(form.getByLabel('ACME Directory')).toHaveValue('https://127.0.0.1:9/directory')
  await expect(form.getByLabel('E-Mail Address')).toBeEnabled()
  await visit.expectAccessible()
  await form.getByRole('button', { name: 'Cancel' }).click()
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
})

it('changes a value, with the server’s rule at its field, and gives it back', async () => {
  const { page, forgive } = await site.open('/settings', { width: 390 })
  forgive(/Validation failed/)
  const form = await openForm(page, 'Kept Requests')
  await expect(form.getByLabel('Days')).toHaveAttribute('placeholder', '7')
  await form.getByLabel('Days').fill('400')
  await save(form)
  await form.getByText('must be a number from 0 to 366').waitFor()
  await form.getByLabel('Days').fill('3')
  await save(form)
  await page.getByText('Settings updated successfully!').waitFor()
  await expect(card(page, 'Kept Requests').locator('dd').first()).toHaveText('3')
  const again = await openForm(page, 'Kept Requests')
  await again.getByLabel('Days').fill('')
  await save(again)
  await expect(card(page, 'Kept Requests').locator('dd').first()).toHaveText('7Default')
})

it('marks what another person changed meanwhile', async () => {
  const { page, forgive } = await site.open('/settings')
  forgive(/409|The form was not saved/)
  const form = await openForm(page, 'Kept Requests')
  await form.getByLabel('Days').fill('4')
  expect((await site.api.call('PATCH', '/api/settings', { POSTERN_REQUESTS_DAYS: '5' })).status).toBe(200)
  await save(form)
  await form.getByRole('button', { name: 'Use theirs: 5' }).click()
  await expect(form.getByLabel('Days')).toHaveValue('5')
})

it('asks before it takes a name that does not lead here, and keeps the previous one until somebody ends it', async () => {
  const visit = await site.open('/settings')
  const { page } = visit
  visit.forgive(/422|The form was not saved/)
  const change = async (name: string) => {
    const form = await openForm(page, 'Public Name')
    await form.getByLabel(label('Public Name')).fill(name)
    await save(form)
    await page.getByRole('button', { name: 'Yes, change it!' }).click()
    return form
  }
  const form = await change('elsewhere.example.com')
  await form.getByText('elsewhere.example.com points to 198.51.100.9 (A)').waitFor()
  await form.getByLabel('Use This Name Anyway').check()
  await visit.expectAccessible()
  await save(form)
  await page.getByRole('button', { name: 'Yes, change it!' }).click()
  await card(page, 'Public Name').getByText('elsewhere.example.com').waitFor()

  const next = { POSTERN_PUBLIC_HOST: 'next.example.com', confirmPublicHost: true }
  expect((await site.api.call('PATCH', '/api/settings', next)).status).toBe(200)
  await card(page, 'Public Name').getByText('Also Answers At').waitFor()
  await visit.expectAccessible()
  await page.getByRole('button', { name: 'Stop answering at elsewhere.example.com' }).click()
  await page.getByRole('button', { name: 'Yes, stop it!' }).click()
  await card(page, 'Public Name').getByText('Also Answers At').waitFor({ state: 'detached' })
})
