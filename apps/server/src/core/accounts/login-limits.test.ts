import { expect, test } from 'vitest'
import { TooManyError } from '../errors.ts'
import { createLoginLimits } from './login-limits.ts'
import { sourceOf as sourceAt, widerNetworksOf } from './sources.ts'

const sourceOf = (address: string) => sourceAt({ address, isBehindProxy: true })
const home = sourceOf('192.0.2.1')

test('a right password clears the failures before it', () => {
  const limits = createLoginLimits(() => 0)
  for (let round = 0; round < 4; round++) {
    for (let slip = 0; slip < 4; slip++) limits.take('admin', home, false)
    limits.take('admin', home, false).succeed()
  }
  for (let slip = 0; slip < 5; slip++) limits.take('admin', home, false)
  expect(() => limits.take('admin', home, false)).toThrow(TooManyError)
})

test('the wait is in whole seconds', () => {
  let now = 0
  const limits = createLoginLimits(() => now)
  for (let i = 0; i < 5; i++) limits.take('admin', home, false)
  now = 1500
  expect(() => limits.take('admin', home, false)).toThrow(expect.objectContaining({ retryAfter: 599 }))
  now = 600_000
  expect(() => limits.take('admin', home, false)).not.toThrow()
})

test('an unchecked attempt leaves no trace', () => {
  const limits = createLoginLimits(() => 0)
  for (let i = 0; i < 100; i++) limits.take('admin', home, false).undo()
  expect(limits.take('admin', home, false).rank).toBe(0)
})

test('very many addresses do not fill the memory, and do not reset the newest ones', () => {
  const limits = createLoginLimits(() => 0)
  for (let i = 0; i < 5; i++) limits.take('admin', home, false)
  for (let i = 0; i < 5000; i++) limits.take('x', sourceOf(`198.51.${i >> 8}.${i & 255}`), false)
  expect(() => limits.take('admin', home, false)).toThrow(TooManyError)
})

test('a /48 has 120 failures, however they are spread', () => {
  const limits = createLoginLimits(() => 0)
  const nth = (i: number) => sourceOf(`2001:db8:1:${((i % 4) * 256 + i).toString(16)}::1`)
  for (let i = 0; i < 120; i++) limits.take(`user${i}`, nth(i), false)
  expect(() => limits.take('admin', nth(900), false)).toThrow(TooManyError)
  expect(limits.take('admin', nth(900), true).rank).toBeLessThan(0)
  expect(limits.take('admin', sourceOf('2001:db8:2::1'), false).rank).toBe(0)
})

test('in a session only so many are wrong, wherever it moves', () => {
  const limits = createLoginLimits(() => 0)
  const nth = (i: number) => sourceOf(`2001:db8:${i}::1`)
  for (let i = 0; i < 10; i++) limits.take('admin', nth(i), false, 1)
  expect(() => limits.take('admin', nth(10), false, 1)).toThrow(TooManyError)
  expect(() => limits.take('admin', nth(10), true, 1)).toThrow(TooManyError)
  limits.take('admin', nth(10), false, 2).succeed()
  limits.take('admin', nth(10), false)
})

test('an address counts as its household, and belongs to wider networks', () => {
  const source = sourceOf('2001:db8:1:2ff:3:4:5:6')
  expect(source.network).toBe('2001:db8:1:2ff::')
  expect(widerNetworksOf(source).map(({ network }) => network)).toEqual(['2001:db8:1:200::', '2001:db8:1::'])
  expect(sourceOf('::ffff:192.0.2.1')).toEqual({ network: '192.0.2.1', own: null })
  expect(widerNetworksOf(home)).toEqual([])
})

test.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])('"%s" is this machine', (address) => {
  const network = '127.0.0.0/8'
  expect(sourceAt({ address, isBehindProxy: false })).toEqual({ network, own: 'port' })
  // Every local user can come from there, and HAProxy cannot tell which one did.
  expect(sourceOf(address)).toEqual({ network, own: null })
})

test.each(['128.0.0.1', '::2', '10.64.0.1'])('%s is not', (address) => {
  for (const isBehindProxy of [true, false])
    expect(sourceAt({ address, isBehindProxy })).toMatchObject({ own: null })
})

test('of the sockets, which know no addresses, only the console’s is root’s', () => {
  const limits = createLoginLimits(() => 0)
  const root = sourceAt({ address: '', isBehindProxy: false })
  expect([root.own, sourceOf('').own]).toEqual(['socket', null])
  for (let i = 0; i < 5; i++) limits.take('admin', sourceOf(''), false)
  expect(limits.take('admin', root, true).rank).toBeLessThan(limits.take('admin', home, true).rank)
})
