import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Count, pack, sum, unpack } from './pack.ts'

/** As a server wrote it that counted no answers. */
const FORMER = 'DoYAAAAAIcBDdKrwgAF6dPIYagcAAC5GPBpw'

const whole = fc.oneof(fc.nat(20), fc.nat(1_000_000), fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER))
const answers = fc.array(fc.oneof(fc.constant(0), whole), { maxLength: 25 })
const count = fc.tuple(fc.tuple(whole, whole, whole), answers).map(([a, b]): Count => [...a, ...b])
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

/** In order, and without zeros at the end, which mean nothing. */
const trimmed = (all: ReadonlyMap<number, Count>) =>
  [...all]
    .sort(([a], [b]) => a - b)
    .map(([slot, [a, b, c, ...rest]]) => [
      slot,
      [a, b, c, ...rest.slice(0, rest.findLastIndex((value) => value > 0) + 1)],
    ])

describe('packed figures', () => {
  test('are unchanged after packing and unpacking', () => {
    const isWhole = (before: Map<number, Count>) =>
      isDeepStrictEqual(trimmed(unpack(pack(before))), trimmed(before))
    fc.assert(fc.property(slots, isWhole), { numRuns: 1000 })
  })

  test('of a uniform hour take few bytes', () => {
    const hour = new Map(Array.from({ length: 60 }, (_, slot): [number, Count] => [slot, [6, 3000, 90_000]]))
    expect(pack(hour).length).toBeLessThan(60)
  })

  test('of busy minutes take less than five bytes each, even beside one that is a million times as busy', () => {
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

  test('of a server that knew no answers read as they were, and so do those that it would write', () => {
    const former = Uint8Array.from(Buffer.from(FORMER, 'base64'))
    const counts: [number, Count][] = [
      [3, [4, 700, 50_000]],
      [4, [9, 1200, 81_000]],
      [40, [1, 30, 2]],
    ]
    expect([...unpack(former)]).toEqual(counts)
    expect(pack(new Map(counts))).toEqual(former)
  })

  test('of answers take about two bytes for each minute of a service that is asked now and then', () => {
    const bare = new Map(Array.from({ length: 60 }, (_, slot): [number, Count] => [slot, [6, 3000, 90_000]]))
    const answered = new Map(
      [...bare].map(([slot, count]): [number, Count] => [
        slot,
        [...count, 0, 0, slot % 2, (slot * 7) % 3, 2, slot % 3, 0, (slot * 3) % 2, 0, 0, slot % 20 ? 0 : 1],
      ]),
    )
    expect(pack(answered).length - pack(bare).length).toBeLessThan(60 * 2)
  })

  test('add up', () => {
    expect(sum([])).toEqual([0, 0, 0])
    expect(
      sum([
        [1, 2, 3],
        [10, 20, 30],
      ]),
    ).toEqual([11, 22, 33])
    expect(
      sum([
        [1, 1, 1, 5],
        [1, 1, 1],
        [1, 1, 1, 1, 0, Number.MAX_SAFE_INTEGER],
        [0, 0, 0, 0, 2, 7],
      ]),
    ).toEqual([3, 3, 3, 6, 2, Number.MAX_SAFE_INTEGER])
  })
})
