import { LIMITS } from '@postern/contract/limits'
import type { GatewayNetwork, Node, NodeFormInput } from '@postern/contract/nodes'

export const NEW_NODE = {
  name: '',
  address: '',
  dns: '',
  keepalive: LIMITS.keepaliveSeconds,
  isGateway: false,
  gatewayNetworks: [],
  allowInternet: false,
  advanced: false,
  agentMayPublish: false,
  agentDomains: [],
  agentMaxServices: LIMITS.agentServices,
  agentMaxDomains: LIMITS.agentPublishedDomains,
  agentMaxPorts: LIMITS.agentPorts,
  agentMaxEntries: LIMITS.agentEntries,
} satisfies NodeFormInput

/** What the node form holds while it is edited: texts, never null. */
export function nodeValues(node: Node) {
  return {
    name: node.name,
    address: node.address,
    dns: node.dns ?? '',
    keepalive: node.keepalive,
    isGateway: node.isGateway,
    gatewayNetworks: (node.gatewayNetworks ?? []).map((row) => ({ ...row })),
    allowInternet: node.allowInternet,
    advanced: node.advanced,
    agentMayPublish: node.agentMayPublish,
    agentDomains: [...node.agentDomains],
    agentMaxServices: node.agentMaxServices,
    agentMaxDomains: node.agentMaxDomains,
    agentMaxPorts: node.agentMaxPorts,
    agentMaxEntries: node.agentMaxEntries,
  } satisfies NodeFormInput
}

/** The rows after the gateway box was ticked (one to fill in) or unticked (none). */
export function rowsForGateway(isGateway: boolean): GatewayNetwork[] {
  return isGateway ? [{ interface: 'eth0', subnet: '' }] : []
}

/** A further row is named by how many there are; a name that is taken already moves on to the next free one. */
export function nextRow(rows: readonly GatewayNetwork[]): GatewayNetwork {
  const taken = new Set(rows.map((row) => row.interface))
  let number = rows.length
  while (taken.has(`eth${number}`)) number++
  return { interface: `eth${number}`, subnet: '' }
}
