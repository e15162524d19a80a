import type { Peer, Route, TunnelSettings } from '@postern/contract/desired-state'
import { MESSAGES } from '@postern/contract/messages'
import { type Cidr, containsIp, findCidrs } from '@postern/net/cidr'
import { findIp, formatIp, type Ip } from '@postern/net/ip'
import {
  findGatewayFault,
  findLocalFault,
  findNodeFault,
  type Surroundings as Known,
  TARGET_FAULTS,
  type TargetFault,
} from '@postern/net/targets'

export interface Surroundings extends Known {
  /** The networks behind each gateway that is in the tunnel, by its node's id. */
  behindGateway: ReadonlyMap<number, readonly Cidr[]>
}

/** What is known of this machine. */
export interface Machine {
  /** Its addresses with their prefix length, other than loopback and the tunnel's. */
  ownNetworks: readonly { address: Ip; network: Cidr }[]
  ownPorts: readonly number[]
}

/** A name that has to be looked up before the rules can judge its addresses. `server` null: this machine's resolver. */
export interface Question {
  name: string
  server: string | null
  /** Only addresses that the gateway has networks for: others could not be dialled anyway. */
  families: readonly (4 | 6)[]
}

export function surroundingsOf(
  settings: TunnelSettings,
  peers: readonly Peer[],
  { ownNetworks, ownPorts }: Machine,
): Surroundings {
  const behindGateway = new Map(peers.map(({ nodeId, subnets }) => [nodeId, findCidrs(subnets)]))
  const publicAddress = findIp(settings.publicHost)
  return {
    tunnel: findCidrs([settings.tunnelNetwork4, settings.tunnelNetwork6]),
    behindGateway,
    behindGateways: [...behindGateway.values()].flat(),
    ownAddresses: [...ownNetworks.map(({ address }) => address), ...(publicAddress ? [publicAddress] : [])],
    ownNetworks: ownNetworks.map(({ network }) => network),
    ownPorts,
  }
}

/** The look-up that a route needs, or undefined when its address is already said. */
export function findQuestion(route: Route): Question | undefined {
  const { node, backend } = route
  const { host: name } = backend
  if (name === null || findIp(name) || node.kind === 'plain') return undefined
  if (node.kind === 'local') return { name, server: null, families: [4, 6] }
  const families = new Set(findCidrs(node.subnets).map((subnet) => subnet.base.family))
  return { name, server: node.address4, families: [...families].sort() }
}

/** The address of a route that needs no look-up. */
export function literalAddress(route: Route): string {
  const { node, backend } = route
  if (node.kind !== 'local') return backend.host ?? node.address4
  return backend.host ?? '127.0.0.1'
}

/** @returns why HAProxy may not dial this address for this route, or undefined when it may. */
export function whyForbidden(route: Route, text: string, around: Surroundings): string | undefined {
  const ip = findIp(text)
  if (!ip) return `${text} is not an address.`
  const { node, backend } = route
  if (node.kind === 'plain' && backend.host !== null) return `${MESSAGES.backendHostRefused}.`
  const fault = findFault(route, ip, around)
  if (fault) return `${formatIp(ip)} ${TARGET_FAULTS[fault]}.`
  if (node.kind !== 'gateway' || backend.host === null) return undefined
  // Without the peer's own word the packets would leave this machine by its default route.
  const networks = around.behindGateway.get(node.id) ?? []
  const isThere = networks.some((network) => containsIp(network, ip))
  return isThere ? undefined : `${formatIp(ip)} is in no network that this gateway has in the tunnel.`
}

function findFault({ node, backend }: Route, ip: Ip, around: Surroundings): TargetFault | undefined {
  if (node.kind === 'local') return findLocalFault(ip, backend.port, around)
  if (node.kind === 'plain' || backend.host === null) return findNodeFault(ip, around.tunnel)
  return findGatewayFault(ip, findCidrs(node.subnets), around)
}
