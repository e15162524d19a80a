import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Locator, Page } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite, type Visit } from '../harness.ts'
import { expectFocus } from '../steps.ts'

/**
 * Two people edit the same record: the second one is warned, and sees what the first one saved below the typed
 * values.
 */
const site = shared(() => startSite())
shared(() => connectFakeEdge(site.paths))

it('of a node: the second tab is told, keeps what it typed, sees what differs and saves over it', async () => {
  const { id } = await site.api.createNode({ name: 'shared' })
  const [first, second] = [await openNodeForm(id), await openNodeForm(id)]
  await first.form.getByLabel(label('Name')).fill('renamed by the first')
  await first.form.getByRole('button', { name: 'Save' }).click()
  await first.visit.page.getByText('Node updated successfully!').waitFor()

  // The page behind the second form follows the node live; the form must still know which version it started from.
  await second.visit.page
    .getByRole('heading', { name: 'renamed by the first', includeHidden: true })
    .waitFor()
  const name = second.form.getByLabel(label('Name'))
  await name.fill('typed by the second')
  await second.form.getByLabel('Send all internet traffic through the VPN').check()
  await second.form.getByRole('button', { name: 'Save' }).click()
  const alert = second.form.getByRole('alert')
  await alert.getByText(/admin changed this while you were editing.*Fields that you both changed/).waitFor()
  expect((await site.api.getNode(id)).allowInternet).toBe(false)
  await expect(name).toHaveValue('typed by the second')
  await expect(name).toHaveAccessibleDescription('Changed by someone else to renamed by the first')
  expect(await name.getAttribute('aria-invalid')).toBe(null)
  await expectFocus(name)
  await expect(second.form.getByLabel('Send all internet traffic through the VPN')).toBeChecked()
  await second.visit.expectAccessible()
  await second.form.getByRole('button', { name: 'Save' }).click()
  await second.visit.page.getByText('Node updated successfully!').waitFor()
  expect(await site.api.getNode(id)).toMatchObject({ name: 'typed by the second', allowInternet: true })
})

it('of an HTTP service: what the other one saved is not undone', async () => {
  const node = await site.api.createNode({ name: 'host' })
  const service = await site.api.publish(node.id, { name: 'web', domain: 'web.example.com' })
  const visit = await openPage(`/nodes/${node.id}`)
  const { page } = visit
  const form = await openForm(page, 'Actions for web', 'Edit Service')
  const path = `/api/services/${node.id}/http/${service.id}`
  await site.api.call('PATCH', path, { allowedIps: ['203.0.113.7'] })
  await form.getByLabel(label('Backend Port')).fill('9999')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('alert').getByText('Your edits are kept alongside theirs').waitFor()
  await expect(form.getByRole('textbox', { name: 'Allowed IP 1' })).toHaveValue('203.0.113.7')
  // Values that were taken over are marked.
  await form.getByText('Changed by someone else; it was an empty list').waitFor()
  await expect(form.getByLabel(label('Backend Port'))).toHaveValue('9999')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('button', { name: 'Got it!' }).waitFor()
  expect(await site.api.getService(service)).toMatchObject({ backendPort: 9999, allowedIps: ['203.0.113.7'] })
})

it('of a list and a number: theirs is taken by a button, and the rest stays', async () => {
  const node = await site.api.createNode({ name: 'choice' })
  const service = await site.api.publish(node.id, { name: 'choosy', domain: 'choosy.example.com' })
  const visit = await openPage(`/nodes/${node.id}`)
  const form = await openForm(visit.page, 'Actions for choosy', 'Edit Service')
  const path = `/api/services/${node.id}/http/${service.id}`
  await site.api.call('PATCH', path, { allowedIps: ['203.0.113.7', '203.0.113.8'], backendPort: 8081 })
  const port = form.getByLabel(label('Backend Port'))
  await port.fill('9999')
  await form.getByRole('group', { name: 'Allowed IPs' }).getByRole('button', { name: 'Add IP' }).click()
  await form.getByRole('textbox', { name: 'Allowed IP 1' }).fill('203.0.113.9')
  await form.getByRole('button', { name: 'Save' }).click()
  const take = (words: string) => form.getByRole('button', { name: `Use theirs: ${words}` })
  await take('8081').waitFor()
  await take('203.0.113.7, 203.0.113.8').click()
  await expect(take('203.0.113.7, 203.0.113.8')).toHaveCount(0)
  await expect(form.getByRole('textbox', { name: 'Allowed IP 2' })).toHaveValue('203.0.113.8')
  await expect(port).toHaveValue('9999')
  await take('8081').click()
  await expect(port).toHaveValue('8081')
  await expectFocus(port)
  await port.fill('8082')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('button', { name: 'Got it!' }).waitFor()
  expect(await site.api.getService(service)).toMatchObject({
    backendPort: 8082,
    allowedIps: ['203.0.113.7', '203.0.113.8'],
  })
})

it('of a domain that is gone meanwhile: the form says so', async () => {
  const { id } = await site.api.createDomain({ domain: 'fleeting.example.com' })
  const visit = await openPage('/domains')
  const { page } = visit
  const form = await openForm(page, 'Actions for fleeting.example.com', 'Edit Domain')
  await site.api.call('PATCH', `/api/domains/${id}`, { skipValidation: true })
  // Between the refusal and loading the newest record.
  await page.route(`**/api/domains/${id}`, async (route) => {
    if (route.request().method() === 'GET') await site.api.call('DELETE', `/api/domains/${id}`)
    await route.continue()
  })
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('alert').getByText('Domain not found').waitFor()
})

async function openPage(path: string): Promise<Visit> {
  const visit = await site.open(path)
  visit.forgive(/409|404|The form was not saved|was not loaded again/)
  return visit
}

async function openNodeForm(id: number): Promise<{ visit: Visit; form: Locator }> {
  const visit = await openPage(`/nodes/${id}`)
  return { visit, form: await openForm(visit.page, 'Actions', 'Edit Node') }
}

async function openForm(page: Page, menu: string, item: string): Promise<Locator> {
  await page.getByRole('button', { name: menu, exact: true }).click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
  const form = page.getByRole('dialog')
  await form.waitFor()
  return form
}
