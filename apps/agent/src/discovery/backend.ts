import { containsIp, findCidrs, formatCidr } from '@postern/net/cidr'
import { isHostname } from '@postern/net/hostname'
import { findIp } from '@postern/net/ip'
import type { Container } from './engine.ts'

/** What this machine or container knows about itself. */
export interface Gateway {
  /** Its own addresses, with prefix lengths. */
  cidrs: readonly string[]
  /** The networks behind it, as set in the console; undefined: not known yet, null: the node is no gateway. */
  networks: readonly string[] | null | undefined
}

/** The only network on which Docker resolves no names. */
const WITHOUT_NAMES = 'bridge'

/** The networks that this container is in, found by its addresses. */
export function findOwnNetworks(containers: readonly Container[], { cidrs }: Gateway): string[] {
  const addresses = cidrs.map((cidr) => cidr.replace(/\/.*/, ''))
  const own = containers.flatMap(({ networks }) =>
    networks.filter(({ address }) => addresses.includes(address)),
  )
  return own.map(({ name }) => name)
}

/**
 * The host at which this gateway reaches a container: its name on a shared network, otherwise its address.
 * @returns undefined when it has neither
 */
export function findBackend(container: Container, ownNetworks: readonly string[]) {
  const networks = container.networks.filter(({ address }) => address !== '')
  const shared = networks.find(({ name }) => name !== WITHOUT_NAMES && ownNetworks.includes(name))
  const address = (shared ?? networks[0])?.address
  if (address === undefined) return undefined
  // Docker resolves the short id too. DNS does not allow a name with an underscore.
  const name = isHostname(container.name) ? container.name : container.id.slice(0, 12)
  return { host: shared ? name : address, address }
}

/** What a person must do in the console to make these addresses reachable, in words. */
export function findUnknownNetworks(
  addresses: readonly string[],
  { cidrs, networks }: Gateway,
): string | undefined {
  if (networks === undefined) return undefined
  const known = findCidrs(networks ?? [])
  const own = findCidrs(cidrs)
  const missing = addresses.flatMap((text) => {
    const ip = findIp(text)
    if (!ip || known.some((cidr) => containsIp(cidr, ip))) return []
    const network = own.find((cidr) => containsIp(cidr, ip))
    return [network ? formatCidr(network) : text]
  })
  if (missing.length === 0) return undefined
  const list = [...new Set(missing)].sort().slice(0, 10).join(', ')
  return networks === null
    ? `the containers are out of reach: edit this node in the console, make it a gateway and add the network ${list}`
    : `some containers are out of reach: edit this node in the console and add the network ${list}`
}
