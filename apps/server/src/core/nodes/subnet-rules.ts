import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import type { GatewayNetwork } from '@postern/contract/nodes'
import { type Cidr, findCidr, formatCidr, overlaps } from '@postern/net/cidr'
import { findSubnetFault } from '@postern/net/targets'

/** A network that is in use, and the words for its user. */
export interface UsedNetwork {
  network: Cidr
  what: string
}

/** The texts that are networks or addresses, each with the same words. */
export function usedNetworks(texts: readonly string[], what: string): UsedNetwork[] {
  return texts.flatMap((text) => {
    const network = findCidr(text)
    return network ? [{ network, what }] : []
  })
}

/**
 * Why some of a gateway's subnets cannot be routed into the tunnel, under the fields of the form.
 * @param used what the tunnel and this machine need for themselves
 */
export function listSubnetErrors(
  networks: readonly GatewayNetwork[],
  used: readonly UsedNetwork[],
): FieldError[] {
  return networks.flatMap(({ subnet }, index) => {
    const cidr = findCidr(subnet)
    const message = cidr && whyNotSubnet(cidr, networks.slice(0, index), used)
    return message ? [{ field: `gatewayNetworks.${index}.subnet`, message }] : []
  })
}

function whyNotSubnet(
  cidr: Cidr,
  before: readonly GatewayNetwork[],
  used: readonly UsedNetwork[],
): string | undefined {
  const twins = usedNetworks(
    before.map(({ subnet }) => subnet),
    'of the same gateway',
  )
  const fault = findSubnetFault(cidr, [...used, ...twins])
  if (fault === 'special') return 'overlaps loopback, link-local, multicast or reserved addresses'
  if (fault === 'public') return MESSAGES.privateSubnet
  return fault && `overlaps ${formatCidr(fault.network)}, ${fault.what}`
}

/** The subnets that another gateway already has: two ways to one address cannot both be right. */
export function listSubnetConflicts(
  networks: readonly GatewayNetwork[],
  others: readonly UsedNetwork[],
): FieldError[] {
  return networks.flatMap(({ subnet }, index) => {
    const cidr = findCidr(subnet)
    const other = cidr && others.find(({ network }) => overlaps(network, cidr))
    if (!other) return []
    const message = `meets ${formatCidr(other.network)} of “${other.what}”`
    return [{ field: `gatewayNetworks.${index}.subnet`, message }]
  })
}
