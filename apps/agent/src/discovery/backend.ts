import { containsIp, findCidrs, formatCidr } from '@postern/net/cidr'
import { isHostname } from '@postern/net/hostname'
import { findIp } from '@postern/net/ip'
import type { Container } from './engine.ts'

/** What this machine or container knows of itself. */
export interface Gateway {
  /** Its own addresses, with prefix lengths. */
  cidrs: readonly string[]
  /** The networks behind it, as the console has them; undefined: not known yet, null: the node is no gateway. */
  networks: readonly string[] | null | undefined
}

/** The one network on which Docker resolves no names. */
const WITHOUT_NAMES = 'bridge'

/** The networks of which one of its addresses is a container's: those that this container is in. */
export function findOwnNetworks(containers: readonly Container[], { cidrs }: Gateway): string[] {
  const addresses = cidrs.map((cidr) => cidr.replace(/\/.*/, ''))
  const own = containers.flatMap(({ networks }) =>
    networks.filter(({ address }) => addresses.includes(address)),
  )
  return own.map(({ name }) => name)
}

/**
 * Where this gateway reaches a container: by its name on a network that both are in, else by its address.
 * @returns undefined when it has neither
 */
export function findBackend(container: Container, ownNetworks: readonly string[]) {
  const networks = container.networks.filter(({ address }) => address !== '')
  const shared = networks.find(({ name }) => name !== WITHOUT_NAMES && ownNetworks.includes(name))
  const address = (shared ?? networks[0])?.address
  if (address === undefined) return undefined
  // Docker resolves the short id too. A name with an underscore is none for DNS.
  const name = isHostname(container.name) ? container.name : container.id.slice(0, 12)
  return { host: shared ? name : address, address }
}

/** What a person must enter in the console before these addresses can be reached, in words. */
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
