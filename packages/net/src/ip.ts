/** An IP address as a number with its family. `value` has 32 bits for IPv4, 128 for IPv6. */
export interface Ip {
  family: 4 | 6
  value: bigint
}

/** @returns the address, or undefined when the text is no address. Zones (`%eth0`) are refused. */
export function findIp(text: string): Ip | undefined {
  return text.includes(':') ? findIpv6(text) : findIpv4(text)
}

/** True for a dotted IPv4 address without leading zeros, which some parsers read as octal. */
export function isIpv4(text: string): boolean {
  return findIpv4(text) !== undefined
}

export function isIp(text: string): boolean {
  return findIp(text) !== undefined
}

function findIpv4(text: string): Ip | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  let value = 0n
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined
    value = (value << 8n) | BigInt(part)
  }
  return { family: 4, value }
}

function findIpv6(text: string): Ip | undefined {
  if (text.length > 45) return undefined
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = groups(halves[0] ?? '')
  const tail = halves.length === 2 ? groups(halves[1] ?? '') : []
  if (!head || !tail) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const all = [...head, ...new Array<number>(Math.max(missing, 0)).fill(0), ...tail]
  return { family: 6, value: all.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n) }
}

/** The 16-bit groups of one side of `::`; a dotted IPv4 tail counts as two. */
function groups(text: string): number[] | undefined {
  if (text === '') return []
  const found: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (part.includes('.')) {
      const ipv4 = index === parts.length - 1 ? findIpv4(part) : undefined
      if (!ipv4) return undefined
      found.push(Number(ipv4.value >> 16n), Number(ipv4.value & 0xffffn))
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined
      found.push(Number.parseInt(part, 16))
    }
  }
  return found
}

/** The one spelling of an address: dotted IPv4; RFC 5952 for IPv6. */
export function formatIp(ip: Ip): string {
  if (ip.family === 4) return [24n, 16n, 8n, 0n].map((shift) => (ip.value >> shift) & 255n).join('.')
  const hex = Array.from({ length: 8 }, (_, i) => ((ip.value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  const { start, length } = longestZeroRun(hex)
  if (length < 2) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

function longestZeroRun(hex: string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  for (let start = 0; start < hex.length; start++) {
    let length = 0
    while (hex[start + length] === '0') length++
    if (length > best.length) best = { start, length }
  }
  return best
}
