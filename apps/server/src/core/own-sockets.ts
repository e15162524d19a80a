import { containsIp, parseCidr } from '@postern/net/cidr'
import { findIp, formatIp, type Ip } from '@postern/net/ip'
import type { Context } from '../context.ts'

/** The sockets of this installation, which no service may lead to: it would lead to the console, or to itself. */
export interface OwnSockets {
  addresses: ReadonlySet<string>
  names: ReadonlySet<string>
  ports: ReadonlySet<number>
  tunnel4: string
}

export function ownSocketsOf(context: Pick<Context, 'config' | 'network'>): OwnSockets {
  const { config } = context
  const { settings } = config
  return {
    addresses: new Set([...context.network().addresses, config.publicHost]),
    names: new Set(['localhost', config.publicHost]),
    ports: new Set([
      settings.POSTERN_CONSOLE_PORT,
      settings.POSTERN_HTTP_PORT,
      settings.POSTERN_HTTPS_PORT,
      settings.POSTERN_TUNNEL_PORT,
    ]),
    tunnel4: settings.POSTERN_TUNNEL_NETWORK,
  }
}

/** True when a backend of the local node is one of them. `host` in its one spelling. */
export function isOwnSocket(sockets: OwnSockets, host: string, port: number): boolean {
  return sockets.ports.has(port) && isOwnHost(sockets, host)
}

/** `this host`, loopback: with the wildcard addresses, which mean the same to a connecting program. */
const LOOPBACK = ['0.0.0.0/8', '127.0.0.0/8', '::/128', '::1/128'].map(parseCidr)

function isOwnHost(sockets: OwnSockets, host: string): boolean {
  const ip = findIp(host)
  if (!ip) return sockets.names.has(host) || host.endsWith('.localhost')
  const plain = unmapped(ip)
  return (
    LOOPBACK.some((network) => containsIp(network, plain)) ||
    sockets.addresses.has(formatIp(plain)) ||
    isEdgeInTunnel(sockets, plain)
  )
}

/** The edge holds .1 of every /24 of the tunnel. */
function isEdgeInTunnel({ tunnel4 }: OwnSockets, ip: Ip): boolean {
  return containsIp(parseCidr(tunnel4), ip) && (ip.value & 255n) === 1n
}

const MAPPED = parseCidr('::ffff:0:0/96')

/** `::ffff:127.0.0.1` connects to 127.0.0.1. */
function unmapped(ip: Ip): Ip {
  return containsIp(MAPPED, ip) ? { family: 4, value: ip.value & 0xffffffffn } : ip
}
