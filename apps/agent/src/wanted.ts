import type { AgentConfig } from '@postern/contract/agent/agent'
import { findCidr, formatCidr, mergeCidrs } from '@postern/net/cidr'
import { isHostname } from '@postern/net/hostname'
import { findIp, formatIp, isIp } from '@postern/net/ip'
import { isPublicKey, isWireGuardKey } from '@postern/net/keys'
import { AgentError } from './errors.ts'
import { printable } from './io.ts'

/**
 * The configuration in strict types. Every text is the canonical form of an address, a network, a key or a host name,
 * so that nothing from the server can mean anything else to a program or in a file.
 */
export interface Wanted {
  node: { id: number; name: string; enabled: boolean }
  /** With prefix length. */
  addresses: string[]
  dns: string[]
  /** Networks behind this node, merged; null when it is not a gateway. */
  gateway: string[] | null
  /** The edges, the one beside the server first. No two have a key or a network in common. */
  peers: [WantedPeer, ...WantedPeer[]]
  /** The ports of this node that edges may reach, each once. */
  targets: AgentConfig['targets']
}

/** An edge's end of the tunnel. */
export interface WantedPeer {
  /** 0, with an empty name, where an older server does not name it. */
  id: number
  name: string
  publicKey: string
  presharedKey: string
  host: string
  port: number
  allowedIps: string[]
  keepaliveSeconds: number
  /** Inside the tunnel. */
  edgeAddress: string
}

/** @throws AgentError `server-answer` that names the unusable field. */
export function parseWanted(config: AgentConfig): Wanted {
  const { node } = config
  return {
    node: { id: node.id, name: printable(node.name, 100), enabled: node.enabled },
    addresses: config.addresses.map(parseInterfaceAddress),
    dns: config.dns.map((text) => parseAddress(text, 'dns')),
    gateway: config.gateway && parseNetworks(config.gateway.map(({ subnet }) => subnet)),
    peers: parsePeers(config),
    targets: { tcp: parsePorts(config.targets.tcp), udp: parsePorts(config.targets.udp) },
  }
}

function parsePeers({ edges, peer, edgeAddress }: AgentConfig): Wanted['peers'] {
  const [first = { id: 0, name: '', peer, edgeAddress }, ...others] = edges ?? []
  const peers: Wanted['peers'] = [parsePeer(first), ...others.map(parsePeer)]
  // WireGuard would let the last one have it, and the others would never be as wanted.
  const isOnce = (all: readonly unknown[]) => new Set(all).size === all.length
  if (!isOnce(peers.map(({ publicKey }) => publicKey))) throw unusable('edges')
  if (!isOnce(peers.flatMap(({ allowedIps }) => [...new Set(allowedIps)]))) throw unusable('edges')
  return peers
}

function parsePeer({ id, name, peer, edgeAddress }: NonNullable<AgentConfig['edges']>[number]): WantedPeer {
  const keepalive = peer.keepaliveSeconds
  if (!Number.isInteger(keepalive) || keepalive < 0 || keepalive > 65_535) throw unusable('keepaliveSeconds')
  return {
    id,
    name: printable(name, 100),
    publicKey: isPublicKey(peer.publicKey) ? peer.publicKey : fail('publicKey'),
    presharedKey: isWireGuardKey(peer.presharedKey) ? peer.presharedKey : fail('presharedKey'),
    ...parseEndpoint(peer.endpoint),
    allowedIps: peer.allowedIps.map((text) => parseNetwork(text, 'allowedIps')),
    keepaliveSeconds: keepalive,
    edgeAddress: parseAddress(edgeAddress, 'edgeAddress'),
  }
}

/**
 * The configuration with which a node connects: its addresses, one of each family, say which networks are the tunnel's
 * from then on. @throws AgentError
 */
export function parseFirstWanted(config: AgentConfig): Wanted {
  const wanted = parseWanted(config)
  const ofFamily6 = wanted.addresses.filter((address) => address.includes(':')).length
  if (ofFamily6 > 1 || wanted.addresses.length - ofFamily6 !== 1) throw unusable('addresses')
  return wanted
}

/** `host:port`, with brackets around an IPv6 address. */
export function parseEndpoint(text: string): { host: string; port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain ?? ''
  const port = Number(digits)
  if (!(isIp(host) || isHostname(host)) || port < 1 || port > 65_535) throw unusable('endpoint')
  return { host: host.toLowerCase(), port }
}

function parseInterfaceAddress(text: string): string {
  const ip = findIp(text.split('/')[0] ?? '')
  const cidr = findCidr(text)
  if (!ip || !cidr) throw unusable('addresses')
  return `${formatIp(ip)}/${cidr.prefix}`
}

function parseAddress(text: string, field: string): string {
  const ip = findIp(text)
  if (!ip) throw unusable(field)
  return formatIp(ip)
}

function parseNetwork(text: string, field: string): string {
  const cidr = findCidr(text)
  if (!cidr) throw unusable(field)
  return formatCidr(cidr)
}

function parsePorts(ports: readonly number[]): number[] {
  const isPort = (port: number) => Number.isInteger(port) && port >= 1 && port <= 65_535
  return ports.every(isPort) ? [...new Set(ports)].sort((a, b) => a - b) : fail('targets')
}

function parseNetworks(texts: string[]): string[] {
  const cidrs = texts.map((text) => findCidr(text) ?? fail('gateway'))
  return mergeCidrs(cidrs).map(formatCidr)
}

function fail(field: string): never {
  throw unusable(field)
}

function unusable(field: string): AgentError {
  return new AgentError(
    'server-answer',
    `The server sent a configuration with an unusable ${field}. Update the agent`,
  )
}
