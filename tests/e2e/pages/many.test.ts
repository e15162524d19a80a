import type { Domain } from '@postern/contract/domains'
import type { Page as ListPage } from '@postern/contract/lists'
import type { Pat } from '@postern/contract/pats'
import type { Service } from '@postern/contract/services/services'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { expectFocus, rowOf } from '../steps.ts'

let first: number
let second: number
const NAMES = Array.from({ length: 14 }, (_, i) => `app-${String(i + 1).padStart(2, '0')}`)

/** Many at once: ticks, one question, one toast, and the way back. */
const site = shared(() => startSite())
shared(() => connectFakeEdge(site.paths))
beforeAll(async () => {
  first = (await site.api.createNode({ name: 'first' })).id
  second = (await site.api.createNode({ name: 'second' })).id
  for (const name of NAMES) await site.api.publish(first, { name, domain: `${name}.example.com` })
})

const tick = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true })
const bar = (page: Page, noun = 'services') => page.getByRole('region', { name: `Selected ${noun}` })
const act = (page: Page, text: string, noun?: string) =>
  bar(page, noun).getByRole('button', { name: text, exact: true }).click()
const toast = (page: Page) => page.getByRole('region', { name: 'Notifications' })
const list = async (query: string) =>
  ((await site.api.call('GET', `/api/services?limit=100&${query}`)).json as ListPage<Service>).data
const revision = async () =>
  ((await site.api.call('GET', '/api/overview')).json as { changes: { revision: number }[] }).changes[0]
    ?.revision ?? 0

it('ticks stay over pages, one question counts them, and Undo brings back just these', async () => {
  const visit = await site.open('/services')
  const { page } = visit
  await tick(page, 'app-02').click()
  await tick(page, 'app-03').click()
  await page.getByRole('button', { name: 'Next' }).click()
  await tick(page, 'app-14').click()
  await bar(page).getByText('3 services selected').waitFor()
  await page.getByRole('button', { name: 'Previous' }).click()
  await expect(tick(page, 'app-02')).toBeChecked()
  await visit.expectAccessible()
  const before = await revision()
  await act(page, 'Disable')
  await page.getByRole('alertdialog', { name: 'Disable 3 services?' }).waitFor()
  await page.getByRole('button', { name: 'Yes, disable them!' }).click()
  await toast(page).getByText('3 services disabled.').waitFor()
  await expect(bar(page)).toHaveCount(0)
  await rowOf(page, 'app-02').locator('.phase').getByText('Disabled').waitFor()
  expect((await list('state=disabled')).map(({ name }) => name)).toEqual(['app-02', 'app-03', 'app-14'])
  expect(await revision()).toBe(before + 1)
  await visit.expectAccessible()
  await toast(page).getByRole('button', { name: 'Undo' }).click()
  await toast(page).getByText('3 services enabled again.').waitFor()
  expect(await list('state=disabled')).toEqual([])
})

it('all on all pages are those of the filter, and what was so already is said', async () => {
  await site.api.setEnabled((await list('search=app-01'))[0] as Service, false)
  const { page } = await site.open('/services?search=app-')
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
  await bar(page).getByText('10 services selected').waitFor()
  await act(page, 'Select all 14 services')
  await bar(page).getByText('14 services selected').waitFor()
  const sent = page.waitForRequest('**/api/services/many')
  await act(page, 'Disable')
  await page.getByRole('alertdialog').getByText('on all of its pages').waitFor()
  await page.getByRole('button', { name: 'Yes, disable them!' }).click()
  expect((await sent).postDataJSON()).toEqual({
    ...{ action: 'disable', filter: { search: 'app-' }, after: 0, limit: 14 },
  })
  await toast(page).getByText('13 services disabled. 1 already was.').waitFor()
  await toast(page).getByRole('button', { name: 'Undo' }).click()
  await toast(page).getByText('13 services enabled again.').waitFor()
  expect((await list('state=disabled')).map(({ name }) => name)).toEqual(['app-01'])
  // Another search begins anew.
  await tick(page, 'app-02').click()
  await page.getByRole('searchbox', { name: 'Search services' }).fill('app-0')
  await expect(bar(page)).toHaveCount(0)
})

it('by keys and ranges: Space, Shift, Escape', async () => {
  const visit = await site.open('/services')
  const { page } = visit
  const link = (name: string) => rowOf(page, name).getByRole('link', { name, exact: true })
  await link('app-02').focus()
  await page.keyboard.press('Space')
  await expect(tick(page, 'app-02')).toBeChecked()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await expectFocus(link('app-04'))
  await page.keyboard.press('Shift+Space')
  await bar(page).getByText('3 services selected').waitFor()
  await page.keyboard.press('Space')
  await bar(page).getByText('2 services selected').waitFor()
  await page.keyboard.press('Escape')
  await expect(bar(page)).toHaveCount(0)
  await expect(page).toHaveURL(/\/services$/)
  await tick(page, 'app-08').click()
  await tick(page, 'app-05').click({ modifiers: ['Shift'] })
  await bar(page).getByText('4 services selected').waitFor()
  // The box is an arrow away from what opens its row, and no stop of Tab.
  await link('app-05').focus()
  await page.keyboard.press('ArrowLeft')
  await expectFocus(tick(page, 'app-05'))
  // Escape closes the question first.
  await act(page, 'Delete')
  await page.getByRole('alertdialog', { name: 'Delete 4 services?' }).waitFor()
  await visit.expectAccessible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('alertdialog')).toHaveCount(0)
  await bar(page).getByText('4 services selected').waitFor()
})

it('services move to a node and back, and to a domain as far as its paths are free', async () => {
  await site.api.createDomain({ domain: 'together.example.com' })
  const visit = await site.open('/services')
  const { page } = visit
  for (const name of ['app-05', 'app-06']) await tick(page, name).click()
  await act(page, 'Move')
  const dialog = page.getByRole('dialog', { name: 'Move 2 services' })
  await expect(dialog.getByRole('button', { name: 'Move 2 services' })).toBeDisabled()
  await dialog.getByRole('combobox', { name: 'Node' }).fill('sec')
  await page.getByRole('option', { name: /^second/ }).click()
  await visit.expectAccessible()
  await dialog.getByRole('button', { name: 'Move 2 services' }).click()
  await toast(page).getByText('2 services moved.').waitFor()
  await rowOf(page, 'app-05').getByRole('link', { name: 'second' }).waitFor()
  expect(await list(`node=${second}`)).toHaveLength(2)
  await toast(page).getByRole('button', { name: 'Undo' }).click()
  await toast(page).getByText('2 services moved back.').waitFor()
  expect(await list(`node=${second}`)).toEqual([])

  for (const name of ['app-05', 'app-06']) await tick(page, name).click()
  await act(page, 'Move')
  await dialog.getByRole('button', { name: 'To a domain' }).click()
  await dialog.getByRole('combobox', { name: 'Domain' }).fill('together')
  await page.getByRole('option', { name: 'together.example.com' }).click()
  await dialog.getByRole('button', { name: 'Move 2 services' }).click()
  await toast(page).getByText('1 service moved. 1 could not be.').waitFor()
  await toast(page).getByRole('button', { name: 'Show why' }).click()
  const why = page.getByRole('dialog', { name: '1 service could not be moved' })
  await why.getByText('together.example.com/ already belongs to “app-05”').waitFor()
  await visit.expectAccessible()
  await why.getByRole('button', { name: 'Got it!' }).click()
})

it('nodes are disconnected, connected again and deleted; the local one has no box', async () => {
  for (const name of ['spare-1', 'spare-2']) await site.api.createNode({ name })
  const { page } = await site.open('/nodes')
  await rowOf(page, 'spare-1').waitFor()
  await expect(tick(page, 'Local')).toHaveCount(0)
  for (const name of ['spare-1', 'spare-2']) await tick(page, name).click()
  await act(page, 'Disconnect', 'nodes')
  await page.getByRole('button', { name: 'Yes, disconnect them!' }).click()
  await toast(page).getByText('2 nodes disconnected.').waitFor()
  await toast(page).getByRole('button', { name: 'Undo' }).click()
  await toast(page).getByText('2 nodes connected again.').waitFor()
  // Neither counts the local node.
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
  await bar(page, 'nodes').getByText('4 nodes selected').waitFor()
  await page.getByRole('searchbox', { name: 'Search nodes' }).fill('spare')
  await rowOf(page, 'first').waitFor({ state: 'detached' })
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
  await act(page, 'Delete', 'nodes')
  await page.getByRole('alertdialog', { name: 'Delete 2 nodes?' }).getByText('cannot be undone').waitFor()
  await page.getByRole('button', { name: 'Yes, delete them!' }).click()
  await toast(page).getByText('2 nodes deleted.').waitFor()
  await expect(toast(page).getByRole('button', { name: 'Undo' })).toHaveCount(0)
  await page.getByText('Nothing matches “spare”').waitFor()
})

it('domains are deleted, but for those in use; a click on a box opens no row', async () => {
  await site.api.createDomain({ domain: 'free.example.com' })
  const { page } = await site.open('/domains?search=example.com')
  await tick(page, 'app-01.example.com').click()
  await expect(page.getByRole('region', { name: /Services of app-01/ })).toHaveCount(0)
  await page.goto(`${site.origin}/domains?search=r`)
  const together = (await site.api.call('GET', '/api/domains?search=r')).json as Domain[]
  expect(together.map(({ domain }) => domain)).toEqual(['free.example.com', 'together.example.com'])
  for (const { domain } of together) await tick(page, domain).click()
  await act(page, 'Delete', 'domains')
  await page.getByRole('button', { name: 'Yes, delete them!' }).click()
  await toast(page).getByText('1 domain deleted. 1 could not be.').waitFor()
  await toast(page).getByRole('button', { name: 'Show why' }).click()
  await page.getByText('together.example.com is used by “app-05”. Delete its services first.').waitFor()
})

it('tokens of a node are revoked and deleted', async () => {
  for (const name of ['ci', 'laptop']) await site.api.call('POST', `/api/nodes/${first}/pats`, { name })
  const { page } = await site.open(`/nodes/${first}`)
  for (const name of ['ci', 'laptop']) await tick(page, name).click()
  await act(page, 'Revoke', 'access tokens')
  await page.getByRole('button', { name: 'Yes, revoke them!' }).click()
  await toast(page).getByText('2 access tokens revoked.').waitFor()
  await rowOf(page, 'ci').getByText('Revoked').waitFor()
  await tick(page, 'ci').focus()
  await page.keyboard.press('Space')
  await act(page, 'Delete', 'access tokens')
  await page.getByRole('button', { name: 'Yes, delete it!' }).click()
  await rowOf(page, 'ci').waitFor({ state: 'detached' })
  const left = (await site.api.call('GET', `/api/nodes/${first}/pats`)).json as Pat[]
  expect(left.map(({ name, revoked }) => [name, revoked])).toEqual([
    ['laptop', true],
    ['default', false],
  ])
})
