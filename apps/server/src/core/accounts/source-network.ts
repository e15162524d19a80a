import { findIp, formatIp } from '@postern/net/ip'

/** Where a request comes from: an IPv4 address, the /64 of an IPv6 one, or this machine. */
export interface Source {
  /** The one name of all its addresses. */
  network: string
  isLocal: boolean
  /** Of an IPv6 address, all its bits. */
  value?: bigint
}

/** @param address as the connection or HAProxy has it; empty for what came through the socket without one */
export function sourceOf(address: string): Source {
  const ip = findIp(address.replace(/^::ffff:(?=\d+\.)/i, ''))
  if (!ip) return { network: 'local', isLocal: true }
  if (ip.family === 4) return { network: formatIp(ip), isLocal: ip.value >> 24n === 127n }
  // One household has a whole /64, so that counts as one.
  return { network: networkOf(ip.value, 64), isLocal: ip.value === 1n, value: ip.value }
}

export function widerNetworksOf({ value }: Source): { prefix: 56 | 48; network: string }[] {
  if (value === undefined) return []
  return ([56, 48] as const).map((prefix) => ({ prefix, network: networkOf(value, prefix) }))
}

function networkOf(value: bigint, prefix: number): string {
  const rest = BigInt(128 - prefix)
  return formatIp({ family: 6, value: (value >> rest) << rest })
}
