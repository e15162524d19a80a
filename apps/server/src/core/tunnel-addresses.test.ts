import { findIp } from '@postern/net/ip'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  address6Of,
  createNetwork6,
  edgeAddressOf,
  findAddressProblem,
  findFreeAddress,
  isReserved,
} from './tunnel-addresses.ts'

const NETWORK = '10.64.0.0/16'

test('the lowest free address is taken, and a freed one comes again', () => {
  expect(findFreeAddress(NETWORK, [])).toBe('10.64.0.2')
  expect(findFreeAddress(NETWORK, ['localhost', '10.64.0.2', '10.64.0.4'])).toBe('10.64.0.3')
})

test('the whole network can be used, without any reserved address', () => {
  const taken: string[] = []
  const all = function* () {
    for (let c = 0; c < 256; c++) for (let d = 0; d < 256; d++) yield `10.64.${c}.${d}`
  }
  for (const address of all()) if (!isReserved(address) && address !== '10.64.255.254') taken.push(address)
  expect(findFreeAddress(NETWORK, taken)).toBe('10.64.255.254')
  expect(findFreeAddress(NETWORK, [...taken, '10.64.255.254'])).toBeUndefined()
})

test('every free address is one that could be typed', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  const address = fc.tuple(octet, octet).map(([c, d]) => `10.64.${c}.${d}`)
  fc.assert(
    fc.property(fc.array(address, { maxLength: 500 }), (taken) => {
      const free = findFreeAddress(NETWORK, taken) ?? ''
      return !taken.includes(free) && findAddressProblem(NETWORK, free) === undefined
    }),
  )
})

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
