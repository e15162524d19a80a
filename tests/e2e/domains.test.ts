import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fake-edge'
import type { Page } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from './expect.ts'
import { label, type Site, startSite } from './harness.ts'

let site: Site
let edge: FakeEdge

beforeAll(async () => {
  site = await startSite()
  edge = await connectFakeEdge(site.paths)
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

it('adds a domain that does not point here yet, once the look-up is skipped', async () => {
  const visit = await site.open('/domains')
  const { page } = visit
  visit.forgive(/422|The form was not saved/)
  await page.getByText('No domains yet').waitFor()
  await visit.expectAccessible()
  await page.getByRole('button', { name: 'Add Domain' }).first().click()
  const form = page.getByRole('dialog', { name: 'Domain & SSL Settings' })
  await expect(form.getByLabel('Skip Domain Validation')).toHaveCount(0)
  await form.getByLabel(label('Domain')).fill('not a domain')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('The domain must be in a valid format').waitFor()
  await form.getByLabel(label('Domain')).fill('App.Example.com')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByLabel('Skip Domain Validation').check()
  await visit.expectAccessible()
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Domain created successfully!').waitFor()
  const link = page.getByRole('link', { name: 'app.example.com' })
  await expect(link).toHaveAttribute('href', 'https://app.example.com')
  await row(page, 'app.example.com').getByText('Self Signed').waitFor()
  visit.expectNoComplaints()
  await visit.close()
})

it('shows the services of a domain in its expanded row, and refuses to delete it while they are there', async () => {
  const node = await site.api.createNode({ name: 'office' })
  await site.api.publish(node.id, { name: 'shop-front', domain: 'shop.example.com' })
  await site.api.createDomain({ domain: 'unused.example.com' })
  const visit = await site.open('/domains')
  const { page } = visit
  visit.forgive(/409/)
  await row(page, 'shop.example.com')
    .getByRole('button', { name: /services|expand|show/i })
    .click()
  await page.getByText('shop-front').waitFor()
  await visit.expectAccessible()
  await act(page, 'shop.example.com', 'Delete Domain')
  await page.getByRole('button', { name: /^Yes/ }).click()
  await page
    .getByText(/shop-front/)
    .nth(1)
    .waitFor()
  await page.keyboard.press('Escape')
  await act(page, 'unused.example.com', 'Delete Domain')
  await page.getByRole('button', { name: /^Yes/ }).click()
  await page.getByText('Domain deleted successfully!').waitFor()
  await row(page, 'unused.example.com').waitFor({ state: 'detached' })
  visit.expectNoComplaints()
  await visit.close()
})

it('finds domains by text', async () => {
  await site.api.createDomain({ domain: 'needle.example.com' })
  const visit = await site.open('/domains')
  const { page } = visit
  await row(page, 'needle.example.com').waitFor()
  await page.getByRole('searchbox').fill('NEEDLE')
  await row(page, 'shop.example.com').waitFor({ state: 'detached' })
  await row(page, 'needle.example.com').waitFor()
  visit.expectNoComplaints()
  await visit.close()
})

function row(page: Page, domain: string) {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name: domain }) })
}

async function act(page: Page, domain: string, item: string): Promise<void> {
  await row(page, domain)
    .getByRole('button', { name: `Actions for ${domain}` })
    .click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}
