import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Cidr,
  contains,
  containsIp,
  findCidr,
  formatCidr,
  mergeCidrs,
  overlaps,
  parseCidr,
  subtract,
} from './cidr.ts'
import { findIp } from './ip.ts'

/** Few bits, so that networks meet often. */
const cidr4 = fc
  .tuple(fc.nat(255), fc.integer({ min: 24, max: 32 }))
  .map(([last, prefix]) => parseCidr(`10.0.0.${last}/${prefix}`))
const cidr6 = fc
  .tuple(fc.nat(255), fc.integer({ min: 120, max: 128 }))
  .map(([last, prefix]) => parseCidr(`fd00::${last.toString(16)}/${prefix}`))
const cidr = fc.oneof(cidr4, cidr6)
const ip4 = fc.nat(255).map((last) => `10.0.0.${last}`)
const ip = fc.oneof(
  ip4,
  fc.nat(255).map((last) => `fd00::${last.toString(16)}`),
)
const parseIp = (text: string) => {
  const found = findIp(text)
  if (!found) throw new Error(text)
  return found
}

describe('a network', () => {
  it('loses its host bits and is always written with its length', () => {
    expect(formatCidr(parseCidr('10.1.2.3/8'))).toBe('10.0.0.0/8')
    expect(formatCidr(parseCidr('FD00::5/64'))).toBe('fd00::/64')
    expect(formatCidr(parseCidr('10.1.2.3'))).toBe('10.1.2.3/32')
    expect(formatCidr(parseCidr('::/0'))).toBe('::/0')
  })

  it.each([
    '',
    '/',
    '10.0.0.0/',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10/8',
    'x/8',
    '10.0.0.0/1e1',
  ])('is not %j', (text) => {
    expect(findCidr(text)).toBeUndefined()
    expect(() => parseCidr(text)).toThrow(TypeError)
  })

  it('contains an address exactly when the platform says so', () => {
    fc.assert(
      fc.property(cidr, ip, (network, address) => {
        const [base = '', prefix] = formatCidr(network).split('/')
        const family = base.includes(':') ? 'ipv6' : 'ipv4'
        const list = new BlockList()
        list.addSubnet(base, Number(prefix), family)
        const own = address.includes(':') ? 'ipv6' : 'ipv4'
        expect(containsIp(network, parseIp(address))).toBe(own === family && list.check(address, own))
      }),
      { numRuns: 2000 },
    )
  })

  it('overlaps another exactly when they share an address', () => {
    fc.assert(
      fc.property(cidr4, cidr4, (a, b) => {
        const shares = Array.from({ length: 256 }, (_, last) => parseIp(`10.0.0.${last}`)).some(
          (address) => containsIp(a, address) && containsIp(b, address),
        )
        expect(overlaps(a, b)).toBe(shares)
        expect(contains(a, b) && contains(b, a)).toBe(formatCidr(a) === formatCidr(b))
      }),
    )
  })
})

describe('merging', () => {
  it('covers the same addresses without an overlap, sorted, and no pair could be one', () => {
    fc.assert(
      fc.property(fc.array(cidr, { maxLength: 12 }), ip, (networks, address) => {
        const merged = mergeCidrs(networks)
        const covers = (list: readonly Cidr[]) =>
          list.some((network) => containsIp(network, parseIp(address)))
        expect(covers(merged)).toBe(covers(networks))
        for (const [index, a] of merged.entries())
          for (const b of merged.slice(index + 1)) expect(overlaps(a, b)).toBe(false)
        expect(mergeCidrs([...merged].reverse())).toEqual(merged)
      }),
      { numRuns: 1000 },
    )
  })

  it('joins neighbours up to everything', () => {
    const halves = ['0.0.0.0/1', '128.0.0.0/1', '10.0.0.0/8'].map(parseCidr)
    expect(mergeCidrs(halves).map(formatCidr)).toEqual(['0.0.0.0/0'])
    expect(mergeCidrs(['10.0.0.1', '10.0.0.2'].map(parseCidr)).map(formatCidr)).toEqual([
      '10.0.0.1/32',
      '10.0.0.2/32',
    ])
  })
})

it.each([
  ['10.0.0.0/14', '10.1.0.0/16', ['10.2.0.0/15', '10.0.0.0/16']],
  ['10.64.0.0/16', '10.64.0.0/16', []],
  ['10.64.0.0/17', '10.64.0.0/16', ['10.64.0.0/17']],
  ['192.168.0.0/16', '10.64.0.0/16', ['192.168.0.0/16']],
  ['fd00::/62', 'fd00:0:0:1::/64', ['fd00:0:0:2::/63', 'fd00::/64']],
])('%s without %s is the rest, once', (outer, inner, left) => {
  expect(subtract(parseCidr(outer), parseCidr(inner)).map(formatCidr)).toEqual(left)
})
