import { expect, test } from 'vitest'
import { nextTryAt, pollWait, renewalAt, renewalInWindow } from './schedule.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const life = (days: number) => ({ notBefore: new Date(0), notAfter: new Date(days * DAY) })

test('the wait after a failure grows from a minute to a day', () => {
  const waits = Array.from({ length: 40 }, (_, index) => nextTryAt(0, index + 1, 0))
  expect(waits.slice(0, 4)).toEqual([1, 2, 4, 8].map((minutes) => minutes * MINUTE))
  expect(Math.max(...waits)).toBe(DAY)
  expect(waits.at(-1)).toBe(DAY)
  expect(nextTryAt(0, 1, 1)).toBe(MINUTE * 0.75)
})

test('the authority may ask for a longer wait, but not for a shorter one', () => {
  expect(nextTryAt(0, 1, 0, 5 * HOUR)).toBe(5 * HOUR)
  expect(nextTryAt(0, 12, 0, 1)).toBe(DAY)
})

test.each([397, 90, 45, 6, 1])('of %i days, about two thirds pass before a renewal', (days) => {
  expect(renewalAt(life(days), 0, 0) / DAY / days).toBeCloseTo(0.667, 2)
  expect(renewalAt(life(days), 0, 1) / DAY / days).toBeCloseTo(0.617, 2)
})

test('a certificate that is due when it is issued is renewed a little later, not at once', () => {
  expect(renewalAt(life(90), 80 * DAY, 0)).toBe(81 * DAY)
  expect(renewalAt(life(1), DAY, 0)).toBe(DAY + DAY / 8)
})

test("a random time in the authority's window is chosen, kept, and never in the last eighth of the lifetime", () => {
  const window = { start: 50 * DAY, end: 60 * DAY }
  const at = (planned: number, random: number) =>
    renewalInWindow(window, life(90), { planned, issued: 0, random })
  expect(at(0, 0.5)).toBe(55 * DAY)
  expect(at(58 * DAY, 0.5)).toBe(58 * DAY)
  expect(
    renewalInWindow({ start: 89 * DAY, end: 99 * DAY }, life(90), { planned: 0, issued: 0, random: 1 }),
  ).toBe(78.75 * DAY)
  expect(renewalInWindow({ start: 0, end: 1 }, life(90), { planned: 0, issued: 7 * DAY, random: 0 })).toBe(
    7 * DAY + HOUR,
  )
})

test("polls become less frequent, and follow the authority's wish up to a minute", () => {
  expect([0, 1, 9].map((polls) => pollWait(polls, undefined))).toEqual([100, 200, 5000])
  expect(pollWait(0, 3000)).toBe(3000)
  expect(pollWait(0, HOUR)).toBe(MINUTE)
  expect(pollWait(0, 0)).toBe(100)
})
