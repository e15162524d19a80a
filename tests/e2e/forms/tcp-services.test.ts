import type { CreatedNode } from '@postern/contract/nodes'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fake-edge'
import { until } from '@postern/testkit/until'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, type Site, startSite } from '../harness.ts'
import { choose, menuItems, rowOf } from '../steps.ts'

const FORM = 'Expose TCP Service on Node'
const INFO = 'Your Service is Now Publicly Available'
const MENU = ['Info', 'Logs Monitor', 'Edit Service', 'Disable Access', 'Delete Service']

let site: Site
let edge: FakeEdge
let node: CreatedNode
let gateway: CreatedNode

beforeAll(async () => {
  site = await startSite({ POSTERN_PORT_RANGE: '32660-32669' })
  edge = await connectFakeEdge(site.paths)
  node = await site.api.createNode({ name: 'office' })
  const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  gateway = await site.api.createNode({ name: 'branch', isGateway: true, gatewayNetworks })
  edge.sendPeers([onlinePeer(node.id), onlinePeer(gateway.id)])
  await until('the node to be online', async () => (await site.api.getNode(node.id)).status === 'online')
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

describe('publishing a TCP service', () => {
  it('has the labels, the defaults and the hints that it should', async () => {
    const { visit, form } = await openForm()
    await form.getByText('Publish any TCP or UDP program of this node on a public port.').waitFor()
    await expect(form.getByLabel(label('Node Name'))).toHaveValue('office')
    await expect(form.getByLabel(label('Node Name'))).not.toBeEditable()
    await expect(form.getByLabel(label('Service Name'))).toHaveValue('')
    await expect(form.getByLabel('Public Domain (Optional)')).toHaveValue('')
    const port = form.getByLabel('Public Port (Optional)')
    await expect(port).toHaveValue('')
    await expect(port).toHaveAttribute('placeholder', 'Assigned Automatically')
    await expect(port).toHaveAccessibleDescription('A free port from 32660 to 32669.')
    const protocol = form.getByLabel(label('Protocol'))
    await expect(protocol).toHaveValue('tcp')
    await expect(protocol.getByRole('option')).toHaveText(['tcp://', 'udp://'])
    await expect(form.getByLabel(label('Backend Hostname/IP'))).toBeDisabled()
    await expect(form.getByLabel(label('Backend Port'))).toHaveValue('1883')
    await expect(form.getByLabel(label('Backend Port'))).toHaveAttribute('placeholder', '1883')
    for (const name of ['Allowed IPs', 'Blocked IPs'])
      await expect(form.getByText(name).first()).toBeVisible()
    await form.getByText('tcp://203.0.113.1:assigned').waitFor()
    await visit.expectAccessible()
    visit.expectNoComplaints()
    await visit.close()
  })

  it('says where the program must listen once the node has a WireGuard file, which has no CLI', async () => {
    const words = /The program must listen on 10\.64\.\d+\.\d+, because this node uses a WireGuard file\.$/
    const host = label('Backend Hostname/IP')
    const first = await openForm()
    await expect(first.form.getByLabel(host)).toHaveAccessibleDescription(
      /^This node can only expose its own/,
    )
    await expect(first.form.getByText(words)).toHaveCount(0)
    await first.visit.close()
    const filed = await site.api.createNode({ name: 'filed' })
    await site.api.call('GET', `/api/nodes/${filed.id}/download`)
    const { visit, form } = await openForm(filed.id)
    await expect(form.getByLabel(host)).toHaveAccessibleDescription(words)
    await expect(form.getByText(filed.address).last()).toBeVisible()
    await visit.expectAccessible()
    visit.expectNoComplaints()
    await visit.close()
  })

  it('explains SSL termination, and has none of it for UDP', async () => {
    const { visit, form } = await openForm()
    const ssl = form.getByLabel('Enable SSL Termination')
    await expect(ssl).not.toBeChecked()
    await form.getByText('Client-to-proxy TLS only; backend traffic stays unencrypted.').waitFor()
    await form.getByText('Not for PostgreSQL, STARTTLS').waitFor()
    await ssl.check()
    await form.getByText("Without a domain it uses this installation's own certificate.").waitFor()
    await form.getByLabel('Public Domain (Optional)').fill('mqtt.example.com')
    await expect(form.getByText("installation's own certificate")).toHaveCount(0)
    await form.getByLabel(label('Protocol')).selectOption('udp://')
    await expect(ssl).not.toBeChecked()
    await expect(ssl).toBeDisabled()
    await form.getByText('Not available over UDP, which has no TLS here.').waitFor()
    await form.getByLabel(label('Protocol')).selectOption('tcp://')
    await expect(ssl).toBeEnabled()
    await expect(ssl).not.toBeChecked()
    visit.expectNoComplaints()
    await visit.close()
  })

  it('goes from the form to the info dialog to a live row, with the lowest free port', async () => {
    const { visit, page, form } = await openForm()
    visit.forgive(/422|The form was not saved/)
    await form.getByLabel(label('Service Name')).fill('mqtt')
    await form.getByLabel('Enable SSL Termination').check()
    await form.getByRole('button', { name: 'Save' }).click()
    // Without a domain it is at the console's own address.
    await form.getByText(/browsers send its cookies to this port too/).waitFor()
    await form.getByLabel('Trust With Sign-In Cookies').check()
    await form.getByRole('button', { name: 'Save' }).click()
    const info = page.getByRole('dialog', { name: INFO })
    await info.getByText('mqtt', { exact: true }).waitFor()
    await info.getByText('SSL', { exact: true }).waitFor()
    await info.getByText('Self-signed: programs refuse it until they').waitFor()
    await info.getByRole('link', { name: 'tcp://203.0.113.1:32660' }).waitFor()
    await info.getByText('tcp://localhost:1883').waitFor()
    await info.getByText('No restrictions').waitFor()
    await info.getByText('None', { exact: true }).waitFor()
    await visit.expectAccessible()
    await info.getByRole('button', { name: 'Got it!' }).click()
    const row = rowOf(page, 'mqtt')
    await row.getByText('Live').waitFor()
    await row.getByRole('link', { name: 'tcp://203.0.113.1:32660' }).waitFor()
    await row.getByText('Proxy -> tcp://localhost:1883').waitFor()
    await visit.expectAccessible()
    expect(edge.state()?.sections.ports).toMatchObject([
      {
        proto: 'tcp',
        port: 32660,
        tls: { domain: null },
        backend: { host: null, port: 1883 },
        enabled: true,
      },
    ])
    visit.expectNoComplaints()
    await visit.close()
  })

  it('shows a UDP service of a gateway with its domain, its backend and its lists', async () => {
    await site.api.createDomain({ domain: 'dns.example.com' })
    const { visit, page, form } = await openForm(gateway.id)
    await form.getByLabel(label('Service Name')).fill('dns')
    await form.getByLabel('Public Domain (Optional)').fill('dns.example.com')
    await form.getByLabel('Public Port (Optional)').fill('32669')
    await form.getByLabel(label('Protocol')).selectOption('udp://')
    await form.getByLabel(label('Backend Port')).fill('53')
    await form.getByRole('button', { name: 'Save' }).click()
    await expectError(form.getByLabel(label('Backend Hostname/IP')), 'This field is required')
    await form.getByLabel(label('Backend Hostname/IP')).fill('192.168.7.1')
    for (const [list, address] of Object.entries({ Allowed: '198.51.100.0/24', Blocked: '198.51.100.66' })) {
      await form
        .getByRole('group', { name: `${list} IPs` })
        .getByRole('button', { name: 'Add IP' })
        .click()
      await form.getByRole('textbox', { name: `${list} IP 1` }).fill(address)
    }
    await form.getByText('udp://dns.example.com:32669').waitFor()
    await form.getByRole('button', { name: 'Save' }).click()
    const info = page.getByRole('dialog', { name: INFO })
    await info.getByRole('link', { name: 'udp://dns.example.com:32669' }).waitFor()
    await expect(info.getByText('SSL', { exact: true })).toHaveCount(0)
    for (const text of ['udp://192.168.7.1:53', '198.51.100.0/24', '198.51.100.66'])
      await info.getByText(text, { exact: true }).waitFor()
    await info.getByRole('button', { name: 'Got it!' }).click()
    await rowOf(page, 'dns').getByText('Proxy -> 192.168.7.1:53').waitFor()
    const [dns] = (edge.state()?.sections.ports ?? []).filter(({ proto }) => proto === 'udp')
    await edge.setPorts({ ipv4Only: [dns?.id ?? 0], ipv6Only: [], held: { tcp: [], udp: [] } })
    await rowOf(page, 'dns').getByText('IPv4 only: the backend has no IPv6 address').waitFor()
    visit.expectNoComplaints()
    await visit.close()
  })

  it('says under each field what is wrong with it, all at once', async () => {
    const { visit, form } = await openForm()
    await form.getByLabel('Public Domain (Optional)').fill('not a domain')
    await form.getByLabel('Public Port (Optional)').fill('70000')
    await form.getByLabel(label('Backend Port')).fill('0')
    await form.getByRole('group', { name: 'Allowed IPs' }).getByRole('button', { name: 'Add IP' }).click()
    await form.getByRole('textbox', { name: 'Allowed IP 1' }).fill('300.1.1.1')
    await form.getByRole('button', { name: 'Save' }).click()
    await expectError(form.getByLabel(label('Service Name')), 'This field is required')
    await expectError(form.getByLabel('Public Domain (Optional)'), 'The domain must be in a valid format')
    for (const field of [form.getByLabel('Public Port (Optional)'), form.getByLabel(label('Backend Port'))])
      await expectError(field, 'Enter a port from 1 to 65535.')
    await expectError(form.getByRole('textbox', { name: 'Allowed IP 1' }), /Enter an IP address or network/)
    await visit.expectAccessible()
    visit.forgive(/Validation failed/)
    visit.expectNoComplaints()
    await visit.close()
  })

  it('shows a port that is taken, or is not one of the range, under its field, and keeps what was typed', async () => {
    const held = await site.api.publishPort(gateway.id, {
      name: 'held',
      port: 32668,
      backendHost: '192.168.7.2',
      backendPort: 1883,
    })
    const { visit, page, form } = await openForm()
    visit.forgive(/409|422|The form was not saved/)
    await form.getByLabel(label('Service Name')).fill('late')
    const port = form.getByLabel('Public Port (Optional)')
    const save = form.getByRole('button', { name: 'Save' })
    await port.fill('32668')
    await save.click()
    await expectError(port, 'tcp port 32668 already belongs to “held”')
    await visit.expectAccessible()
    await port.fill('8080')
    await form.getByLabel('Public Domain (Optional)').fill('nowhere.example.com')
    await page.keyboard.press('Tab')
    await save.click()
    await expectError(port, 'must be a port from 32660 to 32669')
    // No resolver of this machine knows the name.
    await expectError(form.getByLabel('Public Domain (Optional)'), /nowhere\.example\.com/)
    await form.getByLabel('Skip Domain Validation').check()
    await port.fill('32668')
    await save.click()
    await expectError(port, 'tcp port 32668 already belongs to “held”')
    // The same number is another port over UDP.
    await form.getByLabel(label('Protocol')).selectOption('udp://')
    await expect(port).not.toHaveAttribute('aria-invalid')
    await expect(form.getByLabel(label('Service Name'))).toHaveValue('late')
    await save.click()
    await page.getByRole('dialog', { name: INFO }).getByText('udp://nowhere.example.com:32668').waitFor()
    await site.api.removeService(held)
    visit.expectNoComplaints()
    await visit.close()
  })

  it('shows what the server refuses of SSL termination at its box', async () => {
    const { visit, page, form } = await openForm()
    visit.forgive(/422|The form was not saved/)
    const errors = [{ field: 'ssl', message: 'UDP has no TLS' }]
    await page.route('**/api/services/*/tcp', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 422, json: { message: 'Validation failed', errors } })
        : route.continue(),
    )
    await form.getByLabel(label('Service Name')).fill('odd')
    await form.getByRole('button', { name: 'Save' }).click()
    await expectError(form.getByLabel('Enable SSL Termination'), 'UDP has no TLS')
    visit.expectNoComplaints()
    await visit.close()
  })
})

describe('the card of TCP services', () => {
  it('says that there are none, then shows five at a time, finds and sorts them', async () => {
    const many = await site.api.createNode({ name: 'many' })
    const visit = await site.open(`/nodes/${many.id}`)
    const { page } = visit
    const card = cardOf(page)
    await card.getByText('No TCP services yet').waitFor()
    await expect(card.getByRole('button', { name: 'Add Service' })).toHaveCount(2)
    await expect(card.getByRole('searchbox')).toHaveCount(0)
    const services = []
    for (const name of ['f', 'b', 'e', 'a', 'd', 'c'])
      services.push(
        await site.api.publishPort(many.id, { name: `port-${name}`, proto: 'udp', backendPort: 1883 }),
      )
    await card.getByText('Showing 1 to 5 of 6 results').waitFor()
    await expect(card.locator('tbody tr')).toHaveCount(5)
    await card.getByRole('button', { name: 'Next' }).click()
    await rowOf(page, 'port-c').waitFor()
    await expect(page).toHaveURL(/tcp\.page=2/)
    await card.getByRole('button', { name: 'Name' }).click()
    await expect(card.locator('tbody b')).toHaveText(['port-a', 'port-b', 'port-c', 'port-d', 'port-e'])
    await card.getByRole('searchbox', { name: 'Search TCP services' }).fill('PORT-F')
    await expect(card.locator('tbody b')).toHaveText(['port-f'])
    await page.reload()
    await expect(card.locator('tbody b')).toHaveText(['port-f'])
    await card.getByRole('searchbox').fill('nothing')
    await card.getByText('No TCP services on this node match.').waitFor()
    await visit.expectAccessible()
    for (const service of services) await site.api.removeService(service)
    visit.expectNoComplaints()
    await visit.close()
  })

  it('edits, disables, enables and deletes', async () => {
    const service = await site.api.publishPort(node.id, {
      name: 'acted',
      port: 32667,
      ...{ ssl: true, confirmSharedCookies: true },
      backendPort: 1883,
    })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    const row = rowOf(page, 'acted')
    await row.getByText('TLS ends at the proxy').waitFor({ state: 'attached' })
    await row.getByRole('button', { name: 'Actions for acted' }).click()
    expect(await menuItems(page)).toEqual(MENU)
    await page.getByRole('menuitem', { name: 'Edit Service' }).click()
    const form = page.getByRole('dialog', { name: 'Edit TCP Service: acted' })
    await expect(form.getByLabel('Public Port (Optional)')).toHaveValue('32667')
    await expect(form.getByLabel('Enable SSL Termination')).toBeChecked()
    // Left empty it keeps the port that it has.
    await form.getByLabel('Public Port (Optional)').fill('')
    await form.getByLabel(label('Backend Port')).fill('9999')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: INFO }).getByText('tcp://203.0.113.1:32667').waitFor()
    await page.getByRole('button', { name: 'Got it!' }).click()
    await row.getByText('Proxy -> tcp://localhost:9999').waitFor()
    await choose(page, 'Actions for acted', 'Info')
    await page.getByRole('dialog', { name: INFO }).getByText('tcp://localhost:9999').waitFor()
    await page.getByRole('button', { name: 'Got it!' }).click()
    await choose(page, 'Actions for acted', 'Disable Access')
    await page.getByText(/are refused, and open ones end/).waitFor()
    await page.getByRole('button', { name: 'Yes, disable it!' }).click()
    await page.getByText('Service disabled from public access successfully!').waitFor()
    await row.getByText('tcp://203.0.113.1:32667').waitFor()
    await expect(row.getByRole('link')).toHaveText(['acted'])
    expect((await site.api.getService(service)).enabled).toBe(false)
    await choose(page, 'Actions for acted', 'Enable Access')
    await page.getByRole('button', { name: 'Yes, enable it!' }).click()
    await row.getByRole('link', { name: 'tcp://203.0.113.1:32667' }).waitFor()
    await choose(page, 'Actions for acted', 'Delete Service')
    await page.getByRole('button', { name: 'Yes, delete it!' }).click()
    await page.getByText('Service deleted successfully!').waitFor()
    await row.waitFor({ state: 'detached' })
    visit.expectNoComplaints()
    await visit.close()
  })
})

it('the nodes expose TCP services, the local one too', async () => {
  const visit = await site.open('/nodes')
  const { page } = visit
  for (const name of ['office', 'Local']) {
    await choose(page, `Actions for ${name}`, 'Expose TCP')
    const form = page.getByRole('dialog', { name: FORM })
    await expect(form.getByLabel(label('Node Name'))).toHaveValue(name)
    await expect(form.getByLabel(label('Backend Hostname/IP'))).toBeEnabled({ enabled: name === 'Local' })
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
  }
  visit.expectNoComplaints()
  await visit.close()
})

it('an expanded domain shows both kinds of its services by two requests', async () => {
  await site.api.createDomain({ domain: 'empty.shop.test' })
  const form = { name: 'broker', domain: 'full.shop.test', port: 32665 }
  await site.api.publishPort(gateway.id, { ...form, backendHost: '192.168.7.20', backendPort: 1883 })
  await site.api.publish(node.id, { name: 'shop', domain: 'full.shop.test' })
  const visit = await site.open('/domains?search=shop.test')
  const { page } = visit
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (/^\/api\/(services|nodes)\b/.test(pathname)) asked.push(pathname)
  })
  await page.getByRole('button', { name: 'Services of empty.shop.test' }).click()
  for (const type of ['HTTP', 'TCP'])
    await page
      .getByRole('region', { name: `${type} Services of empty.shop.test` })
      .getByText(`No ${type} services yet. Expose the first one from Client / Nodes.`)
      .waitFor()
  expect(asked.toSorted()).toEqual(['/api/services/http', '/api/services/tcp'])
  await page.getByRole('button', { name: 'Services of full.shop.test' }).click()
  const ports = page.getByRole('region', { name: 'TCP Services of full.shop.test' })
  await ports.getByRole('link', { name: 'tcp://full.shop.test:32665' }).waitFor()
  await ports.getByText('Proxy -> 192.168.7.20:1883').waitFor()
  await ports.getByRole('link', { name: 'branch' }).waitFor()
  await page
    .getByRole('region', { name: 'HTTP Services of full.shop.test' })
    .getByText('shop')
    .first()
    .waitFor()
  expect(new Set(asked)).toEqual(new Set(['/api/services/http', '/api/services/tcp']))
  await visit.expectAccessible()
  await ports.getByRole('button', { name: 'Actions for broker' }).click()
  expect(await menuItems(page)).toEqual(MENU.with(MENU.indexOf('Edit Service'), 'Go to node'))
  await page.getByRole('menuitem', { name: 'Go to node' }).click()
  await expect(page).toHaveURL(`${site.origin}/nodes/${gateway.id}`)
  visit.expectNoComplaints()
  await visit.close()
})

async function openForm(nodeId = node.id) {
  const visit = await site.open(`/nodes/${nodeId}`)
  const { page } = visit
  await cardOf(page).getByRole('button', { name: 'Add Service' }).first().click()
  const form = page.getByRole('dialog', { name: FORM })
  await form.waitFor()
  return { visit, page, form }
}

function cardOf(page: Page): Locator {
  return page.getByRole('region', { name: 'TCP Services' })
}

/** What is said under a field, which a screen reader reads with it. */
async function expectError(field: Locator, text: string | RegExp): Promise<void> {
  await expect(field).toHaveAttribute('aria-invalid', 'true')
  await expect(field).toHaveAccessibleDescription(text)
}
