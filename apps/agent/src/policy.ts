import type { AgentConfig } from '@postern/contract/agent/agent'
import { type Beyond, MOST_REPORTED, NOTHING_BEYOND } from '@postern/contract/agent/agent-report'
import { type Cidr, contains, findCidrs, formatCidr, mergeCidrs, parseCidr } from '@postern/net/cidr'
import { isForPrivateUse, isSpecial, PRIVATE_USE } from '@postern/net/special'
import * as z from 'zod/mini'
import type { Wanted } from './wanted.ts'

/** What this node allows its server. If the server wants more, the rest still applies. */
export const Policy = z.object({
  /** The networks into which the node may forward. */
  gateway: z.array(z.string()),
  /** Whether the server may take all traffic of the node, not only that of the tunnel. */
  allTraffic: z.boolean(),
  /** Whether the server may set the node's name servers. */
  dns: z.boolean(),
  /** The tunnel's own networks, as they were when it connected; nothing is in it while they are not known. */
  tunnel: z.array(z.string()),
})
export type Policy = z.infer<typeof Policy>

export const PLAIN: Policy = { gateway: [], allTraffic: false, dns: false, tunnel: [] }

const EVERYTHING: readonly string[] = ['0.0.0.0/0', '::/0']

/** The tunnel is a /16 and a /64, in which each node has an address. */
export function tunnelOf({ addresses }: Pick<AgentConfig, 'addresses'>): string[] {
  const networks = addresses.flatMap((address) => {
    const [ip = ''] = address.split('/')
    return findCidrs([`${ip}/${ip.includes(':') ? 64 : 16}`])
  })
  return mergeCidrs(networks).map(formatCidr)
}

/** The policy for a node from a release without policies: what its server has configured so far. */
export function policyOf(config: AgentConfig): Policy {
  const networks = findCidrs((config.gateway ?? []).map(({ subnet }) => subnet))
  return {
    gateway: networks.filter((network) => !isSpecial(network)).map(formatCidr),
    allTraffic: config.peer.allowedIps.some((network) => EVERYTHING.includes(network)),
    dns: config.dns.length > 0,
    tunnel: tunnelOf(config),
  }
}

/** The part of a server's configuration that the policy allows, and what it leaves out. */
export interface Judged {
  wanted: Wanted
  /** In words, for the owner of this machine. */
  beyond: string[]
  /** For the server. */
  leftOut: Beyond
}

export function applyPolicy(wanted: Wanted, policy: Policy): Judged {
  const beyond: string[] = []
  const allowed: Wanted = {
    ...wanted,
    addresses: wanted.addresses.filter((address) => isInTunnel(address, policy)),
    dns: policy.dns ? wanted.dns : [],
    gateway: allowGateway(wanted.gateway, policy, beyond),
    peers: allowPeers(wanted.peers, policy, beyond),
  }
  if (allowed.dns.length < wanted.dns.length)
    beyond.push("The server wants to set this node's name servers. To allow that: postern connect --dns")
  const strange = wanted.addresses.filter((address) => !allowed.addresses.includes(address))
  if (strange.length > 0) beyond.push(outside(strange))
  return { wanted: allowed, beyond, leftOut: beyond.length > 0 ? leftOut(wanted, allowed) : NOTHING_BEYOND }
}

/** All traffic, or what the tunnel is instead of it, goes to the edge beside the server. */
function allowPeers([first, ...others]: Wanted['peers'], policy: Policy, beyond: string[]): Wanted['peers'] {
  const founding = { ...first, allowedIps: allowTraffic(first.allowedIps, policy, beyond) }
  const isOther = (network: string) => isInTunnel(network, policy) && !founding.allowedIps.includes(network)
  const strange = others.flatMap(({ allowedIps }) => allowedIps.filter((network) => !isOther(network)))
  if (strange.length > 0) beyond.push(outside(strange))
  return [founding, ...others.map((peer) => ({ ...peer, allowedIps: peer.allowedIps.filter(isOther) }))]
}

function leftOut(wanted: Wanted, allowed: Wanted): Beyond {
  const without = (all: readonly string[] | null, some: readonly string[] | null) =>
    (all ?? []).filter((one) => !some?.includes(one)).slice(0, MOST_REPORTED)
  const networksOf = ({ peers }: Wanted) => peers.flatMap(({ allowedIps }) => allowedIps)
  const routes = without(networksOf(wanted), networksOf(allowed))
  const isEverything = (network: string) => EVERYTHING.includes(network)
  const strange = [
    ...without(wanted.addresses, allowed.addresses),
    ...routes.filter((one) => !isEverything(one)),
  ]
  return {
    gateway: without(wanted.gateway, allowed.gateway),
    tunnel: strange.slice(0, MOST_REPORTED),
    allTraffic: routes.some(isEverything),
    dns: allowed.dns.length < wanted.dns.length,
  }
}

function isInTunnel(network: string, { tunnel }: Policy): boolean {
  return isInside(parseCidr(network), tunnel.map(parseCidr))
}

const isInside = (inner: Cidr, networks: readonly Cidr[]) => networks.some((outer) => contains(outer, inner))

function allowGateway(wanted: Wanted['gateway'], policy: Policy, beyond: string[]): Wanted['gateway'] {
  if (!wanted) return null
  const own = mergeCidrs(policy.gateway.map(parseCidr))
  const [special, usable] = split(wanted.map(parseCidr), isSpecial)
  const [allowed, refused] = split(usable, (network) => isInside(network, own))
  if (special.length > 0)
    beyond.push(
      `The server wants this node to forward to ${listed(special)}. ` +
        'It never forwards to loopback, link-local, multicast and reserved addresses',
    )
  if (refused.length > 0) {
    const all = listed(mergeCidrs([...own, ...refused]))
    beyond.push(
      `The server wants this node to forward to ${listed(refused)}. To allow that: postern connect --gateway=${all}`,
    )
  }
  return allowed.length > 0 ? allowed.map(formatCidr) : null
}

function split(networks: readonly Cidr[], isFirst: (network: Cidr) => boolean): [Cidr[], Cidr[]] {
  return [networks.filter(isFirst), networks.filter((network) => !isFirst(network))]
}

const listed = (networks: readonly Cidr[]) => networks.map(formatCidr).join(',')

/** Narrower routes than those of the tunnel would lead the node's own networks away, which all traffic leaves local. */
function allowTraffic(wanted: string[], policy: Policy, beyond: string[]): string[] {
  const [all, networks] = split(wanted.map(parseCidr), (network) => EVERYTHING.includes(formatCidr(network)))
  const [allowed, strange] = split(networks, (network) => isInTunnel(formatCidr(network), policy))
  if (strange.length > 0) beyond.push(outside(strange.map(formatCidr)))
  const own = allowed.map(formatCidr)
  if (policy.allTraffic || all.length === 0) return [...all.map(formatCidr), ...own]
  beyond.push('The server wants all traffic of this node. To allow that: postern connect --all-traffic')
  return [...new Set([...own, ...policy.tunnel])]
}

const outside = (networks: readonly string[]) =>
  `The server wants ${networks.join(', ')} in the tunnel, which was not in it when this node connected. ` +
  'To allow that: postern connect'

/**
 * Parses `--gateway`: networks, `own` for the private ones that this machine is in, `private` for all private ones,
 * or `none`.
 * @returns undefined for anything else
 */
export function findGatewayNetworks(text: string, listOwn: () => readonly string[]): string[] | undefined {
  if (text === 'none') return []
  if (text === 'private') return PRIVATE_USE.map(formatCidr)
  const parts = text === 'own' ? listOwn() : text.split(',').map((part) => part.trim())
  const networks = findCidrs(parts)
  if (text === 'own') return mergeCidrs(networks.filter(isOwnNetwork)).map(formatCidr)
  if (networks.length < parts.length || networks.some(isSpecial)) return undefined
  return mergeCidrs(networks).map(formatCidr)
}

/** A single address is no network, like that of the tunnel. */
function isOwnNetwork(network: Cidr): boolean {
  return isForPrivateUse(network) && network.prefix < (network.base.family === 4 ? 32 : 128)
}
