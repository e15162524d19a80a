import { findIp, type Ip } from '@postern/net/ip'

/** RFC 5280, 4.2.1.10 */
export const NAME_CONSTRAINTS = '2.5.29.30'

const SEQUENCE = 0x30
const PERMITTED = 0xa0
const DNS_NAME = 0x82
const IP_ADDRESS = 0x87

/**
 * The DER of name constraints that permit only these names with their subdomains, and these addresses. A kind of name
 * with no entry would be unlimited, so this machine's own are always included.
 */
export function renderNameConstraints(names: readonly string[]): Buffer {
  const all = new Set(['localhost', '127.0.0.1', '::1', ...names])
  const bases = [...all].filter((name) => !isBelowAnother(name, all)).map(renderBase)
  const subtrees = bases.sort(Buffer.compare).map((base) => tlv(SEQUENCE, base))
  return tlv(SEQUENCE, tlv(PERMITTED, Buffer.concat(subtrees)))
}

function isBelowAnother(name: string, all: ReadonlySet<string>): boolean {
  if (findIp(name)) return false
  const labels = name.split('.')
  return labels.some((_, index) => index > 0 && all.has(labels.slice(index).join('.')))
}

function renderBase(name: string): Buffer {
  const ip = findIp(name)
  return ip ? tlv(IP_ADDRESS, renderAddress(ip)) : tlv(DNS_NAME, Buffer.from(name, 'ascii'))
}

/** The address, with a mask of all ones. */
function renderAddress({ family, value }: Ip): Buffer {
  const length = family === 4 ? 4 : 16
  const address = Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex')
  return Buffer.concat([address, Buffer.alloc(length, 0xff)])
}

function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const hex = length.toString(16)
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length]), bytes, content])
}
