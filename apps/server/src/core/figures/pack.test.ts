import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Count, pack, sum, unpack } from './pack.ts'

const whole = fc.oneof(fc.nat(20), fc.nat(1_000_000), fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER))
const count = fc.tuple(whole, whole, whole)
const slots = fc
  .uniqueArray(fc.nat(59), { minLength: 1, maxLength: 60 })
  .chain((present) =>
    fc
      .array(count, { minLength: present.length, maxLength: present.length })
      .map(
        (counts) =>
          new Map(present.map((slot, index): [number, Count] => [slot, counts[index] ?? [0, 0, 0]])),
      ),
  )

describe('packed figures', () => {
  test('are, unpacked, what they were', () => {
    const isWhole = (before: Map<number, Count>) =>
      isDeepStrictEqual(unpack(pack(before)), new Map([...before].sort(([a], [b]) => a - b)))
    fc.assert(fc.property(slots, isWhole), { numRuns: 1000 })
  })

  test('of an hour that is like itself all the time take few bytes', () => {
    const hour = new Map(Array.from({ length: 60 }, (_, slot): [number, Count] => [slot, [6, 3000, 90_000]]))
    expect(pack(hour).length).toBeLessThan(60)
  })

  test('of busy minutes take less than five bytes each, also beside one that is a million times as busy', () => {
    const noise = (slot: number, spread: number) => (slot * 7919) % spread
    const hour = new Map(
      Array.from({ length: 60 }, (_, slot): [number, Count] => [
        slot,
        [20 + noise(slot, 10), 9000 + noise(slot, 4001), 150_000 + noise(slot, 60_013)],
      ]),
    )
    expect(pack(hour).length).toBeLessThan(60 * 5)
    hour.set(30, [20, 9000, 150_000_000_000])
    expect(pack(hour).length).toBeLessThan(60 * 5)
  })

  test('add up', () => {
    expect(sum([])).toEqual([0, 0, 0])
    expect(
      sum([
        [1, 2, 3],
        [10, 20, 30],
      ]),
    ).toEqual([11, 22, 33])
  })
})
