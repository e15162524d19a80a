import { expect, test } from 'vitest'
import { parseCidr } from './cidr.ts'
import { findIp, formatIp, type Ip } from './ip.ts'
import { address6For, edgeAddressOf, numberedAddressOf } from './tunnel-addresses.ts'

const NETWORK = parseCidr('10.64.0.0/16')
const ip = (text: string): Ip => findIp(text) ?? { family: 4, value: 0n }

test.each([
  [1, '10.64.0.2', '10.64.0.1'],
  [1, '10.64.255.9', '10.64.255.1'],
  [2, '10.64.0.2', '10.64.255.2'],
  [250, '10.64.7.200', '10.64.255.250'],
])('edge %i is found by %s at %s', (number, node, address) => {
  expect(formatIp(edgeAddressOf(number, NETWORK, ip(node)))).toBe(address)
})

test('an edge has the IPv6 address that belongs to its IPv4 one', () => {
  const four = numberedAddressOf(3, NETWORK)
  expect(formatIp(address6For(parseCidr('fd01:203:405::/64'), four))).toBe('fd01:203:405::a40:ff03')
})
