import { expect, test } from 'vitest'
import { TooManyError } from './errors.ts'
import { createLoginLimits, networkOf } from './login-limits.ts'

test('a right password forgives the slips before it', () => {
  const limits = createLoginLimits(() => 0)
  for (let round = 0; round < 4; round++) {
    for (let slip = 0; slip < 4; slip++) limits.take('admin', '192.0.2.1')
    limits.take('admin', '192.0.2.1')
    limits.forgive('admin', '192.0.2.1')
  }
  for (let slip = 0; slip < 5; slip++) limits.take('admin', '192.0.2.1')
  expect(() => limits.take('admin', '192.0.2.1')).toThrow(TooManyError)
})

test('the wait is told in whole seconds', () => {
  let now = 0
  const limits = createLoginLimits(() => now)
  for (let i = 0; i < 5; i++) limits.take('admin', '192.0.2.1')
  now = 1500
  expect(() => limits.take('admin', '192.0.2.1')).toThrow(expect.objectContaining({ retryAfter: 599 }))
  now = 600_000
  expect(() => limits.take('admin', '192.0.2.1')).not.toThrow()
})

test('very many addresses do not fill the memory, and do not reset the newest ones', () => {
  const limits = createLoginLimits(() => 0)
  for (let i = 0; i < 5; i++) limits.take('admin', '192.0.2.1')
  for (let i = 0; i < 5000; i++) limits.take('x', `198.51.${i >> 8}.${i & 255}`)
  expect(() => limits.take('admin', '192.0.2.1')).toThrow(TooManyError)
})

test('an address counts as its household', () => {
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::')
  expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1')
  expect(networkOf('')).toBe('local')
})
