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

/** The node form's values while it is edited: texts, never null. */
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

/** A new row is named by the number of rows; if that name is taken, by the next free number. */
export function nextRow(rows: readonly GatewayNetwork[]): GatewayNetwork {
  const taken = new Set(rows.map((row) => row.interface))
  let number = rows.length
  while (taken.has(`eth${number}`)) number++
  return { interface: `eth${number}`, subnet: '' }
}
