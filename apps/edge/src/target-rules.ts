import type { Peer, Route, TunnelSettings } from '@postern/contract/desired-state'
import { MESSAGES } from '@postern/contract/messages'
import { type Cidr, containsIp, findCidr } from '@postern/net/cidr'
import { findIp, formatIp, type Ip } from '@postern/net/ip'
import { isSpecial } from '@postern/net/special'

/** What the rules need to know of this machine and of the tunnel. */
export interface Surroundings {
  tunnel: readonly Cidr[]
  /** The networks behind all gateways. */
  behindGateways: readonly Cidr[]
  /** The addresses of this machine with their prefix length, other than loopback and the tunnel's. */
  ownNetworks: readonly { address: Ip; network: Cidr }[]
  /** TCP ports of this machine that belong to the server, the edge or HAProxy. */
  ownPorts: readonly number[]
}

/** A name that has to be looked up before the rules can judge its addresses. `server` null: this machine's resolver. */
export interface Question {
  name: string
  server: string | null
  /** Only addresses that the gateway has networks for: others could not be dialled anyway. */
  families: readonly (4 | 6)[]
}

const LOOPBACK = parseAll(['127.0.0.0/8', '::1/128'])
const UNSPECIFIED = new Set(['0.0.0.0', '::'])

export function surroundingsOf(
  settings: TunnelSettings,
  peers: readonly Peer[],
  machine: Pick<Surroundings, 'ownNetworks' | 'ownPorts'>,
): Surroundings {
  return {
    ...machine,
    tunnel: parseAll([settings.tunnelNetwork4, settings.tunnelNetwork6]),
    behindGateways: parseAll(peers.flatMap((peer) => peer.subnets)),
  }
}

/** The look-up that a route needs, or undefined when its address is already said. */
export function findQuestion(route: Route): Question | undefined {
  const { node, backend } = route
  const { host: name } = backend
  if (name === null || findIp(name) || node.kind === 'plain') return undefined
  if (node.kind === 'local') return { name, server: null, families: [4, 6] }
  const families = new Set(parseAll(node.subnets).map((subnet) => subnet.base.family))
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
  if (node.kind === 'local') return whyNotLocal(ip, backend.port, around)
  if (node.kind === 'plain' && backend.host !== null) return `${MESSAGES.backendHostRefused}.`
  if (backend.host === null) return isIn(around.tunnel, ip) ? undefined : `${text} is not in the tunnel.`
  return whyNotBehind(node.kind === 'gateway' ? node.subnets : [], ip, around)
}

function whyNotBehind(subnets: readonly string[], ip: Ip, around: Surroundings): string | undefined {
  const text = formatIp(ip)
  if (!isIn(parseAll(subnets), ip)) return `${text} is not in the networks of this gateway.`
  if (isIn(around.tunnel, ip)) return `${text} lies in the tunnel itself.`
  if (isSpecial(single(ip))) return `${text} is a loopback, link-local, multicast or reserved address.`
  const own = around.ownNetworks.find(({ network }) => containsIp(network, ip))
  return own && `${text} is in a network of this machine itself.`
}

function whyNotLocal(ip: Ip, port: number, around: Surroundings): string | undefined {
  const text = formatIp(ip)
  const isLoopback = isIn(LOOPBACK, ip)
  const isOwn =
    isLoopback || UNSPECIFIED.has(text) || around.ownNetworks.some((own) => formatIp(own.address) === text)
  if (isOwn && around.ownPorts.includes(port))
    return `Port ${port} of this machine belongs to Postern itself.`
  if (!isLoopback && isSpecial(single(ip))) return `${text} is a link-local, multicast or reserved address.`
  if (isIn(around.tunnel, ip) || isIn(around.behindGateways, ip))
    return `${text} lies behind the tunnel: publish it on the node it belongs to.`
  return undefined
}

function isIn(networks: readonly Cidr[], ip: Ip): boolean {
  return networks.some((network) => containsIp(network, ip))
}

function single(ip: Ip): Cidr {
  return { base: ip, prefix: ip.family === 4 ? 32 : 128 }
}

function parseAll(texts: readonly string[]): Cidr[] {
  return texts.map(findCidr).filter((cidr) => cidr !== undefined)
}
