import type { WgPeer } from '@postern/host/wg-dump'
import { expect, test } from 'vitest'
import { createHandshakeAges } from './handshake-ages.ts'

const START = 1_700_000_000_000
const HOUR = 3_600_000

function machine() {
  const clock = { now: START, elapsed: 5000 }
  const ages = createHandshakeAges(
    () => clock.now,
    () => clock.elapsed,
  )
  const pass = (ms: number) => {
    clock.now += ms
    clock.elapsed += ms
  }
  const look = (handshake: number | null) =>
    ages.look(new Map([['key', { latestHandshake: handshake } as WgPeer]]))
  return { clock, ages, pass, look }
}

test('one from before the first observation is as old as its date says, and grows older', () => {
  const { ages, pass, look } = machine()
  expect(ages.ageOf('key')).toBe(Number.POSITIVE_INFINITY)
  look(START - 170_000)
  expect(ages.ageOf('key')).toBe(170_000)
  pass(20_000)
  look(START - 170_000)
  expect(ages.ageOf('key')).toBe(190_000)
  look(START + 19_000)
  expect(ages.ageOf('key')).toBe(0)
  look(null)
  expect(ages.ageOf('key')).toBe(Number.POSITIVE_INFINITY)
})

test.each([HOUR, -HOUR, 24 * HOUR])(
  'a clock that jumps by %i ms makes none older, and is noticed once',
  (by) => {
    const { clock, ages, pass, look } = machine()
    look(START - 10_000)
    pass(2000)
    expect(look(START - 10_000)).toBe(false)
    clock.now += by
    expect(look(START - 10_000)).toBe(true)
    expect(ages.ageOf('key')).toBe(12_000)
    pass(2000)
    expect(look(START - 10_000)).toBe(false)
    // The next one has a date of the new clock, or of the old one where WireGuard still has that.
    look(clock.now - 1000)
    expect(ages.ageOf('key')).toBe(0)
    look(clock.now - by)
    expect(ages.ageOf('key')).toBe(0)
  },
)

test('a clock that was put back before the first observation makes a handshake count as new', () => {
  const { ages, look } = machine()
  look(START + HOUR)
  expect(ages.ageOf('key')).toBe(0)
})
