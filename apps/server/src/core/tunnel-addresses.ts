import { containsIp, parseCidr } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'

/** A /16 has this many addresses. */
const SIZE = 65_536

/** In every /24: the network itself, the edge, and the broadcast address. */
export function isReserved(address4: string): boolean {
  return ['0', '1', '255'].includes(address4.split('.').at(-1) ?? '')
}

/** The lowest address of the /16 that is neither reserved nor taken, or undefined when it is full. */
export function findFreeAddress(network4: string, taken: Iterable<string>): string | undefined {
  const { base } = parseCidr(network4)
  const used = new Set(taken)
  for (let offset = 2; offset < SIZE; offset++) {
    if ([0, 1, 255].includes(offset % 256)) continue
    const address = formatIp({ family: 4, value: base.value + BigInt(offset) })
    if (!used.has(address)) return address
  }
  return undefined
}

/** Why a typed IPv4 address cannot be a node's, or undefined. */
export function findAddressProblem(network4: string, address4: string): string | undefined {
  const ip = findIp(address4)
  if (!ip || !containsIp(parseCidr(network4), ip)) return `must be inside the tunnel network ${network4}`
  return isReserved(address4) ? 'must not end in .0, .1 or .255, which are reserved' : undefined
}

/** A node's IPv6 address: its IPv4 one in the last 32 bits of the installation's /64. */
export function address6Of(network6: string, address4: string): string {
  const { base } = parseCidr(network6)
  const ip = findIp(address4)
  if (ip?.family !== 4) throw new TypeError('not an IPv4 address')
  return formatIp({ family: 6, value: base.value | ip.value })
}

/** The edge's address as a node sees it: .1 of the node's /24. */
export function edgeAddressOf(address4: string): string {
  return `${address4.split('.').slice(0, 3).join('.')}.1`
}

/** A /64 of unique local addresses (RFC 4193); `random` are 5 random bytes. */
export function createNetwork6(random: Buffer): string {
  const [a, b, c, d, e] = [...random].map((byte) => byte.toString(16).padStart(2, '0'))
  return `fd${a}:${b}${c}:${d}${e}::/64`
}
