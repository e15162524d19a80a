import type { Peer, TunnelSettings } from '@postern/contract/edge/desired-state'
import { containsIp, findCidr, formatCidr } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import { type ParsedLists, parseLists } from '../haproxy/maps/lists.ts'
import type { ResolvedPortRoute } from '../resolved-route.ts'
import { COUNTER_MAP_TYPES, COUNTER_MAPS, counterName } from './counters.ts'

/**
 * UDP services, which the kernel carries: `udp4` and `udp6` say where each public port leads, `targets` are those
 * places, `served` are all those ports, and the lists say which visitors may come; at the `limited` ports only
 * `allowed` ones may.
 */
export const UDP_SET_TYPES = {
  udp4: 'type inet_service : ipv4_addr . inet_service',
  udp6: 'type inet_service : ipv6_addr . inet_service',
  targets4: 'type ipv4_addr . inet_service',
  targets6: 'type ipv6_addr . inet_service',
  blocked4: 'type inet_service . ipv4_addr; flags interval',
  blocked6: 'type inet_service . ipv6_addr; flags interval',
  allowed4: 'type inet_service . ipv4_addr; flags interval',
  allowed6: 'type inet_service . ipv6_addr; flags interval',
  limited: 'type inet_service',
  served: 'type inet_service',
  ...COUNTER_MAP_TYPES,
} as const
/**
 * Visitors that the lists refused: the kernel notes each source and port once a minute, for the log. Not part of the
 * plan.
 */
export const REFUSED_SETS = {
  refused4: 'type inet_service . ipv4_addr; flags dynamic,timeout; timeout 1m; size 1000',
  refused6: 'type inet_service . ipv6_addr; flags dynamic,timeout; timeout 1m; size 1000',
} as const
type UdpSetName = keyof typeof UDP_SET_TYPES
// Object.keys returns plain strings.
export const UDP_SET_NAMES = Object.keys(UDP_SET_TYPES) as readonly UdpSetName[]

/** A UDP service that the kernel can carry. */
export interface UdpService {
  id: number
  port: number
  /** Where it leads from IPv4 and from IPv6, as in the sets; at least one. */
  target4: string | undefined
  target6: string | undefined
  lists: ParsedLists
}

/**
 * @param peers a plain node is reached at both of its addresses in the tunnel
 * @returns undefined when there is no target, or a list cannot be read: nobody may come in
 */
export function findUdpService(
  route: ResolvedPortRoute,
  peers: readonly Peer[],
  { tunnelNetwork6 }: Pick<TunnelSettings, 'tunnelNetwork6'>,
): UdpService | undefined {
  const lists = parseLists(route)
  const ip = route.enabled ? findIp(route.address ?? '') : undefined
  if (!ip || !lists) return undefined
  const { id, port, node, backend } = route
  const target = (address: string) => `${address} . ${backend.port}`
  const inTunnel =
    node.kind === 'plain' ? peers.find(({ nodeId }) => nodeId === node.id)?.address6 : undefined
  const other = findIp(inTunnel ?? '')
  const tunnel6 = findCidr(tunnelNetwork6)
  const target6 = ip.family === 6 ? ip : other && tunnel6 && containsIp(tunnel6, other) ? other : undefined
  return {
    id,
    port,
    lists,
    target4: ip.family === 4 ? target(formatIp(ip)) : undefined,
    target6: target6 && target(formatIp(target6)),
  }
}

/** The elements of the sets, each spelled as nft lists it. */
export function planUdp(services: readonly UdpService[]): Record<UdpSetName, string[]> {
  const elements: Record<UdpSetName, string[]> = {
    udp4: [],
    udp6: [],
    targets4: [],
    targets6: [],
    blocked4: [],
    blocked6: [],
    allowed4: [],
    allowed6: [],
    limited: [],
    served: [],
    in4: [],
    in6: [],
    out4: [],
    out6: [],
    flows4: [],
    flows6: [],
  }
  for (const { id, port, target4, target6, lists } of services) {
    elements.served.push(String(port))
    if (target4) elements.udp4.push(`${port} : ${target4}`)
    if (target6) elements.udp6.push(`${port} : ${target6}`)
    for (const list of ['blocked', 'allowed'] as const)
      for (const cidr of lists[list])
        elements[`${list}${cidr.base.family}`].push(`${port} . ${formatCidr(cidr)}`)
    for (const map of countersOf({ target4, target6 }))
      elements[map].push(`${port} : ${counterName(id, map)}`)
    if (lists.allowed.length > 0) elements.limited.push(String(port))
  }
  // Services may share one.
  elements.targets4 = [...new Set(services.flatMap(({ target4 }) => target4 ?? []))]
  elements.targets6 = [...new Set(services.flatMap(({ target6 }) => target6 ?? []))]
  return elements
}

/** The names of the counters that the services need. */
export function planCounters(services: readonly UdpService[]): string[] {
  return services.flatMap((service) => countersOf(service).map((map) => counterName(service.id, map)))
}

function countersOf({ target4, target6 }: Pick<UdpService, 'target4' | 'target6'>) {
  return COUNTER_MAPS.filter((map) => (map.endsWith('4') ? target4 : target6))
}
