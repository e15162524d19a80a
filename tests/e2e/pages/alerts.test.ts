import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fakes/fake-edge'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, type Site, startSite } from '../harness.ts'
import { lookAt, type Scene } from '../scenes.ts'
import { choose, rowOf } from '../steps.ts'

let site: Site
let edge: FakeEdge
let node: number

const MAIL = {
  kind: 'email',
  name: 'Operators',
  host: 'smtp.example.com',
  port: 465,
  username: 'postern',
  password: 'a password',
  sender: 'postern@example.com',
  recipients: ['ann@example.com', 'ops@example.com'],
}

beforeAll(async () => {
  site = await startSite()
  edge = await connectFakeEdge(site.paths)
  node = (await site.api.createNode({ name: 'office' })).id
  await site.api.publish(node, { name: 'wiki', domain: 'wiki.example.com', backendPort: 8080 })
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

const open = async (page: Page, button: string) => {
  await page.getByRole('button', { name: button, exact: true }).first().click()
  return page.getByRole('dialog')
}
const kind = async (page: Page, value: string) => {
  const dialog = await open(page, 'Add Channel')
  await dialog.getByLabel('Type').selectOption(value)
}
const addMail = async () => {
  const held = await site.api.call('GET', '/api/alerts/channels')
  if (JSON.stringify(held.json) === '[]') await site.api.call('POST', '/api/alerts/channels', MAIL)
}

const scenes: Scene[] = [
  { name: 'alerts', path: () => '/alerts', shows: 'No open alerts' },
  { name: 'alerts-history', path: () => '/alerts/history', shows: 'No messages yet' },
  {
    name: 'alerts-channels',
    path: () => '/alerts/channels',
    async act(page) {
      await addMail()
      await page.reload()
    },
    shows: 'smtp.example.com:465',
  },
  {
    name: 'alerts-email',
    path: () => '/alerts/channels',
    act: (page) => open(page, 'Add Channel'),
    shows: 'Mail Server',
  },
  {
    name: 'alerts-ntfy',
    path: () => '/alerts/channels',
    act: (page) => kind(page, 'ntfy'),
    shows: 'choose one that nobody can guess',
  },
  {
    name: 'alerts-webhook',
    path: () => '/alerts/channels',
    act: (page) => kind(page, 'webhook'),
    shows: 'checks the signature',
  },
  { name: 'alerts-rules', path: () => '/alerts/rules', shows: 'Sign-in From a New Network' },
  {
    name: 'alerts-own-rule',
    path: () => '/alerts/rules',
    async act(page) {
      const dialog = await open(page, 'Add Rule')
      await dialog.getByLabel('Figure').selectOption('p95')
      await dialog.getByLabel('Of', { exact: true }).selectOption('domainId')
    },
    shows: 'if they are 20 or more',
  },
  {
    name: 'alerts-quiet-hours',
    path: () => '/alerts/rules',
    async act(page) {
      const dialog = await open(page, 'Edit')
      await dialog.getByRole('checkbox', { name: 'On' }).check()
    },
    shows: 'Time Zone',
  },
  {
    name: 'alerts-mute',
    path: () => '/nodes',
    act: (page) => choose(page, 'Actions for office', 'Mute Alerts'),
    shows: 'Nobody is told',
  },
]

lookAt(() => site, scenes, {
  widths: [
    [1440, 1024],
    [390, 360],
  ],
  axe: [1440, 390],
})

describe('a channel', () => {
  it('is tried before it is saved, shows why it does not work, and never shows its secret', async () => {
    const visit = await site.open('/alerts/channels')
    const { page } = visit
    const dialog = await open(page, 'Add Channel')
    await dialog.getByLabel('Type').selectOption('ntfy')
    await dialog.getByLabel(label('Name')).fill('Phone')
    await dialog.getByRole('button', { name: 'Send Test' }).click()
    await dialog.getByText('This field is required').waitFor()
    await dialog.getByLabel(label('Topic')).fill('https://127.0.0.1/my-topic')
    await dialog.getByRole('button', { name: 'Send Test' }).click()
    await dialog.getByText('a loopback, link-local or reserved address').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Channel created successfully!').waitFor()
    await expect(rowOf(page, 'Phone')).toContainText('127.0.0.1')
    await choose(page, 'Actions for Phone', 'Edit Channel')
    await expect(page.getByRole('dialog').getByLabel('Topic')).toHaveValue('Stored')
    expect(await page.content()).not.toContain('my-topic')
    await page.getByRole('dialog').getByRole('button', { name: 'Send Test' }).click()
    await page.getByRole('dialog').getByText('a loopback, link-local or reserved address').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await choose(page, 'Actions for Phone', 'Delete Channel')
    await page.getByRole('button', { name: 'Yes, delete it!' }).click()
    await page.getByText('Channel deleted successfully!').waitFor()
    visit.expectNoComplaints()
    await visit.close()
  })
})

describe('a rule', () => {
  it('of one’s own is made for a service, changed and deleted', async () => {
    const visit = await site.open('/alerts/rules')
    const { page } = visit
    const dialog = await open(page, 'Add Rule')
    await dialog.getByLabel(label('Name')).fill('Busy wiki')
    await dialog.getByLabel('Of', { exact: true }).selectOption('serviceId')
    await dialog.getByLabel(label('Limit (per minute)')).fill('100')
    // One service that nobody chose must not become all of them.
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Choose one from the list.').waitFor()
    await dialog.getByRole('combobox', { name: 'Service' }).fill('wiki')
    await page.getByRole('option', { name: 'wiki (office)' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Rule created successfully!').waitFor()
    await expect(rowOf(page, 'Busy wiki')).toContainText('Requests of wiki above 100 per minute.')
    await choose(page, 'Actions for Busy wiki', 'Edit Rule')
    await page.getByRole('dialog').getByLabel(label('Minutes')).fill('0')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Enter 1 to 1440 minutes.').waitFor()
    await page.getByRole('dialog').getByLabel(label('Minutes')).fill('15')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await expect(rowOf(page, 'Busy wiki')).toContainText('15 minutes')
    await choose(page, 'Actions for Busy wiki', 'Delete Rule')
    await page.getByRole('button', { name: 'Yes, delete it!' }).click()
    await expect(rowOf(page, 'Busy wiki')).toHaveCount(0)
    visit.expectNoComplaints()
    await visit.close()
  })

  it('watches response times of a domain, then the errors of an edge', async () => {
    const visit = await site.open('/alerts/rules')
    const { page } = visit
    const dialog = await open(page, 'Add Rule')
    await dialog.getByLabel(label('Name')).fill('Slow')
    await dialog.getByLabel('Figure').selectOption({ label: 'Response Time (95 % within), ms' })
    await dialog.getByText('of all requests of so many minutes, if they are 20 or more').waitFor()
    await dialog.getByLabel('Of', { exact: true }).selectOption('domainId')
    await dialog.getByRole('combobox', { name: 'Domain' }).fill('wiki')
    await page.getByRole('option', { name: 'wiki.example.com' }).click()
    await dialog.getByLabel(label('Limit (ms)')).fill('40000')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Enter 0 to 30,000 ms.').waitFor()
    await dialog.getByLabel(label('Limit (ms)')).fill('1500')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(rowOf(page, 'Slow')).toContainText(
      'Response Time (95 % within) of wiki.example.com above 1,500 ms.',
    )
    await choose(page, 'Actions for Slow', 'Edit Rule')
    await expect(dialog.getByRole('combobox', { name: 'Domain' })).toHaveValue('wiki.example.com')
    await dialog.getByLabel('Figure').selectOption({ label: 'Error Share, %' })
    await dialog.getByLabel('Of', { exact: true }).selectOption('edgeId')
    await dialog.getByLabel(label('Edge')).selectOption({ label: 'Local' })
    await dialog.getByLabel(label('Limit (%)')).fill('5')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(rowOf(page, 'Slow')).toContainText('Error Share of Local above 5 %.')
    visit.expectNoComplaints()
    await visit.close()
  })

  it('that is built in is turned off, and cannot be deleted', async () => {
    const visit = await site.open('/alerts/rules')
    const { page } = visit
    await choose(page, 'Actions for Disk Nearly Full', 'Edit Rule')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(label('Percent Free')).fill('5')
    await dialog.getByRole('checkbox', { name: 'On' }).uncheck()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(rowOf(page, 'Disk Nearly Full')).toContainText('Less than 5 %')
    await expect(rowOf(page, 'Disk Nearly Full')).toContainText('Off')
    await page.getByRole('button', { name: 'Actions for Disk Nearly Full' }).click()
    await expect(page.getByRole('menuitem')).toHaveText(['Edit Rule'])
    visit.expectNoComplaints()
    await visit.close()
  })
})

describe('a node', () => {
  it('is muted and unmuted by its menu, and shows that it is', async () => {
    const visit = await site.open('/nodes')
    const { page } = visit
    await choose(page, 'Actions for office', 'Mute Alerts')
    await page.getByLabel('How long').selectOption({ label: 'Until I unmute it' })
    await page.getByRole('button', { name: 'Mute', exact: true }).click()
    await page.getByText('Alerts are muted.').waitFor()
    await expect(rowOf(page, 'office').getByText('Alerts are muted')).toHaveCount(1)
    await page.goto(`${site.origin}/nodes/${node}`)
    await page.getByRole('heading', { name: 'office' }).waitFor()
    await choose(page, 'Actions', 'Unmute Alerts')
    await page.getByText('Alerts are on again.').waitFor()
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Mute Alerts', exact: true }).waitFor()
    visit.expectNoComplaints()
    await visit.close()
  })
})
