import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { startNameServer } from '@postern/testkit/fakes/name-server'
import { shared } from '@postern/testkit/shared'
import type { Locator, Page } from 'playwright'
import { beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, menuItems } from '../steps.ts'

const dns = shared(() => startNameServer())
const site = shared(() => startSite({ POSTERN_DNS_SERVERS: dns.address }))
shared(() => connectFakeEdge(site.paths))
beforeAll(() => {
  dns.answers.set('here.example.com', ['203.0.113.1'])
  dns.answers.set('office.example.com', ['192.168.7.20'])
})

const openForm = async (page: Page) => {
  await page.getByRole('button', { name: 'Add Domain' }).first().click()
  return page.getByRole('dialog', { name: 'Domain & SSL Settings' })
}
const save = (form: Locator) => form.getByRole('button', { name: 'Save' }).click()
const nameOf = (form: Locator) => form.getByLabel(label('Domain'))
const skipOf = (form: Locator) => form.getByLabel('Skip Domain Validation')
const kindOf = (form: Locator) => form.getByLabel('SSL Certificate Type')

it('without domains says so and offers to add one', async () => {
  const visit = await site.open('/domains')
  const { page } = visit
  await expect(page).toHaveTitle('Domains · Postern')
  await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor()
  await page.getByText('No domains yet').waitFor()
  await expect(page.getByRole('button', { name: 'Add Domain' })).toHaveCount(2)
  await visit.expectAccessible()
})

it('without a provider says why nobody can sign in to a domain, and how to set one up', async () => {
  const visit = await site.open('/domains/test-sign-in')
  const { page } = visit
  await page.getByText('No provider is set up').waitFor()
  await page.getByText('https://203.0.113.1/.postern/callback').waitFor()
  await visit.expectAccessible()
  await page.getByRole('link', { name: 'Domains', exact: true }).click()
  const form = await openForm(page)
  await expect(form.getByLabel('Enable OAuth2 Authentication')).toBeDisabled()
  await form.getByText('No provider is set up yet.').waitFor()
  await expect(form.getByRole('link', { name: 'How to set one up' })).toHaveAttribute('href', '/docs/sign-in')
  await expect(form.getByRole('link', { name: 'Test Sign-in' })).toHaveCount(0)
})

it('checks the name as the specification says', async () => {
  const { page, forgive } = await site.open('/domains')
  forgive(/422|The form was not saved|Validation failed/)
  const form = await openForm(page)
  await form.getByText('Set up a domain pointing to Postern').waitFor()
  await expect(skipOf(form)).toHaveCount(0)
  await save(form)
  await form.getByText('The domain field is required').waitFor()
  for (const name of ['not a domain', 'localhost', '203.0.113.1', 'a_b.example.com', 'example.c']) {
    await nameOf(form).fill(name)
    await save(form)
    await form.getByText('The domain must be in a valid format').waitFor()
    await nameOf(form).fill('x.example.com')
    await form.getByText('The domain must be in a valid format').waitFor({ state: 'detached' })
  }
})

it("offers Self Signed first, and Let's Encrypt", async () => {
  const visit = await site.open('/domains')
  const form = await openForm(visit.page)
  await expect(kindOf(form)).toHaveValue('self-signed')
  await expect(kindOf(form).getByRole('option')).toHaveText(['Self Signed', "Let's Encrypt"])
  const values = kindOf(form)
    .getByRole('option')
    .evaluateAll((all) => all.map((one) => one.getAttribute('value')))
  expect(await values).toEqual(['self-signed', 'certbot'])
})

it('adds a domain that points here, with a certificate on order', async () => {
  const visit = await site.open('/domains')
  const { page } = visit
  const form = await openForm(page)
  await nameOf(form).fill('Here.Example.com')
  await kindOf(form).selectOption("Let's Encrypt")
  await visit.expectAccessible()
  const request = page.waitForRequest((asked) => asked.method() === 'POST')
  await save(form)
  expect((await request).postDataJSON()).toEqual({
    domain: 'here.example.com',
    ssl: 'certbot',
    skipValidation: false,
    authentication: false,
    allowedEmails: [],
    edges: null,
  })
  await page.getByText('Domain created successfully!').waitFor()
  await row(page, 'here.example.com').getByText("Let's Encrypt").waitFor()
})

it('adds a domain that does not point here yet, once the check is skipped', async () => {
  const visit = await site.open('/domains')
  const { page } = visit
  visit.forgive(/422|The form was not saved/)
  const form = await openForm(page)
  await nameOf(form).fill('App.Example.com')
  await kindOf(form).selectOption('certbot')
  await save(form)
  const error = form.getByText('app.example.com has no DNS record. Point it to 203.0.113.1.')
  await error.waitFor()
  await expect(kindOf(form)).toBeEnabled()
  await skipOf(form).check()
  await expect(error).toHaveCount(0)
  await expect(kindOf(form)).toBeDisabled()
  await expect(kindOf(form)).toHaveValue('self-signed')
  await form.getByText('Self-Signed when skipping domain validation').waitFor()
  await visit.expectAccessible()
  await save(form)
  await page.getByText('Domain created successfully!').waitFor()
  const link = page.getByRole('link', { name: 'app.example.com' })
  await expect(link).toHaveAttribute('href', 'https://app.example.com')
  await row(page, 'app.example.com').getByText('Self Signed').waitFor()
  await row(page, 'app.example.com').getByText('validation skipped').waitFor()
})

it('says what is wrong with each wrong address', async () => {
  const visit = await site.open('/domains')
  visit.forgive(/422|The form was not saved/)
  const form = await openForm(visit.page)
  await nameOf(form).fill('office.example.com')
  await save(form)
  await form
    .getByText(
      'office.example.com points to 192.168.7.20 (A), a private address that visitors cannot reach. Point it to 203.0.113.1.',
    )
    .waitFor()
})

it('edits a domain: the box stays while it is ticked', async () => {
  const { id } = await site.api.createDomain({ domain: 'later.example.com' })
  const { page, forgive } = await site.open('/domains?search=later')
  forgive(/422|The form was not saved/)
  await choose(page, 'Actions for later.example.com', 'Edit Domain')
  const form = page.getByRole('dialog', { name: 'Domain & SSL Settings' })
  await expect(skipOf(form)).toBeChecked()
  await expect(kindOf(form)).toBeDisabled()
  // It disappears at once.
  await skipOf(form).click()
  await expect(skipOf(form)).toHaveCount(0)
  await expect(kindOf(form)).toBeEnabled()
  await save(form)
  await form.getByText('later.example.com has no DNS record.').waitFor()
  await expect(skipOf(form)).toBeVisible()
  dns.answers.set('later.example.com', ['203.0.113.1'])
  await kindOf(form).selectOption('certbot')
  const request = page.waitForRequest((asked) => asked.method() === 'PATCH')
  await save(form)
  expect(new URL((await request).url()).pathname).toBe(`/api/domains/${id}`)
  await page.getByText('Domain updated successfully!').waitFor()
  await row(page, 'later.example.com').getByText("Let's Encrypt").waitFor()
})

it('renames a domain once a person has read what changes with it', async () => {
  const { id } = await site.api.createDomain({ domain: 'before.example.com' })
  await site.api.publish(1, {
    name: 'wiki',
    domain: 'before.example.com',
    backendHost: '127.0.0.1',
    backendPort: 9,
  })
  const visit = await site.open('/domains?search=before')
  const { page } = visit
  visit.forgive(/422|The form was not saved/)
  await choose(page, 'Actions for before.example.com', 'Edit Domain')
  const form = page.getByRole('dialog', { name: 'Domain & SSL Settings' })
  await nameOf(form).fill('after.example.com')
  await skipOf(form).click()
  await save(form)
  const question = page.getByRole('alertdialog', { name: 'Rename domain' })
  await question
    .getByText(/before\.example\.com becomes after\.example\.com\. 1 service moves with it/)
    .waitFor()
  await visit.expectAccessible()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(nameOf(form)).toHaveValue('after.example.com')
  await save(form)
  await question.getByRole('button', { name: 'Yes, rename it!' }).click()
  // The new name is checked like that of a new domain.
  await form.getByText('after.example.com has no DNS record.').waitFor()
  dns.answers.set('after.example.com', ['203.0.113.1'])
  await save(form)
  await question.getByRole('button', { name: 'Yes, rename it!' }).click()
  await page.getByText('Domain updated successfully!').waitFor()
  await page.goto(`${site.origin}/domains?search=example.com`)
  await row(page, 'after.example.com').waitFor()
  await expect(row(page, 'before.example.com')).toHaveCount(0)
  const { json } = await site.api.call('GET', '/api/services/http?domain=after.example.com')
  expect(json).toMatchObject([{ name: 'wiki' }])
  const saved = await site.api.call('GET', `/api/domains/${id}`)
  expect(saved.json).toMatchObject({ domain: 'after.example.com' })
})

it('shows the columns of the specification, and a menu for each row', async () => {
  const { created_at } = await site.api.createDomain({ domain: 'columns.example.com' })
  const { page } = await site.open('/domains?search=columns', { timezoneId: 'America/Los_Angeles' })
  const cells = row(page, 'columns.example.com').getByRole('cell')
  const heads = page.getByRole('columnheader')
  await expect(heads).toHaveText([
    'Show more',
    /^Domain/,
    'Last 24 Hours',
    'SSL Certs',
    /^Created At/,
    'Actions',
  ])
  const day = new Date(created_at).toLocaleDateString('en-US', {
    timeZone: 'America/Los_Angeles',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  await expect(cells.nth(4)).toHaveText(day)
  await page.getByRole('button', { name: 'Actions for columns.example.com' }).click()
  expect(await menuItems(page)).toEqual(['Logs Monitor', 'Edit Domain', 'Delete Domain'])
  await page.getByRole('menuitem', { name: 'Logs Monitor' }).click()
  await expect(page).toHaveURL(/\/domains\/columns\.example\.com\/logs$/)
  const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' })
  await expect(crumbs).toHaveText(/Domains.*columns\.example\.com.*Real Time Logs/)
})

it('says in the expanded row of a domain that it has no services yet', async () => {
  await site.api.createDomain({ domain: 'empty.example.com' })
  const { page } = await site.open('/domains?search=empty')
  await row(page, 'empty.example.com').getByRole('button', { name: 'Services of empty.example.com' }).click()
  for (const type of ['HTTP', 'TCP']) {
    const hint = page.getByText(`No ${type} services yet. Expose the first one from Client / Nodes.`)
    await expect(hint.getByRole('link')).toHaveAttribute('href', '/nodes')
  }
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
  await page.getByText('shop-front', { exact: true }).waitFor()
  await visit.expectAccessible()
  await choose(page, 'Actions for shop.example.com', 'Delete Domain')
  await page.getByRole('button', { name: /^Yes/ }).click()
  await page.getByText('is used by “shop-front”').waitFor()
  await page.keyboard.press('Escape')
  await choose(page, 'Actions for unused.example.com', 'Delete Domain')
  await page.getByRole('button', { name: /^Yes/ }).click()
  await page.getByText('Domain deleted successfully!').waitFor()
  await row(page, 'unused.example.com').waitFor({ state: 'detached' })
})

it('finds domains by text', async () => {
  await site.api.createDomain({ domain: 'needle.example.com' })
  const { page } = await site.open('/domains')
  await row(page, 'needle.example.com').waitFor()
  await page.getByRole('searchbox').fill('NEEDLE')
  await row(page, 'shop.example.com').waitFor({ state: 'detached' })
  await row(page, 'needle.example.com').waitFor()
})

it('sorts domains by name and by creation date, each both ways', async () => {
  for (const domain of ['b.sorted.test', 'c.sorted.test', 'a.sorted.test'])
    await site.api.createDomain({ domain })
  const { page } = await site.open('/domains?search=sorted.test')
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
})

function row(page: Page, domain: string) {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name: domain }) })
}
