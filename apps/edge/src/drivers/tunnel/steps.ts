import { LIMITS } from '@postern/contract/limits'
import { findCidr, formatCidr } from '@postern/net/cidr'
import type { TunnelPlan } from '@postern/render/wireguard/plan'
import { barrierTo } from './barriers.ts'
import type { Tunnel } from './wg.ts'

/** The wanted state of the interface. */
export interface WantedTunnel extends TunnelPlan {
  interface: string
  privateKey: string
  listenPort: number
  /** Networks whose packets may leave through the tunnel only. */
  barriers: string[]
}

/** The present state of the interface. Texts in their one spelling. */
export interface ObservedTunnel {
  /** `wireguard`: the kernel's; `tun`: that of wireguard-go. */
  kind: string
  mtu: number
  up: boolean
  held: Tunnel
  addresses: string[]
  /** Destinations; `kernel` ones come and go with the addresses. `source`: null, where the kernel chooses it. */
  routes: { destination: string; kernel: boolean; source: string | null }[]
  /** Networks whose packets leave through the tunnel only. */
  barriers: string[]
}

export type Step =
  | { kind: 'ip'; args: string[] }
  /** Make the keys, the port and the peers exactly as wanted. */
  | { kind: 'sync' }

/** The steps from the present to the wanted state; none when they are equal. Additions come before removals. */
export function planSteps(wanted: WantedTunnel, observed: ObservedTunnel): Step[] {
  const dev = ['dev', wanted.interface]
  const ip = (...args: string[]): Step => ({ kind: 'ip', args: [...args, ...dev] })
  const barrier = (verb: 'add' | 'del', network: string): Step => ({
    kind: 'ip',
    args: ['route', verb, ...barrierTo(network, wanted.interface)],
  })
  const newAddresses = wanted.addresses.filter((each) => !observed.addresses.includes(each))
  const comingRoutes = newAddresses.map((each) => networkOf(each))
  const isRight = ({ destination, kernel, source }: ObservedTunnel['routes'][number]) =>
    kernel || source === sourceFor(destination, wanted.sources)
  const present = observed.routes.filter(isRight).map((route) => route.destination)
  const newRoutes = wanted.routes.filter((each) => !present.includes(each) && !comingRoutes.includes(each))
  const from = (network: string) => {
    const source = sourceFor(network, wanted.sources)
    return source === null ? [] : ['src', source]
  }
  const inSync = isInSync(wanted, observed.held)
  const homes = [...wanted.addresses, ...observed.addresses].map((each) => networkOf(each))
  const oldRoutes = observed.routes.filter(
    (route) =>
      isRight(route) &&
      !route.kernel &&
      !wanted.routes.includes(route.destination) &&
      !homes.includes(route.destination),
  )
  const misled = observed.routes.filter((route) => !isRight(route))
  return [
    ...wanted.barriers
      .filter((each) => !observed.barriers.includes(each))
      .map((each) => barrier('add', each)),
    ...(inSync ? [] : [{ kind: 'sync' } as const]),
    ...(observed.mtu === LIMITS.tunnelMtu ? [] : [ip('link', 'set', 'mtu', String(LIMITS.tunnelMtu))]),
    ...(observed.up ? [] : [ip('link', 'set', 'up')]),
    ...newAddresses.map((each) => ip('addr', 'add', each, ...(each.includes(':') ? ['nodad'] : []))),
    // Never `replace`, which would take over a route that is not ours.
    ...misled.map(({ destination }) => ip('route', 'del', destination)),
    ...newRoutes.map((each) => ip('route', 'add', each, 'proto', 'static', ...from(each))),
    ...oldRoutes.map(({ destination }) => ip('route', 'del', destination)),
    ...observed.addresses
      .filter((each) => !wanted.addresses.includes(each))
      .map((each) => ip('addr', 'del', each)),
    ...observed.barriers
      .filter((each) => !wanted.barriers.includes(each))
      .map((each) => barrier('del', each)),
  ]
}

/** True when the keys, the port and the peers are exactly as wanted. */
export function isInSync(wanted: WantedTunnel, held: Tunnel): boolean {
  return (
    isOwnPartRight(wanted, held) &&
    missingPeers(wanted, held).length === 0 &&
    !held.peers.some((peer) => peer.keepaliveSeconds > 0)
  )
}

/** Nodes whose peer is not in the tunnel exactly as wanted. */
export function missingPeers(wanted: WantedTunnel, held: Tunnel): number[] {
  const found = new Map(held.peers.map((peer) => [peer.publicKey, peer]))
  return wanted.peers
    .filter((peer) => {
      const now = found.get(peer.publicKey)
      return now?.presharedKey !== peer.presharedKey || now.allowedIps.join(',') !== peer.allowedIps.join(',')
    })
    .map((peer) => peer.nodeId)
}

/** True when the keys and the port are right and no unwanted peer is in the tunnel. */
export function isOwnPartRight(wanted: WantedTunnel, held: Tunnel): boolean {
  const keys = new Set(wanted.peers.map((peer) => peer.publicKey))
  return (
    held.privateKey === wanted.privateKey &&
    held.listenPort === wanted.listenPort &&
    held.peers.every((peer) => keys.has(peer.publicKey))
  )
}

/** The source of that network's family. */
function sourceFor(network: string, sources: readonly string[]): string | null {
  return sources.find((source) => source.includes(':') === network.includes(':')) ?? null
}

function networkOf(address: string): string {
  const cidr = findCidr(address)
  return cidr ? formatCidr(cidr) : address
}
