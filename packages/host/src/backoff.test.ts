import { expect, test } from 'vitest'
import { createBackoff } from './backoff.ts'

test('waits double up to the longest, and start over after a reset', () => {
  const { next, reset } = createBackoff({ first: 500, most: 1800, random: () => 0 })
  expect([next(), next(), next(), next()]).toEqual([500, 1000, 1800, 1800])
  reset()
  expect(next()).toBe(500)
})

test('chance takes up to half of each', () => {
  expect(createBackoff({ first: 500, most: 1800, random: () => 0.5 }).next()).toBe(375)
})
