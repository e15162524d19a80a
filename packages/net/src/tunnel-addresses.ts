import type { Cidr } from './cidr.ts'
import type { Ip } from './ip.ts'

/** The number of the edge beside the server. */
export const FOUNDING_EDGE = 1

/** The /24 in which the other edges have their addresses; no new node gets one there. */
export const EDGE_BLOCK = 255

/** The first address of a network: that of the edge beside the server, for the nodes that share the network with it. */
export function firstOf({ base }: Cidr): Ip {
  return { ...base, value: base.value + 1n }
}

/** The only IPv4 address of the edge with this number, which is not the one beside the server. */
export function numberedAddressOf(number: number, network4: Cidr): Ip {
  return { family: 4, value: network4.base.value | BigInt((EDGE_BLOCK << 8) | number) }
}

/** Where a node finds the edge with this number: in the node's own /24, or in the block of the edges. */
export function edgeAddressOf(number: number, network4: Cidr, node4: Ip): Ip {
  return number === FOUNDING_EDGE ? firstOf(blockOf(node4)) : numberedAddressOf(number, network4)
}

/** The /24 of an IPv4 address. */
export function blockOf({ value }: Ip): Cidr {
  return { base: { family: 4, value: (value >> 8n) << 8n }, prefix: 24 }
}

/** The IPv6 address that belongs to an IPv4 one: the installation's /64, with it in the last 32 bits. */
export function address6For({ base }: Cidr, ip4: Ip): Ip {
  return { family: 6, value: base.value | ip4.value }
}
