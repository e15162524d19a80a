import type { Peer, TunnelSettings } from '@postern/contract/edge/desired-state'
import type { Problem } from '@postern/contract/edge/edge'
import {
  type Cidr,
  contains,
  findCidr,
  findCidrs,
  formatCidr,
  overlaps,
  parseCidr,
  single,
} from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import { isPublicKey, isWireGuardKey } from '@postern/net/keys'
import { findSubnetFault, isReserved } from '@postern/net/targets'

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
  networks: { network: Cidr; nodeId: number }[]
}

/** Leaves out whatever would break the tunnel, another node or this machine, and reports it as the node's problem. */
export function planTunnel(input: PlanInput): TunnelPlan {
  const networks = [parseCidr(input.settings.tunnelNetwork4), parseCidr(input.settings.tunnelNetwork6)]
  const taken: Taken = { keys: new Set([input.ownPublicKey]), networks: [] }
  const plan: TunnelPlan = {
    peers: [],
    addresses: [],
    routes: networks.map(formatCidr),
    problems: [],
  }
  const edgeAddresses = new Set(networks.map(edgeAddressOf))
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
    edgeAddresses.add(edgeAddressOf(homeOf(addresses[0])))
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

/** The /24 of a node's address. */
function homeOf(address: Cidr): Cidr {
  return { base: { family: 4, value: (address.base.value >> 8n) << 8n }, prefix: 24 }
}

/** The edge's end: the first address, for IPv4 with the length of the /24 that nodes share with it. */
function edgeAddressOf(network: Cidr): string {
  const first = formatIp({ ...network.base, value: network.base.value + 1n })
  return `${first}/${network.base.family === 4 ? 24 : network.prefix}`
}
