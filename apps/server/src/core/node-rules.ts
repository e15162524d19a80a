import type { FieldError } from '@postern/contract/errors'
import type { GatewayNetwork } from '@postern/contract/nodes'
import { type Cidr, findCidr, formatCidr, overlaps } from '@postern/net/cidr'
import { isSpecial } from '@postern/net/special'

/** A network that is in use, and the words for its user. */
export interface UsedNetwork {
  cidr: Cidr
  what: string
}

/** The texts that are networks or addresses, each with the same words. */
export function usedNetworks(texts: readonly string[], what: string): UsedNetwork[] {
  return texts.flatMap((text) => {
    const cidr = findCidr(text)
    return cidr ? [{ cidr, what }] : []
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
  if (isSpecial(cidr)) return 'must not meet loopback, link-local, multicast or reserved addresses'
  const user = used.find((network) => overlaps(network.cidr, cidr))
  if (user) return `must not meet ${formatCidr(user.cidr)}, ${user.what}`
  const twin = usedNetworks(
    before.map(({ subnet }) => subnet),
    '',
  ).find((network) => overlaps(network.cidr, cidr))
  return twin ? `must not meet ${formatCidr(twin.cidr)} of the same gateway` : undefined
}

/** The subnets that another gateway already has: two ways to one address cannot both be right. */
export function listSubnetConflicts(
  networks: readonly GatewayNetwork[],
  others: readonly UsedNetwork[],
): FieldError[] {
  return networks.flatMap(({ subnet }, index) => {
    const cidr = findCidr(subnet)
    const other = cidr && others.find((network) => overlaps(network.cidr, cidr))
    if (!other) return []
    const message = `meets ${formatCidr(other.cidr)} of “${other.what}”`
    return [{ field: `gatewayNetworks.${index}.subnet`, message }]
  })
}
