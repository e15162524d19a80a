import { findIp, formatIp, type Ip } from './ip.ts'

/** A network: `base` has no host bits. */
export interface Cidr {
  base: Ip
  prefix: number
}

/** @returns the network with its host bits cut off, or undefined. A plain address is a network of one. */
export function findCidr(text: string): Cidr | undefined {
  const [address = '', length, ...rest] = text.split('/')
  const ip = findIp(address)
  if (!ip || rest.length > 0) return undefined
  const bits = width(ip)
  if (length === undefined) return { base: ip, prefix: bits }
  if (!/^(0|[1-9]\d{0,2})$/.test(length) || Number(length) > bits) return undefined
  const prefix = Number(length)
  return { base: { family: ip.family, value: cut(ip.value, bits, prefix) }, prefix }
}

/** @throws TypeError when the text is no address or network; for texts that were checked already. */
export function parseCidr(text: string): Cidr {
  const cidr = findCidr(text)
  if (!cidr) throw new TypeError('not an IP address or network')
  return cidr
}

/** Those of the texts that are addresses or networks. */
export function findCidrs(texts: readonly string[]): Cidr[] {
  return texts.map(findCidr).filter((cidr) => cidr !== undefined)
}

/** An address as a network of one. */
export function single(ip: Ip): Cidr {
  return { base: ip, prefix: width(ip) }
}

/** The one spelling of a network, always with its prefix length. */
export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr.base)}/${cidr.prefix}`
}

export function contains(outer: Cidr, inner: Cidr): boolean {
  if (outer.base.family !== inner.base.family || outer.prefix > inner.prefix) return false
  return cut(inner.base.value, width(inner.base), outer.prefix) === outer.base.value
}

export function overlaps(a: Cidr, b: Cidr): boolean {
  return contains(a, b) || contains(b, a)
}

export function containsIp(cidr: Cidr, ip: Ip): boolean {
  return contains(cidr, single(ip))
}

/** `::ffff:1.2.3.4` counts as the IPv4 address it holds, because IPv6 sockets here carry IPv6 only. */
export function unmapped(cidr: Cidr): Cidr {
  const { base, prefix } = cidr
  if (base.family === 4 || prefix < 96 || base.value >> 32n !== 0xffffn) return cidr
  return { base: { family: 4, value: base.value & 0xffffffffn }, prefix: prefix - 96 }
}

/** What is left of a network without another one inside it, as few networks as possible. */
export function subtract(outer: Cidr, inner: Cidr): Cidr[] {
  if (!contains(outer, inner)) return [outer]
  const { base } = inner
  const bits = width(base)
  return Array.from({ length: inner.prefix - outer.prefix }, (_, index) => {
    const prefix = outer.prefix + index + 1
    const sibling = cut(base.value, bits, prefix) ^ (1n << BigInt(bits - prefix))
    return { base: { family: base.family, value: sibling }, prefix }
  })
}

/** The smallest list of networks that covers the same addresses, sorted; nft refuses overlaps in a set. */
export function mergeCidrs(cidrs: readonly Cidr[]): Cidr[] {
  const sorted = [...cidrs].sort(compare)
  const merged: Cidr[] = []
  for (const cidr of sorted) {
    const last = merged.at(-1)
    if (last && contains(last, cidr)) continue
    merged.push(cidr)
    joinSiblings(merged)
  }
  return merged
}

function joinSiblings(merged: Cidr[]): void {
  for (;;) {
    const [a, b] = merged.slice(-2)
    if (!a || !b || a.base.family !== b.base.family || a.prefix !== b.prefix || a.prefix === 0) return
    const bits = width(a.base)
    const parent = cut(a.base.value, bits, a.prefix - 1)
    if (parent !== cut(b.base.value, bits, b.prefix - 1)) return
    merged.splice(-2, 2, { base: { family: a.base.family, value: parent }, prefix: a.prefix - 1 })
  }
}

function compare(a: Cidr, b: Cidr): number {
  if (a.base.family !== b.base.family) return a.base.family - b.base.family
  if (a.base.value !== b.base.value) return a.base.value < b.base.value ? -1 : 1
  return a.prefix - b.prefix
}

function width(ip: Ip): number {
  return ip.family === 4 ? 32 : 128
}

function cut(value: bigint, bits: number, prefix: number): bigint {
  const host = BigInt(bits - prefix)
  return (value >> host) << host
}
