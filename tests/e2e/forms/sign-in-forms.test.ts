import { DatabaseSync } from 'node:sqlite'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Locator, Page } from 'playwright'
import { beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose } from '../steps.ts'

let nodeId: number

const site = shared(() =>
  startSite({
    POSTERN_OIDC_ISSUER: 'https://id.example.com',
    POSTERN_OIDC_CLIENT_ID: 'postern',
    POSTERN_OIDC_CLIENT_SECRET: 'a secret',
  }),
)
const edge = shared(() => connectFakeEdge(site.paths))
beforeAll(async () => {
  nodeId = (await site.api.createNode({ name: 'office' })).id
  edge.sendPeers([onlinePeer(nodeId)])
  await site.api.createDomain({ domain: 'plain.example.com' })
  const form = { domain: 'app.example.com', skipValidation: true, authentication: true }
  await site.api.call('POST', '/api/domains', { ...form, allowedEmails: ['ann@example.com'] })
})

const save = (form: Locator) => form.getByRole('button', { name: 'Save' }).click()
const domainForm = (page: Page) => page.getByRole('dialog', { name: 'Domain & SSL Settings' })
const edit = async (page: Page, domain: string) => {
  await choose(page, `Actions for ${domain}`, 'Edit Domain')
  return domainForm(page)
}
const emails = (form: Locator) => form.getByRole('textbox', { name: /^Allowed Email \d/ })
const domainOf = async (name: string) => {
  const { json } = await site.api.call('GET', `/api/domains?search=${name}`)
  return (json as { domain: string }[]).find(({ domain }) => domain === name)
}

describe('the form of a domain', () => {
  it('starts the list with one empty entry, accepts many pasted at once, and clears it', async () => {
    const visit = await site.open('/domains')
    const { page } = visit
    visit.forgive(/422|Validation failed/)
    await page.getByRole('button', { name: 'Add Domain' }).first().click()
    const form = domainForm(page)
    const box = form.getByLabel('Enable OAuth2 Authentication')
    await expect(box).not.toBeChecked()
    await expect(emails(form)).toHaveCount(0)
    await box.check()
    await expect(emails(form)).toHaveCount(1)
    await expect(emails(form).first()).toHaveValue('')
    await form.getByText('https://203.0.113.1/.postern/callback').waitFor()
    await emails(form).first().focus()
    await page.evaluate(() =>
      navigator.clipboard.writeText('Bob@example.com; eve@example.com,\ncarl@example'),
    )
    await page.keyboard.press('Control+V')
    await expect(emails(form)).toHaveCount(3)
    await form.getByRole('button', { name: 'Add Email' }).click()
    await emails(form).nth(3).fill('dora@example.com')
    await form.getByLabel(label('Domain')).fill('new.example.com')
    await save(form)
    await form.getByText('must be a valid email').waitFor()
    await visit.expectAccessible()
    await form.getByRole('button', { name: 'Remove carl@example' }).click()
    await box.uncheck()
    await expect(emails(form)).toHaveCount(0)
    await box.check()
    await emails(form).first().fill('Ann@Example.com')
    await form.getByLabel(label('Domain')).fill('plain2.example.com')
    await save(form)
    await form.getByLabel('Skip Domain Validation').check()
    await save(form)
    await form.waitFor({ state: 'hidden' })
    expect(await domainOf('plain2.example.com')).toMatchObject({
      authentication: true,
      allowedEmails: ['ann@example.com'],
    })
    await page
      .getByRole('row', { name: /plain2\.example\.com/ })
      .getByTitle('OAuth2 authentication')
      .waitFor()
  })

  it('keeps what it does not change, and asks before removing the last e-mail', async () => {
    const { page } = await site.open('/domains')
    let form = await edit(page, 'app.example.com')
    await expect(emails(form).first()).toHaveValue('ann@example.com')
    await form.getByRole('button', { name: 'Remove ann@example.com' }).click()
    const question = page
      .getByRole('alertdialog')
      .or(page.getByRole('dialog', { name: 'Remove the last e-mail' }))
    await question.getByRole('button', { name: 'Cancel' }).click()
    await expect(emails(form)).toHaveCount(1)
    await save(form)
    await form.waitFor({ state: 'hidden' })
    expect(await domainOf('app.example.com')).toMatchObject({ allowedEmails: ['ann@example.com'] })
    form = await edit(page, 'app.example.com')
    await form.getByRole('button', { name: 'Remove ann@example.com' }).click()
    await question.getByRole('button', { name: 'Yes, remove it!' }).click()
    await expect(emails(form)).toHaveCount(0)
    await save(form)
    await form.waitFor({ state: 'hidden' })
    expect(await domainOf('app.example.com')).toMatchObject({ authentication: true, allowedEmails: [] })
  })
})

describe('the form of an HTTP service', () => {
  it('can require what its domain offers, and says which line is wrong', async () => {
    const visit = await site.open(`/nodes/${nodeId}`)
    const { page } = visit
    visit.forgive(/Validation failed|409|The form was not saved/)
    const card = page.getByRole('region', { name: 'HTTP Services' })
    await card.getByRole('button', { name: 'Add Service' }).first().click()
    const form = page.getByRole('dialog', { name: 'Expose HTTP Service on Node' })
    const box = form.getByLabel('Require Authentication')
    await expect(box).toBeDisabled()
    await form.getByText('Authentication is not enabled for this domain').waitFor()
    await form.getByLabel(label('Service Name')).fill('wiki')
    await form.getByRole('combobox', { name: 'Public Domain' }).fill('plain.example.com')
    await expect(box).toBeDisabled()
    await form.getByRole('combobox', { name: 'Public Domain' }).fill('app.example.com')
    await page.keyboard.press('Escape')
    await expect(box).toBeEnabled()
    await expect(form.getByLabel('Paths to bypass authentication')).toHaveCount(0)
    await box.check()
    const lines = form.getByLabel('Paths to bypass authentication')
    await expect(lines).toHaveAttribute('rows', '3')
    await lines.fill('/healthz\n\nadmin')
    await save(form)
    await form.getByText("Line 3 must start with '/' or '^'").waitFor()
    await visit.expectAccessible()
    await lines.fill('/healthz\n^/api/v[0-9]+/')
    await save(form)
    await page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' }).waitFor()
    await page.getByRole('button', { name: 'Got it!' }).click()
    await choose(page, 'Actions for wiki', 'Edit Service')
    const edited = page.getByRole('dialog', { name: 'Edit HTTP Service: wiki' })
    await expect(edited.getByLabel('Paths to bypass authentication')).toHaveValue('/healthz\n^/api/v[0-9]+/')
    await expect(edited.getByLabel('Require Authentication')).toBeChecked()
    await save(edited)
    await page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' }).waitFor()
    const { json } = await site.api.call('GET', '/api/services/http?domain=app.example.com')
    expect(json).toMatchObject([{ requireAuth: true, skipAuthRoutes: '/healthz\n^/api/v[0-9]+/' }])
  })

  it('may be the console, which says who is let in and what stays open', async () => {
    const form = { domain: 'ops.example.com', skipValidation: true, authentication: true }
    await site.api.call('POST', '/api/domains', { ...form, allowedEmails: ['ann@example.com'] })
    const visit = await site.open('/nodes/1')
    const { page } = visit
    const dialog = page.getByRole('dialog', { name: 'Edit HTTP Service: Console' })
    const box = dialog.getByLabel('Require Authentication')
    await choose(page, 'Actions for Console', 'Edit Service')
    await expect(box).toBeDisabled()
    await dialog.getByText('Authentication is not enabled for this domain').waitFor()
    await dialog.getByLabel('Public Domain').fill('ops.example.com')
    await page.keyboard.press('Escape')
    await box.check()
    await dialog
      .getByText(/the allowed e-mail addresses of ops\.example\.com apply\. Agents connect/)
      .waitFor()
    await expect(dialog.getByLabel('Paths to bypass authentication')).toHaveCount(0)
    await visit.expectAccessible()
    await save(dialog)
    await page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' }).waitFor()
    const { json } = await site.api.call('GET', '/api/services/http?domain=ops.example.com')
    expect(json).toMatchObject([{ system: true, requireAuth: true, skipAuthRoutes: null }])
    await site.api.call('PATCH', '/api/services/1/http/1', { domain: null, requireAuth: false })
  })

  it('keeps the domain from losing its sign-in', async () => {
    const { page, forgive } = await site.open('/domains')
    forgive(/409|The form was not saved/)
    const form = await edit(page, 'app.example.com')
    await form.getByLabel('Enable OAuth2 Authentication').uncheck()
    await save(form)
    await form
      .getByText(/Authentication is required by “wiki”/)
      .first()
      .waitFor()
  })
})

it("a domain shows who signed in, and ends a person's sessions", async () => {
  const form = { domain: 'came.example.com', skipValidation: true, authentication: true }
  const { json } = await site.api.call('POST', '/api/domains', {
    ...form,
    allowedEmails: ['ann@example.com'],
  })
  const { id } = json as { id: number }
  const database = new DatabaseSync(site.paths.database)
  const insert = database.prepare(
    'INSERT INTO sign_ins (domain_id, email, address, outcome, at) VALUES (?, ?, ?, ?, ?)',
  )
  const at = new Date().toISOString()
  insert.run(id, 'ann@example.com', '192.0.2.7', 'signed-in', at)
  insert.run(id, 'eve@example.com', '2001:db8::7', 'refused', at)
  const entry = () => database.prepare('SELECT id FROM domain_members WHERE domain_id = ?').get(id)
  const before = entry()
  const visit = await site.open('/domains')
  const { page } = visit
  await page.getByRole('button', { name: 'Services of came.example.com' }).click()
  const record = page.getByRole('region', { name: 'Sign-ins of came.example.com' })
  await record.getByText('2001:db8::7').waitFor()
  await expect(record.getByText('Refused')).toHaveCount(1)
  await expect(record.getByRole('button', { name: 'Actions for eve@example.com' })).toHaveCount(0)
  await visit.expectAccessible()
  await choose(page, 'Actions for ann@example.com', 'End Sessions')
  await page.getByRole('button', { name: 'Yes, end them!' }).click()
  await page.getByText('Sessions ended successfully!').waitFor()
  expect(entry()).not.toEqual(before)
  database.close()
})

it('a TCP service at a domain with sign-in can be saved once a person trusts its program with the cookies', async () => {
  const visit = await site.open('/nodes')
  const { page } = visit
  visit.forgive(/422|The form was not saved|Validation failed/)
  await choose(page, 'Actions for office', 'Expose TCP')
  const form = page.getByRole('dialog', { name: 'Expose TCP Service on Node' })
  await form.getByLabel(label('Service Name')).fill('mqtt')
  await form.getByLabel('Public Domain (Optional)').fill('app.example.com')
  await page.keyboard.press('Tab')
  await form.getByLabel('Enable SSL Termination').check()
  await save(form)
  await form.getByText(/browsers send its cookies to this port too/).waitFor()
  await expect(form.getByLabel('Skip Domain Validation')).toHaveCount(0)
  await visit.expectAccessible()
  await form.getByLabel('Trust With Sign-In Cookies').check()
  await save(form)
  await form.waitFor({ state: 'hidden' })
})
