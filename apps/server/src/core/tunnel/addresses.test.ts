import { findIp } from '@postern/net/ip'
import { expect, test } from 'vitest'
import { address6Of, createNetwork6, edgeAddressOf } from './addresses.ts'

test('the IPv6 address has the IPv4 one in its last bits', () => {
  const network6 = createNetwork6(Buffer.from('0102030405', 'hex'))
  expect(network6).toBe('fd01:0203:0405::/64')
  expect(address6Of(network6, '10.64.0.2')).toBe('fd01:203:405::a40:2')
  expect((findIp(address6Of(network6, '10.64.1.9'))?.value ?? 0n) & 0xffffffffn).toBe(
    findIp('10.64.1.9')?.value,
  )
})

test('a node reaches the edge at .1 of its /24', () => {
  expect(edgeAddressOf('10.64.7.200')).toBe('10.64.7.1')
})
