import { DatabaseSync } from 'node:sqlite'
import type { CreatedNode } from '@postern/contract/nodes'
import type { Service } from '@postern/contract/services/services'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { choose } from '../steps.ts'

let node: CreatedNode
let shop: Service

const site = shared(() => startSite())
beforeAll(async () => {
  node = await site.api.createNode({ name: 'office' })
  shop = await site.api.publish(node.id, { name: 'shop', domain: 'shop.example.com', backendPort: 8080 })
  await site.api.call('PATCH', `/api/services/${node.id}/http/${shop.id}`, {
    backendPort: 8081,
    allowedIps: ['203.0.113.7'],
  })
  for (let i = 0; i < 55; i++) await site.api.createNode({ name: `site ${i}` })
})

const rows = (page: Page) => page.locator('.table.changes tbody tr')
const first = (page: Page) => rows(page).first()

it('shows who changed what, is searched and filtered in the address, and goes back in pages', async () => {
  const visit = await site.open('/history')
  const { page } = visit
  await expect(first(page)).toContainText('Node created “site 54”')
  await expect(first(page)).toContainText('admin')
  await expect(rows(page)).toHaveCount(50)
  await page.getByRole('button', { name: 'Show older' }).click()
  await page.getByText('There are no older ones.').waitFor()
  expect(await rows(page).count()).toBeGreaterThan(55)
  await page.getByRole('searchbox', { name: 'Search history' }).fill('shop')
  await expect(page).toHaveURL(/search=shop/)
  await expect(rows(page)).toHaveCount(2)
  await expect(first(page)).toContainText('Service updated “shop”')
  await expect(first(page)).toContainText('Backend Port before: 8080 → , after: 8081')
  await expect(first(page)).toContainText('Allowed IPs Added: +203.0.113.7')
  await visit.expectAccessible()
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Changed').selectOption('Node')
  await dialog.getByLabel('By').fill('admin')
  await visit.expectAccessible()
  await dialog.getByRole('button', { name: 'Show Changes' }).click()
  await page.getByText('No changes match').waitFor()
  await page.getByRole('button', { name: 'Show all changes' }).click()
  await expect(first(page)).toContainText('Node created “site 54”')
  await page.goto(`${site.origin}/history?kind=node&node=${node.id}`)
  await expect(rows(page)).toHaveCount(1)
  await page.getByRole('button', { name: 'Remove filter Node: office' }).click()
  await expect(page).toHaveURL(/\/history\?kind=node$/)
})

it('has all of a change in a dialog', async () => {
  const visit = await site.open(`/history?search=shop`)
  const { page } = visit
  await rows(page).nth(1).getByRole('button').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Service created: shop').waitFor()
  await expect(dialog.getByRole('heading', { level: 3 })).toContainText([
    'Domain shop.example.com new',
    'Certificate',
    'Service shop new',
  ])
  await expect(dialog).toContainText('Backend Port 8080')
  await visit.expectAccessible()
})

it('is on the page of the node, of the service and below the domain', async () => {
  const visit = await site.open(`/nodes/${node.id}`)
  const { page } = visit
  const card = page.getByRole('region', { name: 'History' })
  await expect(card.locator('tbody tr')).toHaveCount(3)
  await expect(card).toContainText('Backend Port')
  await visit.expectAccessible()
  await choose(page, 'Actions for shop', 'History')
  await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor()
  await expect(rows(page)).toHaveCount(2)
  await visit.expectAccessible()
  await page.goto(`${site.origin}/domains?search=shop`)
  await page.getByRole('button', { name: 'Services of shop.example.com' }).click()
  const below = page.getByRole('region', { name: 'History of shop.example.com' })
  await expect(below.locator('tbody tr')).toHaveCount(2)
  await expect(below.locator('tbody tr').first()).toContainText('8081')
})

it('follows what others change, and is saved as a file', async () => {
  const visit = await site.open('/history?kind=domain')
  const { page } = visit
  await first(page).waitFor()
  await site.api.call('POST', '/api/domains', { domain: 'late.example.com', skipValidation: true })
  await expect(first(page)).toContainText('Domain created “late.example.com”')
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: 'CSV' }).click()
  expect((await saved).suggestedFilename()).toMatch(/^history-\d{4}-\d\d-\d\d\.csv$/)
})

it('takes a change back, or says which fields have changed since', async () => {
  const url = `/api/services/${node.id}/http/${shop.id}`
  const visit = await site.open(`/nodes/${node.id}/http/${shop.id}/history`)
  const { page } = visit
  await first(page).getByRole('button').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Change taken back successfully!').waitFor()
  await expect(first(page)).toContainText('Backend Port before: 8081 → , after: 8080')
  await expect(rows(page).nth(1)).toContainText('taken back')
  await site.api.call('PATCH', url, { backendPort: 9999 })
  await rows(page).nth(2).getByRole('button').click()
  visit.forgive(/409/)
  await dialog.getByRole('button', { name: 'Undo' }).click()
  await expect(dialog.getByRole('alert')).toContainText('admin has changed “shop” since')
  await expect(dialog.getByRole('alert')).toContainText('Backend Port is 9999 now')
  await visit.expectAccessible()
})

it('counts down to take back what could lock its author out, until it is kept', async () => {
  const { json } = await site.api.call('GET', '/api/services/http?search=Console')
  const own = (json as { nodeId: number; name: string; system: boolean }[]).find(({ system }) => system)
  const visit = await site.open(`/nodes/${own?.nodeId}`)
  const { page } = visit
  const change = async (address: string) => {
    await choose(page, 'Actions for Console', 'Edit Service')
    const form = page.getByRole('dialog')
    await expect(form.getByLabel('Take Back in 2 Minutes Unless I Confirm')).toBeChecked()
    await form.getByRole('button', { name: 'Add IP' }).first().click()
    await form
      .getByRole('textbox', { name: /^Allowed IP \d/ })
      .last()
      .fill(address)
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Got it!' }).click()
  }
  await change('127.0.0.1')
  const bar = page.getByRole('status').filter({ hasText: 'unless you keep it' })
  await expect(bar).toContainText(/Service updated Console by admin is taken back in [01]:\d\d/)
  await visit.expectAccessible()
  await bar.getByRole('button', { name: 'Keep' }).click()
  await expect(bar).toHaveCount(0)
  await change('192.0.2.7')
  await bar.getByRole('button', { name: 'Take Back Now' }).click()
  await expect(bar).toHaveCount(0)
  const after = (await site.api.call('GET', '/api/services/http?search=Console')).json as {
    allowedIps: string[]
  }[]
  expect(after[0]?.allowedIps).toEqual(['127.0.0.1'])
})

it('takes back what an administrator decided about a person, and says why of the rest', async () => {
  const { json } = await site.api.call('POST', '/api/people', { username: 'ann', role: 'viewer' })
  const { id } = json as { id: number }
  await site.api.call('PATCH', `/api/people/${id}`, { role: 'admin' })
  const visit = await site.open('/history?kind=person')
  const { page } = visit
  await expect(first(page)).toContainText('Role before: viewer → , after: admin')
  await first(page).getByRole('button').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Change taken back successfully!').waitFor()
  await expect(first(page)).toContainText('Role before: admin → , after: viewer')
  await rows(page).nth(2).getByRole('button').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('An invitation is not taken back here.').waitFor()
  await expect(dialog.getByRole('button', { name: 'Undo' })).toHaveCount(0)
  await visit.expectAccessible()
})

it('finds the values of fields, and shows a service that was moved on the pages of both nodes', async () => {
  const { id: from } = await site.api.createNode({ name: 'cellar' })
  const { id: to } = await site.api.createNode({ name: 'attic' })
  const { id } = await site.api.publishPort(from, { name: 'backup', backendPort: 8730 })
  const move = { action: 'move', records: [{ id }], to: { nodeId: to } }
  await site.api.call('POST', '/api/services/many', move)
  const { page } = await site.open('/history')
  await page.getByRole('searchbox', { name: 'Search history' }).fill('8730')
  await expect(rows(page)).toHaveCount(1)
  await expect(first(page)).toContainText('Service created “backup”')
  for (const node of [from, to]) {
    await page.goto(`${site.origin}/nodes/${node}`)
    const card = page.getByRole('region', { name: 'History' })
    await expect(card.locator('tbody tr')).toHaveCount(3)
    await expect(card).toContainText('Node before: cellar → , after: attic')
  }
})

it('says of a change whose fields had to go that they are no longer kept, and offers no undo', async () => {
  const spare = await site.api.createNode({ name: 'spare' })
  const database = new DatabaseSync(site.paths.database)
  database.exec(`DELETE FROM change_records WHERE revision = (SELECT latest FROM revisions);
    UPDATE changes SET is_stripped = 1 WHERE revision = (SELECT latest FROM revisions)`)
  database.close()
  const visit = await site.open(`/history?search=${spare.name}`)
  const { page } = visit
  await first(page).getByRole('button').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('What was before and after is no longer kept.').waitFor()
  await dialog.getByText('What was changed is no longer kept, so this cannot be taken back.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  await visit.expectAccessible()
})
