import type { Page as ListPage } from '@postern/contract/lists'
import type { CreatedNode } from '@postern/contract/nodes'
import type { Service } from '@postern/contract/services/services'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { expectClipboard, expectFocus } from '../steps.ts'

let node: CreatedNode
let grafana: Service
/** Enough for the list of the node to have several pages. */
const OTHERS = Array.from({ length: 19 }, (_, i) => `app-${String(i + 1).padStart(2, '0')}`)

/** What a person types is done: a verb and what it is about, in any order. */
const site = shared(() => startSite())
beforeAll(async () => {
  await site.api.createNode({ name: 'warehouse' })
  node = await site.api.createNode({ name: 'site-07' })
  grafana = await site.api.publish(node.id, { name: 'grafana', domain: 'grafana.example.com' })
  for (const name of OTHERS) await site.api.publish(node.id, { name, domain: `${name}.example.com` })
})

const palette = (page: Page) => page.getByRole('dialog', { name: 'Search and commands' })
const option = (page: Page, name: string) =>
  palette(page).getByRole('option', { name: new RegExp(`^${name}`) })
const toasts = (page: Page) => page.getByRole('region', { name: 'Notifications' })
const accept = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

async function type(page: Page, text: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).focus()
  await page.keyboard.press('Control+k')
  await palette(page).getByRole('combobox').fill(text)
}

/** By Enter, which waits for the answer. */
async function run(page: Page, text: string): Promise<void> {
  await type(page, text)
  await page.keyboard.press('Enter')
}

async function countDisabled(): Promise<number> {
  const answer = await site.api.call('GET', `/api/services?limit=1&state=disabled&node=${node.id}`)
  return (answer.json as ListPage<Service>).total
}

it('disables and enables a service after a question, and Undo brings it back', async () => {
  const { page } = await site.open('/nodes')
  await run(page, 'dis graf')
  await accept(page, 'Yes, disable it!')
  await toasts(page).getByText('Service disabled from public access successfully!').waitFor()
  expect(await countDisabled()).toBe(1)
  await toasts(page).getByRole('button', { name: 'Undo' }).click()
  await toasts(page).getByText('1 service enabled again.').waitFor()
  expect(await countDisabled()).toBe(0)
  // What it is already is not offered: the service itself is.
  await type(page, 'enable grafana')
  await expect(palette(page).getByRole('option')).toHaveText([/^grafana.* on site-07/, 'grafana.example.com'])
  await page.keyboard.press('Escape')
})

it('goes to logs, requests, why, and the address, in any order of words', async () => {
  const { page } = await site.open('/nodes')
  for (const typed of ['logs of grafana', 'grafana logs']) {
    await run(page, typed)
    await page.waitForURL(`**/nodes/${node.id}/http/${grafana.id}/logs`)
    await page.goBack()
    await page.waitForURL('**/nodes')
  }
  await run(page, 'requests of grafana')
  await page.waitForURL(`**/requests?service=${grafana.id}`)
  await run(page, 'why is grafana down?')
  await page.waitForURL('**/why?url=https*grafana.example.com*')
  await run(page, 'failed')
  await page.waitForURL('**/nodes/attention')
  await run(page, 'copy address of grafana')
  await toasts(page).getByText('Copied to the clipboard.').waitFor()
  await expectClipboard(page, 'https://grafana.example.com/')
  await run(page, 'edit grafana')
  await page.getByRole('dialog', { name: /HTTP Service/ }).waitFor()
  await page.keyboard.press('Escape')
})

it('Enter on a service opens its row, also on the page that is open already', async () => {
  const { page } = await site.open('/nodes', { height: 500 })
  const link = page.getByRole('link', { name: 'app-17', exact: true })
  await run(page, 'app-17')
  await page.waitForURL(`**/nodes/${node.id}?http.search=app-17#service-*`)
  await expectFocus(link)
  await expect(link).toBeInViewport()
  await page.getByRole('button', { name: 'Clear text' }).first().click()
  await page.waitForURL(`**/nodes/${node.id}`)
  await run(page, 'open app-17')
  await expectFocus(link)
  await expect(link).toBeInViewport()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/logs')
})

it('all of a node are a page of them, or one question for all', async () => {
  const visit = await site.open('/nodes')
  const { page } = visit
  await type(page, 'all 20 of site-07')
  await expect(option(page, 'All 20 services of site-07')).toHaveAttribute('aria-selected', 'true')
  await visit.expectAccessible()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/services?node=${node.id}`)
  await run(page, 'disable all of site-07')
  await page.getByRole('alertdialog', { name: 'Disable 20 services?' }).waitFor()
  await accept(page, 'Yes, disable them!')
  await toasts(page).getByText('20 services disabled.').waitFor()
  expect(await countDisabled()).toBe(20)
  await toasts(page).getByRole('button', { name: 'Undo' }).click()
  await toasts(page).getByText('20 services enabled again.').waitFor()
  expect(await countDisabled()).toBe(0)
  // The node itself is offered by its name.
  await type(page, 'disable site-07')
  await expect(palette(page).getByRole('option')).toHaveText([
    /^Disconnect site-07/,
    /^Disable all 20 services of site-07/,
  ])
  await page.keyboard.press('Escape')
})

it('rotates the token of a node, adds to it, edits and deletes it', async () => {
  const { id } = await site.api.createNode({ name: 'attic' })
  const visit = await site.open('/nodes')
  const { page } = visit
  await run(page, 'rotate token of attic')
  await accept(page, 'Create New Token')
  const ready = page.getByRole('dialog', { name: 'New Access Token Generated' })
  await ready.getByRole('button', { name: 'Close' }).last().click()
  // There are two now.
  await run(page, 'attic rotate')
  await toasts(page).getByText('Choose which token to rotate.').waitFor()
  await page.waitForURL(`**/nodes/${id}`)
  await type(page, 'add tcp service to attic')
  await expect(palette(page).getByRole('option')).toHaveText([/^Expose TCP on attic/])
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Expose TCP Service on Node' }).waitFor()
  await page.keyboard.press('Escape')
  await run(page, 'edit attic')
  await page.getByRole('dialog', { name: /attic/ }).waitFor()
  await page.keyboard.press('Escape')
  await run(page, 'delete attic')
  await accept(page, 'Yes, delete it!')
  await page.waitForURL('**/nodes')
  // What its page still asked for.
  visit.forgive(/404/)
})

it('does the same to domains', async () => {
  const { page } = await site.open('/nodes')
  await run(page, 'logs of app-03.example.com')
  await page.waitForURL('**/logs')
  await type(page, 'edit app-03.example')
  await option(page, 'Edit app-03.example.com').click()
  await page.getByRole('dialog', { name: /Domain/ }).waitFor()
  await page.keyboard.press('Escape')
  await type(page, 'delete app-03.example')
  await option(page, 'Delete app-03.example.com').click()
  await page.getByRole('alertdialog', { name: 'Delete domain' }).waitFor()
  await page.keyboard.press('Escape')
})

it('offers nothing that may not be done to the console and its own machine', async () => {
  const { page } = await site.open('/nodes')
  for (const [typed, shown] of [
    ['disable console', /^Console/],
    ['delete console', /^Console/],
    ['disable local', /^Local/],
    ['rotate token of local', /^Local/],
    ['delete all of local', /^Local/],
  ] as const) {
    await type(page, typed)
    const options = palette(page).getByRole('option')
    // Below them may be services whose backend is called so.
    await expect(options.first(), typed).toHaveText(shown)
    await expect(options.filter({ hasText: /^(Disable|Delete|Disconnect|Rotate)/ })).toHaveCount(0)
    await page.keyboard.press('Escape')
  }
})

it('says what is missing, and a name with a verb in it is found first', async () => {
  await site.api.publish(node.id, { name: 'Open WebUI', domain: 'ai.example.com' })
  const { page } = await site.open('/nodes')
  await type(page, '')
  await palette(page).getByText('disable grafana').waitFor()
  await page.keyboard.type('disable')
  await palette(page).getByText('Go on with the name').waitFor()
  await page.keyboard.press('Escape')
  await type(page, 'open webui')
  await expect(palette(page).getByRole('option').first()).toContainText('Open WebUI')
  await page.keyboard.press('Enter')
  await expectFocus(page.getByRole('link', { name: 'Open WebUI' }))
})
