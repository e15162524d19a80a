import type { Peer, TunnelSettings } from '@postern/contract/desired-state'
import { type Cidr, containsIp, findCidrs, formatCidr, mergeCidrs } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import { NOT_THE_INTERNET } from '@postern/net/special'
import { planCounters, planUdp, UDP_SET_TYPES, type UdpService } from './udp.ts'

/** The name of the sets, and what is in them: addresses or networks in their one spelling, no overlaps. */
export const SET_TYPES = {
  tunnel4: 'type ipv4_addr; flags interval',
  tunnel6: 'type ipv6_addr; flags interval',
  internet4: 'type ipv4_addr',
  internet6: 'type ipv6_addr',
  private4: 'type ipv4_addr; flags interval',
  private6: 'type ipv6_addr; flags interval',
  guarded: 'type ether_type',
  ...UDP_SET_TYPES,
} as const
export type SetName = keyof typeof SET_TYPES
// Object.keys knows no names.
export const SET_NAMES = Object.keys(SET_TYPES) as readonly SetName[]

export interface FirewallPlan {
  table: string
  interface: string
  httpsPort: number
  sets: Record<SetName, string[]>
  /** Named, as they have to be there before an element leads to them. */
  counters: string[]
  /** Only what keeps nodes from each other and from this machine, for where the rest cannot be had. */
  isBare?: boolean
}

export interface FirewallInput {
  interface: string
  httpsPort: number
  settings: TunnelSettings
  peers: readonly Peer[]
  udp: readonly UdpService[]
  /** The families (`ip`, `ip6`) of which nothing passes between networks that are not ours. */
  guarded?: readonly string[]
}

/** The table of the default interface is `postern`; others carry the interface in their name. */
export function tableOf(tunnelInterface: string): string {
  return tunnelInterface === 'postern0' ? 'postern' : `postern_${tunnelInterface.replaceAll('-', '_')}`
}

export function planFirewall(input: FirewallInput): FirewallPlan {
  const { settings, peers } = input
  const tunnel = findCidrs([settings.tunnelNetwork4, settings.tunnelNetwork6])
  const guests = peers.filter((peer) => peer.allowInternet)
  const shut = [...tunnel, ...findCidrs([...NOT_THE_INTERNET, ...peers.flatMap((peer) => peer.subnets)])]
  return {
    table: tableOf(input.interface),
    interface: input.interface,
    httpsPort: input.httpsPort,
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
      guarded: [...(input.guarded ?? [])],
      ...planUdp(input.udp),
    },
    counters: planCounters(input.udp),
  }
}

/** Only addresses of the tunnel: what is masqueraded must not be somebody else's traffic. */
function spell(addresses: readonly string[], tunnel: readonly Cidr[]): string[] {
  const known = addresses.map(findIp).filter((ip) => ip !== undefined)
  const inside = known.filter((ip) => tunnel.some((network) => containsIp(network, ip)))
  return [...new Set(inside.map(formatIp))].sort()
}

/** One overlap makes nft refuse the whole batch. */
export function mergeNetworks(networks: readonly Cidr[], family: 4 | 6): string[] {
  return mergeCidrs(networks.filter((network) => network.base.family === family)).map(formatCidr)
}
