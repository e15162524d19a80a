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
  peer: {
    publicKey: string
    presharedKey: string
    host: string
    port: number
    allowedIps: string[]
    keepaliveSeconds: number
  }
  edgeAddress: string
  /** The ports of this node that the edge may reach, each once. */
  targets: AgentConfig['targets']
}

/** @throws AgentError `server-answer` that names the unusable field. */
export function parseWanted(config: AgentConfig): Wanted {
  const { node, peer } = config
  const keepalive = peer.keepaliveSeconds
  if (!Number.isInteger(keepalive) || keepalive < 0 || keepalive > 65_535) throw unusable('keepaliveSeconds')
  return {
    node: { id: node.id, name: printable(node.name, 100), enabled: node.enabled },
    addresses: config.addresses.map(parseInterfaceAddress),
    dns: config.dns.map((text) => parseAddress(text, 'dns')),
    gateway: config.gateway && parseNetworks(config.gateway.map(({ subnet }) => subnet)),
    peer: {
      publicKey: isPublicKey(peer.publicKey) ? peer.publicKey : fail('publicKey'),
      presharedKey: isWireGuardKey(peer.presharedKey) ? peer.presharedKey : fail('presharedKey'),
      ...parseEndpoint(peer.endpoint),
      allowedIps: peer.allowedIps.map((text) => parseNetwork(text, 'allowedIps')),
      keepaliveSeconds: keepalive,
    },
    edgeAddress: parseAddress(config.edgeAddress, 'edgeAddress'),
    targets: { tcp: parsePorts(config.targets.tcp), udp: parsePorts(config.targets.udp) },
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
