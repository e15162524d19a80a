import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { until } from '@postern/testkit/until'
import type { Locator, Page } from 'playwright'
import { startSite } from './harness.ts'

export const FORM = 'Expose TCP Service on Node'
export const INFO = 'Your Service is Now Publicly Available'

/** A site with ten public ports, a node and a gateway, both online. */
export async function startTcpSite() {
  const site = await startSite({ POSTERN_PORT_RANGE: '32660-32669' })
  const edge = await connectFakeEdge(site.paths)
  const node = await site.api.createNode({ name: 'office' })
  const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  const gateway = await site.api.createNode({ name: 'branch', isGateway: true, gatewayNetworks })
  edge.sendPeers([onlinePeer(node.id), onlinePeer(gateway.id)])
  await until('the node to be online', async () => (await site.api.getNode(node.id)).status === 'online')
  const close = async () => {
    edge.close()
    await site.close()
  }
  return { site, edge, node, gateway, close }
}

export function cardOf(page: Page): Locator {
  return page.getByRole('region', { name: 'TCP Services' })
}
