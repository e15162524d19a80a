import type { Peer, TunnelSettings } from '@postern/contract/edge/desired-state'
import { type Cidr, containsIp, findCidrs, formatCidr, mergeCidrs } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import { NOT_THE_INTERNET } from '@postern/net/special'
import { FOUNDING_EDGE } from '@postern/net/tunnel-addresses'
import type { PortSpan } from '../haproxy/options.ts'
import { FRAGMENTS, type FragmentRoom } from './budget.ts'
import { findGuestPorts } from './guests.ts'
import { planCounters, planUdp, UDP_SET_TYPES, type UdpService } from './udp.ts'

/** The sets' types by name; they hold addresses or networks in their one spelling, without overlaps. */
export const SET_TYPES = {
  tunnel4: 'type ipv4_addr; flags interval',
  tunnel6: 'type ipv6_addr; flags interval',
  internet4: 'type ipv4_addr',
  internet6: 'type ipv6_addr',
  private4: 'type ipv4_addr; flags interval',
  private6: 'type ipv6_addr; flags interval',
  front4: 'type ipv4_addr',
  front6: 'type ipv6_addr',
  guarded: 'type ether_type',
  ...UDP_SET_TYPES,
} as const
export type SetName = keyof typeof SET_TYPES
// Object.keys returns plain strings.
export const SET_NAMES = Object.keys(SET_TYPES) as readonly SetName[]

export interface FirewallPlan {
  table: string
  interface: string
  httpsPort: number
  /** The ids of the users whose programs may begin something in the tunnel. */
  dialers: number[]
  /** Pieces of packets that one source may send. */
  fragmentsPerSecond: number
  /** The source ports of nodes' packets to the internet. */
  guestPorts: PortSpan
  sets: Record<SetName, string[]>
  /** Named, because they must exist before an element leads to them. */
  counters: string[]
  /** Only the isolation of nodes, for where the rest cannot be had. */
  isBare?: boolean
}

export interface FirewallInput {
  interface: string
  httpsPort: number
  /** The user of HAProxy, if it is another than root. */
  proxyUid?: number | undefined
  /** The ports at which services and the installation itself receive visitors. */
  portRange?: PortSpan
  ownPorts?: readonly number[]
  fragmentRoom?: FragmentRoom
  settings: TunnelSettings
  peers: readonly Peer[]
  udp: readonly UdpService[]
  /** The installation's addresses, on whatever machine. */
  fronts?: readonly string[]
  /** Networks that this machine is in, where no node may go. */
  neighbours?: readonly string[]
  /** The families (`ip`, `ip6`) of which no packet passes between networks that are not ours. */
  guarded?: readonly string[]
}

/** The table of the default interface is `postern`; others carry the interface in their name. */
export function tableOf(tunnelInterface: string): string {
  return tunnelInterface === 'postern0' ? 'postern' : `postern_${tunnelInterface.replaceAll('-', '_')}`
}

export function planFirewall(input: FirewallInput): FirewallPlan {
  const { settings, peers } = input
  const tunnel = findCidrs([settings.tunnelNetwork4, settings.tunnelNetwork6])
  // The internet is reached through the edge beside the server only.
  const isFounding = (settings.edge?.number ?? FOUNDING_EDGE) === FOUNDING_EDGE
  const guests = peers.filter((peer) => isFounding && peer.allowInternet)
  const subnets = peers.flatMap((peer) => peer.subnets)
  const shut = [...tunnel, ...findCidrs([...NOT_THE_INTERNET, ...subnets, ...(input.neighbours ?? [])])]
  return {
    table: tableOf(input.interface),
    interface: input.interface,
    httpsPort: input.httpsPort,
    fragmentsPerSecond: FRAGMENTS.perSecond(input.fragmentRoom ?? FRAGMENTS),
    guestPorts: findGuestPorts(input.portRange, [input.httpsPort, ...(input.ownPorts ?? [])]),
    dialers: [...new Set([0, input.proxyUid ?? 0])],
    sets: {
      tunnel4: mergeNetworks(tunnel, 4),
      tunnel6: mergeNetworks(tunnel, 6),
      internet4: spell(
        guests.map((peer) => peer.address4),
        tunnel,
      ),
      internet6: spell(
        guests.map((peer) => peer.address6),
        tunnel,
      ),
      private4: mergeNetworks(shut, 4),
      private6: mergeNetworks(shut, 6),
      front4: spellFamily(input.fronts ?? [], 4),
      front6: spellFamily(input.fronts ?? [], 6),
      guarded: [...(input.guarded ?? [])],
      ...planUdp(input.udp),
    },
    counters: planCounters(input.udp),
  }
}

function spellFamily(addresses: readonly string[], family: 4 | 6): string[] {
  const found = addresses.flatMap((text) => findIp(text) ?? []).filter((ip) => ip.family === family)
  return [...new Set(found.map(formatIp))].sort()
}

/** Only addresses of the tunnel, so that nobody else's traffic is masqueraded. */
function spell(addresses: readonly string[], tunnel: readonly Cidr[]): string[] {
  const known = addresses.map(findIp).filter((ip) => ip !== undefined)
  const inside = known.filter((ip) => tunnel.some((network) => containsIp(network, ip)))
  return [...new Set(inside.map(formatIp))].sort()
}

/** One overlap makes nft refuse the whole batch. */
export function mergeNetworks(networks: readonly Cidr[], family: 4 | 6): string[] {
  return mergeCidrs(networks.filter((network) => network.base.family === family)).map(formatCidr)
}
