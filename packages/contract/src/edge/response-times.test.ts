import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bucketOf, quantileOf, RESPONSE_BOUNDS, RESPONSE_BUCKETS } from './response-times.ts'

/** What the edge counts. */
const count = (times: readonly number[]) => {
  const counts = Array<number>(RESPONSE_BUCKETS).fill(0)
  for (const ms of times) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1
  return counts
}

describe('the time of an answer', () => {
  test.each([
    [0, 0],
    [1, 0],
    [2, 1],
    [4, 3],
    [5, 3],
    [30_000, 22],
    [30_001, 23],
    [9e9, 23],
  ])('of %d ms is in bucket %d', (ms, bucket) => expect(bucketOf(ms)).toBe(bucket))

  test('has bounds that grow, by half or by the next round number', () => {
    for (const [index, bound] of RESPONSE_BOUNDS.entries())
      expect(bound / (RESPONSE_BOUNDS[index - 1] ?? 0.5)).toBeGreaterThan(1)
    expect(RESPONSE_BUCKETS).toBe(24)
  })
})

describe('a quantile', () => {
  test('of nothing is nothing', () => {
    expect(quantileOf([], 0.5)).toBeNull()
    expect(quantileOf(count([]), 0.95)).toBeNull()
  })

  test('lies between the ends of its bucket, in proportion', () => {
    const hundred = [...Array(90).fill(40), ...Array(10).fill(800)]
    expect(quantileOf(count(hundred), 0.45)).toBe(40)
    expect(quantileOf(count(hundred), 0.95)).toBe(850)
    expect(quantileOf(count([45_000]), 0.5)).toBe(45_000)
  })

  test('is in the bucket of the exact one, whatever the times', () => {
    const times = fc.array(fc.nat(90_000), { minLength: 1, maxLength: 200 })
    const holds = (all: number[], part: number) => {
      const sorted = all.toSorted((a, b) => a - b)
      const exact = sorted[Math.max(Math.ceil(part * all.length) - 1, 0)] ?? 0
      const told = quantileOf(count(all), part) ?? Number.NaN
      const bucket = bucketOf(exact)
      const [from, to] = [RESPONSE_BOUNDS[bucket - 1] ?? 0, RESPONSE_BOUNDS[bucket] ?? 60_000]
      return told >= from && told <= to
    }
    fc.assert(fc.property(times, fc.constantFrom(0.5, 0.95), holds), { numRuns: 500 })
  })
})
