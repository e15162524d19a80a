import type { CreatedNode } from '@postern/contract/nodes'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fake-edge'
import { until } from '@postern/testkit/until'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expect } from './expect.ts'
import { label, type Site, startSite } from './harness.ts'
import { rowOf } from './steps.ts'

const FORM = 'Expose TCP Service on Node'
const INFO = 'Your Service is Now Publicly Available'

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
    await expect(port).toHaveAccessibleDescription('A free port from 32660-32669.')
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

  it('explains SSL termination, and has none of it for UDP', async () => {
    const { visit, form } = await openForm()
    const ssl = form.getByLabel('Enable SSL Termination')
    await expect(ssl).not.toBeChecked()
    await form.getByText('Client-to-proxy TLS only; backend traffic stays unencrypted.').waitFor()
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
    await form.getByLabel(label('Service Name')).fill('mqtt')
    await form.getByLabel('Enable SSL Termination').check()
    await form.getByRole('button', { name: 'Save' }).click()
    const info = page.getByRole('dialog', { name: INFO })
    await info.getByText('mqtt', { exact: true }).waitFor()
    await info.getByText('SSL', { exact: true }).waitFor()
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
})

async function openForm(nodeId = node.id) {
  const visit = await site.open(`/nodes/${nodeId}`)
  const { page } = visit
  await card(page).getByRole('button', { name: 'Add Service' }).first().click()
  const form = page.getByRole('dialog', { name: FORM })
  await form.waitFor()
  return { visit, page, form }
}

function card(page: Page): Locator {
  return page.getByRole('region', { name: 'TCP Services' })
}
