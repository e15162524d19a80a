import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, menuItems, rowOf } from '../steps.ts'

/** Words, titles and places that the specification prescribes. */
const site = shared(() => startSite())
shared(() => connectFakeEdge(site.paths))
const gateway = shared(() =>
  site.api.createNode({
    name: 'office',
    isGateway: true,
    gatewayNetworks: [
      { interface: 'eth0', subnet: '192.168.7.0/24' },
      { interface: 'eth1', subnet: '192.168.8.0/24' },
    ],
  }),
)
beforeAll(async () => {
  await site.api.createNode({ name: 'nas' })
})

it('every page has its title, also when it is opened directly', async () => {
  const visit = await site.open('/')
  const { page } = visit
  const titles = {
    '/': 'Home · Postern',
    '/nodes': 'Client / Nodes · Postern',
    [`/nodes/${gateway.id}`]: 'office · Postern',
    '/domains': 'Domains · Postern',
    '/nowhere': 'Not found · Postern',
  }
  for (const [path, title] of Object.entries(titles)) {
    await page.goto(`${site.origin}${path}`)
    await expect(page).toHaveTitle(title)
  }
  // Pending requests of the last page would be refused without the session.
  await page.goto('about:blank')
  await visit.context.clearCookies()
  await page.goto(`${site.origin}/login`)
  await expect(page).toHaveTitle('Sign in · Postern')
})

it('home welcomes and offers the first steps; signing in means agreeing to the terms', async () => {
  const visit = await site.open('/')
  const { page } = visit
  await page.getByRole('heading', { name: 'Welcome, admin' }).waitFor()
  for (const name of ['Create Node', 'Install the CLI', 'Gateway Deployments', 'Help'])
    await page.getByRole('heading', { name, exact: true }).waitFor()
  const help = page.getByRole('region', { name: 'Help' })
  await expect(help.getByRole('link', { name: 'Contact us' })).toHaveAttribute('href', '/docs/contact')
  await expect(page.getByRole('link', { name: /Sponsor|Star/ })).toHaveCount(0)
  await page.goto('about:blank')
  await visit.context.clearCookies()
  await page.goto(`${site.origin}/login`)
  await page.getByText('By signing in you agree to the').waitFor()
  await expect(page.getByRole('link', { name: 'terms of service' })).toHaveAttribute('href', '/docs/terms')
})

describe('the nodes', () => {
  it('have the columns, badges and explanations of the specification', async () => {
    const { page } = await site.open('/nodes')
    await rowOf(page, 'office').waitFor()
    await expect(page.getByRole('columnheader')).toHaveText([
      /^status$/i,
      'Name',
      'Type',
      'Services',
      'Latest Handshake',
      'Received (KB)',
      'Transmitted (KB)',
      'Last 24 Hours',
      /^actions$/i,
    ])
    await tooltip(page, 'Local', 'Created automatically to expose internal services running on this server.')
    await tooltip(page, 'nas', 'This is a standard client and only routes traffic to itself.')
    await tooltip(page, 'office', 'eth0: 192.168.7.0/24 eth1: 192.168.8.0/24')
    await tooltip(page, 'office', 'Forwards traffic to these networks and handles external connections.')
    await expect(rowOf(page, 'Local').locator('.dot')).toHaveCount(0)
    await expect(rowOf(page, 'nas').locator('.dot.offline')).toHaveCount(1)
    await page.getByRole('button', { name: 'Actions for nas' }).click()
    expect(await menuItems(page)).toEqual([
      'View Node Details',
      'Edit Node',
      'Expose HTTP',
      'Expose TCP',
      'Download Config',
      'Mute Alerts',
      'Disconnect',
      'Delete Node',
    ])
  })

  it('that do not exist yet are mentioned beside the local one', async () => {
    const other = await startSite()
    const visit = await other.open('/nodes')
    const { page } = visit
    await page.getByRole('heading', { name: 'No nodes yet' }).waitFor()
    await page
      .getByText(
        "You haven't added any node yet. Once you add nodes, they will appear here for easy management.",
      )
      .waitFor()
    await rowOf(page, 'Local').waitFor()
    await page.getByRole('button', { name: 'Nodes', exact: true }).click()
    await page.getByText('No plain node has been added.').waitFor()
    await page.getByRole('button', { name: 'Gateways', exact: true }).click()
    await page.getByText('No node acts as a network gateway.').waitFor()
    await page.getByRole('main').getByRole('button', { name: 'View All' }).last().click()
    await page.getByRole('button', { name: 'Add Node' }).click()
    await page.getByRole('dialog', { name: 'Client / Node Configuration' }).waitFor()
  })

  it('have a page with their details', async () => {
    const { page } = await site.open(`/nodes/${gateway.id}`)
    await page.getByRole('heading', { name: 'office' }).waitFor()
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('listitem')
    await expect(crumbs).toHaveText(['Client / Nodes', 'office'])
    await page.getByText('eth0: 192.168.7.0/24, eth1: 192.168.8.0/24').waitFor()
    await expect(page.locator('dl.facts dt')).toHaveText([
      'Client IP',
      'Latest Handshake',
      'Transmitted',
      'Received',
      'Send all internet traffic through the VPN',
      'Agent May Publish Services',
    ])
    await expect(page.locator('dl.facts dd')).toHaveText(['-', '-', '-', '-', 'No', 'No'])
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    const items = await menuItems(page)
    expect(items.slice(0, 3)).toEqual(['Edit Node', 'Download Config', 'Mute Alerts'])
  })

  it('the local one has no connection, file or menu, and its console cannot be removed', async () => {
    const { page } = await site.open('/nodes')
    await page.getByRole('link', { name: 'Local' }).click()
    await page.getByRole('heading', { name: 'Local' }).waitFor()
    await rowOf(page, 'Console').waitFor()
    await expect(page.locator('dl.facts')).toHaveCount(0)
    await expect(page.getByRole('button', { name: 'Actions', exact: true })).toHaveCount(0)
    await page.getByRole('button', { name: 'Actions for Console' }).click()
    expect(await menuItems(page)).toEqual([
      'Info',
      'Logs Monitor',
      'Why?',
      'Requests',
      'Traffic',
      'History',
      'Edit Service',
    ])
    await page.getByRole('menuitem', { name: 'Edit Service' }).click()
    const form = page.getByRole('dialog')
    for (const name of ['Public HTTP Path', 'Backend Protocol', 'Hostname/IP', 'Backend Port'])
      await expect(form.getByLabel(label(name)), name).toBeDisabled()
    for (const name of ['Service Name', 'Public Domain'])
      await expect(form.getByLabel(label(name)), name).toBeEnabled()
    await form.getByRole('button', { name: 'Add IP' }).first().click()
    await form.getByRole('textbox', { name: 'Allowed IP 1' }).fill('127.0.0.1')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' }).waitFor()
  })
})

describe('an HTTP service', () => {
  it('is described by its form, whose node tooltip shows the real status', async () => {
    const { page } = await site.open('/nodes')
    await choose(page, 'Actions for office', 'Expose HTTP')
    const form = page.getByRole('dialog', { name: 'Expose HTTP Service on Node' })
    await expect(form.getByLabel('Node Name', { exact: true })).toHaveValue('office')
    await form.getByRole('button', { name: /About the node/ }).hover()
    await page.locator('.tooltip').waitFor()
    await expect(page.locator('.tooltip .line')).toHaveText([
      'Node: office',
      `Internal IP: ${gateway.address}`,
      'Status: Not connected',
      'Gateway: Yes',
    ])
    const tops = await page
      .locator('.tooltip .line')
      .evaluateAll((lines) => lines.map((line) => line.getBoundingClientRect().top))
    expect(new Set(tops).size).toBe(4)
    await expect(form.getByLabel(label('Backend Protocol')).locator('option')).toHaveText([
      'http://',
      'https://',
    ])
    await form.getByLabel(label('Service Name')).fill('x')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('This field is required').waitFor()
    await expect(form.getByLabel(label('Hostname/IP'))).toHaveAttribute('aria-invalid', 'true')
    await form.getByLabel(label('Public HTTP Path')).fill('')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('A domain or a path is required').waitFor()
    await form.getByRole('button', { name: 'Add IP' }).first().click()
    await form.getByRole('textbox', { name: 'Allowed IP 1' }).fill('300.1.1.1')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Enter an IP address or network').waitFor()
    await expect(form.getByRole('textbox', { name: 'Allowed IP 1' })).toHaveAccessibleDescription(
      /^Enter an IP address/,
    )
  })

  it('takes one of the known domains from the list', async () => {
    await site.api.createDomain({ domain: 'known.example.com' })
    const { page } = await site.open(`/nodes/${gateway.id}`)
    await page.getByRole('button', { name: 'Add Service' }).first().click()
    const form = page.getByRole('dialog')
    await form.getByLabel(label('Public Domain')).click()
    await page.keyboard.type('kno')
    await page.getByRole('option', { name: 'known.example.com' }).click()
    await expect(form.getByLabel(label('Public Domain'))).toHaveValue('known.example.com')
    await form.getByText(`https://known.example.com/`).waitFor()
  })

  it('with lists and a plain address shows both in its info', async () => {
    const service = await site.api.publish(gateway.id, {
      name: 'guarded',
      pathLocation: '/guarded',
      backendHost: '192.168.7.12',
      backendProto: 'https',
      backendPort: 8443,
      allowedIps: ['203.0.113.0/24'],
      blockedIps: ['203.0.113.66'],
    })
    await site.api.setEnabled(service, false)
    const { page } = await site.open(`/nodes/${gateway.id}`)
    const row = rowOf(page, 'guarded')
    await row.getByText('Proxy -> 192.168.7.12:8443').waitFor()
    await expect(row.locator('.dot.disabled')).toHaveCount(1)
    await expect(row.getByRole('link')).toHaveText(['guarded'])
    await choose(page, 'Actions for guarded', 'Info')
    const info = page.getByRole('dialog', { name: 'Saved' })
    await info.getByText('guarded is disabled. Enable it to make it available.').waitFor()
    for (const text of ['https://192.168.7.12:8443', '203.0.113.0/24', '203.0.113.66', 'guarded'])
      await info.getByText(text, { exact: true }).waitFor()
  })
})

it('a domain without services has a hint in its row, and its menu', async () => {
  await site.api.createDomain({ domain: 'empty.example.com' })
  const { page } = await site.open('/domains')
  await page.getByRole('button', { name: 'Services of empty.example.com' }).click()
  const hint = page.getByText(/No HTTP services yet/)
  await hint.getByRole('link', { name: 'Client / Nodes' }).waitFor()
  await expect(page.getByRole('columnheader')).toContainText(['Domain', 'SSL Certs', 'Created At'])
  await page.getByRole('button', { name: 'Actions for empty.example.com' }).click()
  expect(await menuItems(page)).toEqual(['Logs Monitor', 'Edit Domain', 'Delete Domain'])
  await page.getByRole('menuitem', { name: 'Edit Domain' }).click()
  const form = page.getByRole('dialog', { name: 'Domain & SSL Settings' })
  await form.getByText('Set up a domain pointing to Postern').waitFor()
  await expect(form.getByLabel('SSL Certificate Type')).toHaveValue('self-signed')
  await form.getByLabel('Skip Domain Validation').waitFor()
  await form.getByText('Self-Signed when skipping domain validation').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Domain updated successfully!').waitFor()
})

async function tooltip(page: Page, name: string, words: string): Promise<void> {
  await rowOf(page, name).locator('.badge').hover()
  await page.locator('.tooltip').getByText(words).waitFor()
  await page.mouse.move(0, 0)
  await page.locator('.tooltip').waitFor({ state: 'detached' })
}
