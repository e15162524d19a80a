import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fake-edge'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from './expect.ts'
import { label, type Site, startSite } from './harness.ts'
import { choose } from './steps.ts'

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

it('sorts domains by name and by the day they were made, each both ways', async () => {
  for (const domain of ['b.sorted.test', 'c.sorted.test', 'a.sorted.test'])
    await site.api.createDomain({ domain })
  const visit = await site.open('/domains?search=sorted.test')
  const { page } = visit
  const names = page.getByRole('row').getByRole('link')
  await expect(names).toHaveText(['a.sorted.test', 'b.sorted.test', 'c.sorted.test'])
  for (const [column, address, order, direction] of [
    ['Domain', 'domain%2Casc', 'abc', 'ascending'],
    ['Domain', 'domain%2Cdesc', 'cba', 'descending'],
    ['Created At', 'created_at%2Casc', 'bca', 'ascending'],
    ['Created At', 'created_at%2Cdesc', 'acb', 'descending'],
  ] as const) {
    await page.getByRole('button', { name: column, exact: true }).click()
    await page.waitForURL(`**/domains?search=sorted.test&orderBy=${address}`)
    await expect(names).toHaveText([...order].map((letter) => `${letter}.sorted.test`))
    await expect(page.getByRole('columnheader', { name: column })).toHaveAttribute('aria-sort', direction)
  }
  await page.reload()
  await expect(names).toHaveText(['a.sorted.test', 'c.sorted.test', 'b.sorted.test'])
  visit.expectNoComplaints()
  await visit.close()
})

it.each([
  ['HTTP', 'Public Domain'],
  ['TCP', 'Public Domain (Optional)'],
])(
  'the %s form asks for domains once typing pauses, offers the first 20, takes any name',
  async (type, field) => {
    const names = Array.from({ length: 25 }, (_, index) => `h${index + 10}.${type.toLowerCase()}.test`)
    for (const domain of names) await site.api.createDomain({ domain })
    const visit = await site.open('/nodes')
    const { page } = visit
    await choose(page, 'Actions for Local', `Expose ${type}`)
    const domain = page.getByLabel(field, { exact: true })
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/api/domains')
        asked.push(`${searchParams.get('limit')} ${searchParams.get('search')}`)
    })
    await domain.click()
    await typeAtOnce(domain, `.${type}.TEST`)
    const options = page.getByRole('option')
    await expect(options).toHaveText(names.slice(0, 20))
    const searches = () => new Set(asked.filter((query) => query !== '20 null'))
    await expect.poll(searches).toEqual(new Set([`20 .${type}.TEST`]))
    await domain.fill(`h33.${type}`)
    await expect(options).toHaveText([`${names[23]}`])
    await options.click()
    await expect(domain).toHaveValue(`${names[23]}`)
    await domain.fill(`h99.${type}.test`)
    await page.getByText('No match. This will be added as a new domain.').waitFor()
    visit.expectNoComplaints()
    await visit.close()
  },
)

/** Types key by key, so fast that no time passes. */
async function typeAtOnce(field: Locator, text: string): Promise<void> {
  await field.evaluate(async (input, value) => {
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set
    for (let end = 1; end <= value.length; end++) {
      setter?.call(input, value.slice(0, end))
      input.dispatchEvent(new Event('input', { bubbles: true }))
      // What the page does at once it does now; no timer runs before the last key.
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    }
  }, text)
}

function row(page: Page, domain: string) {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name: domain }) })
}

async function act(page: Page, domain: string, item: string): Promise<void> {
  await row(page, domain)
    .getByRole('button', { name: `Actions for ${domain}` })
    .click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}
