import type { Peer, TunnelSettings } from '@postern/contract/edge/desired-state'
import type { Problem } from '@postern/contract/edge/edge'
import {
  type Cidr,
  contains,
  containsIp,
  findCidr,
  findCidrs,
  formatCidr,
  overlaps,
  parseCidr,
  single,
} from '@postern/net/cidr'
import { findIp, formatIp, type Ip } from '@postern/net/ip'
import { isPublicKey, isWireGuardKey } from '@postern/net/keys'
import { findSubnetFault, isReserved } from '@postern/net/targets'
import {
  address6For,
  blockOf,
  FOUNDING_EDGE,
  firstOf,
  numberedAddressOf,
} from '@postern/net/tunnel-addresses'

/** A network that this machine itself uses, and its description. */
export interface OccupiedNetwork {
  network: Cidr
  what: string
}

export interface TunnelPeer {
  nodeId: number
  publicKey: string
  presharedKey: string
  /** In their one spelling, sorted. */
  allowedIps: string[]
}

/** The planned state of the tunnel's interface. All texts in their one spelling; sorted. */
export interface TunnelPlan {
  peers: TunnelPeer[]
  /** With prefix length. */
  addresses: string[]
  routes: string[]
  /** The addresses from which packets leave by these routes; empty: the kernel chooses by the destination. */
  sources: string[]
  problems: Problem[]
}

export interface PlanInput {
  settings: TunnelSettings
  peers: readonly Peer[]
  /** WireGuard would silently drop a peer with this key. */
  ownPublicKey: string
  occupied: readonly OccupiedNetwork[]
  /** Networks of gateways must be inside these; null: inside any private one. */
  gatewayNetworks: readonly string[] | null
}

interface Taken {
  keys: Set<string>
  /** The edge's own addresses, where it has any that a node could have. */
  own: Ip[]
  networks: { network: Cidr; nodeId: number }[]
}

/** Leaves out whatever would break the tunnel, another node or this machine, and reports it as the node's problem. */
export function planTunnel(input: PlanInput): TunnelPlan {
  const networks = [parseCidr(input.settings.tunnelNetwork4), parseCidr(input.settings.tunnelNetwork6)]
  const number = input.settings.edge?.number ?? FOUNDING_EDGE
  const own = number === FOUNDING_EDGE ? [] : numberedAddressesOf(number, networks)
  const taken: Taken = { keys: new Set([input.ownPublicKey]), own, networks: [] }
  const plan: TunnelPlan = {
    peers: [],
    addresses: [],
    routes: networks.map(formatCidr),
    sources: own.map(formatIp),
    problems: [],
  }
  const edgeAddresses = new Set(
    number === FOUNDING_EDGE ? networks.map(sharedAddressOf) : own.map(single).map(formatCidr),
  )
  for (const peer of [...input.peers].sort((a, b) => a.nodeId - b.nodeId)) {
    const complain = (message: string) =>
      plan.problems.push({ scope: { kind: 'node', id: peer.nodeId }, message })
    const addresses = findAddresses(peer, networks)
    const reason = addresses
      ? whyRefused(peer, addresses, taken)
      : 'Its address is outside the tunnel network.'
    if (!addresses || reason) {
      complain(reason ?? '')
      continue
    }
    taken.keys.add(peer.publicKey)
    for (const network of addresses) taken.networks.push({ network, nodeId: peer.nodeId })
    const subnets = acceptSubnets(peer, networks, input, taken, complain)
    plan.routes.push(...subnets)
    plan.peers.push(toTunnelPeer(peer, [...addresses.map(formatCidr), ...subnets]))
    if (number === FOUNDING_EDGE) edgeAddresses.add(sharedAddressOf(blockOf(addresses[0].base)))
  }
  plan.addresses = [...edgeAddresses].sort()
  plan.routes = [...new Set(plan.routes)].sort()
  return plan
}

/**
 * The peers with the networks that the tunnel routes; addresses in the others are reached another way, or not at all.
 */
export function admitPeers(input: PlanInput): Peer[] {
  const taken = new Map(planTunnel(input).peers.map(({ nodeId, allowedIps }) => [nodeId, allowedIps]))
  return input.peers.map((peer) => {
    const subnets = peer.subnets.filter((text) => {
      const network = findCidr(text)
      return network !== undefined && taken.get(peer.nodeId)?.includes(formatCidr(network))
    })
    return subnets.length === peer.subnets.length ? peer : { ...peer, subnets }
  })
}

function toTunnelPeer(peer: Peer, allowedIps: string[]): TunnelPeer {
  const { nodeId, publicKey, presharedKey } = peer
  return { nodeId, publicKey, presharedKey, allowedIps: allowedIps.sort() }
}

/** The node's addresses as networks of one, or undefined when one is not a node's address in the tunnel. */
function findAddresses(peer: Peer, networks: readonly Cidr[]): [Cidr, Cidr] | undefined {
  const found = [peer.address4, peer.address6].map((text, index) => {
    const ip = findIp(text)
    const network = networks[index]
    return ip && network && contains(network, single(ip)) ? single(ip) : undefined
  })
  const [four, six] = found
  if (!four || !six) return undefined
  return isReserved(four.base) ? undefined : [four, six]
}

function whyRefused(peer: Peer, addresses: readonly Cidr[], taken: Taken): string | undefined {
  if (addresses.some((address) => taken.own.some((own) => containsIp(address, own))))
    return 'Its address is that of this edge.'
  if (!isPublicKey(peer.publicKey) || !isWireGuardKey(peer.presharedKey))
    return 'Its WireGuard key is not valid.'
  if (taken.keys.has(peer.publicKey)) return 'Its WireGuard key is used by another end of the tunnel.'
  const other = taken.networks.find(({ network }) => addresses.some((address) => overlaps(network, address)))
  return other && `Its address is used by node ${other.nodeId}.`
}

function acceptSubnets(
  peer: Peer,
  tunnel: readonly Cidr[],
  { occupied, gatewayNetworks }: PlanInput,
  taken: Taken,
  complain: (message: string) => void,
): string[] {
  const accepted: string[] = []
  for (const text of peer.subnets) {
    const network = findCidr(text)
    const clash = network
      ? (whyNotAllowed(network, gatewayNetworks) ??
        whyNotSubnet(network, tunnel, occupied, taken, peer.nodeId))
      : 'it is not a network'
    if (!network || clash) complain(`Its network ${text} is left out: ${clash}.`)
    else {
      taken.networks.push({ network, nodeId: peer.nodeId })
      accepted.push(formatCidr(network))
    }
  }
  return [...new Set(accepted)]
}

function whyNotAllowed(network: Cidr, allowed: readonly string[] | null): string | undefined {
  if (!allowed || findCidrs(allowed).some((outer) => contains(outer, network))) return undefined
  return 'it is not in POSTERN_GATEWAY_NETWORKS'
}

function whyNotSubnet(
  network: Cidr,
  tunnel: readonly Cidr[],
  occupied: readonly OccupiedNetwork[],
  taken: Taken,
  nodeId: number,
): string | undefined {
  const own = tunnel.map((one) => ({ network: one, what: undefined }))
  const fault = findSubnetFault(network, [...own, ...occupied])
  if (fault === 'special') return 'it overlaps loopback, link-local, multicast or reserved addresses'
  if (fault === 'public') return 'it is not a private network'
  if (fault) return fault.what === undefined ? 'it overlaps the tunnel' : `this machine uses ${fault.what}`
  const other = taken.networks.find((t) => t.nodeId !== nodeId && overlaps(t.network, network))
  return other && `it overlaps a network of node ${other.nodeId}`
}

/** An address that the edge shares a network with nodes by: the first, for IPv4 with the length of their /24. */
function sharedAddressOf(network: Cidr): string {
  return `${formatIp(firstOf(network))}/${network.base.family === 4 ? 24 : network.prefix}`
}

/** The edge's only addresses: no network of nodes is its own, so that each packet to a node leaves from them. */
function numberedAddressesOf(number: number, [network4, network6]: readonly Cidr[]): Ip[] {
  if (!network4 || !network6) return []
  const four = numberedAddressOf(number, network4)
  return [four, address6For(network6, four)]
}
