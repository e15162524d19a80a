import { afterEach, beforeEach, expect, test } from 'vitest'
import { spanOf, stepText, timeTicks } from './times.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]
const zone = process.env.TZ
beforeEach(() => {
  process.env.TZ = 'UTC'
})
afterEach(() => {
  process.env.TZ = zone
})

const NOW = Date.parse('2026-01-15T12:34:00Z')
const texts = (...given: Parameters<typeof timeTicks>) => timeTicks(...given).map(({ text }) => text)

test('an hour has marks at full ten minutes', () => {
  const points = { from: NOW - 59 * MINUTE, step: MINUTE, length: 60 }
  expect(texts('hour', points, 10)).toEqual(['11:40', '11:50', '12:00', '12:10', '12:20', '12:30'])
  expect(texts('hour', points, 3)).toEqual(['11:40', '12:00', '12:20'])
})

test('a day has marks at full hours, a week at days, a month at every fifth day', () => {
  const day = { from: NOW - 24 * HOUR - (NOW % (10 * MINUTE)), step: 10 * MINUTE, length: 144 }
  expect(texts('day', day, 10)).toEqual(['16:00', '20:00', '00:00', '04:00', '08:00', '12:00'])
  const week = { from: Date.parse('2026-01-08T13:00:00Z'), step: HOUR, length: 168 }
  expect(texts('week', week, 10)).toEqual([
    '9 Fri',
    '10 Sat',
    '11 Sun',
    '12 Mon',
    '13 Tue',
    '14 Wed',
    '15 Thu',
  ])
  const month = { from: Date.parse('2025-12-16T15:00:00Z'), step: 3 * HOUR, length: 240 }
  expect(texts('month', month, 10)).toEqual(['Dec 21', 'Dec 26', 'Jan 1', 'Jan 6', 'Jan 11'])
})

test('no mark is where the line begins within the hour that would have one', () => {
  const day = { from: Date.parse('2026-01-15T04:20:00Z'), step: 10 * MINUTE, length: 144 }
  expect(timeTicks('day', day, 10)[0]).toEqual({ index: 22, text: '08:00' })
})

test.each([
  [0, 'hour'],
  [50 * MINUTE, 'hour'],
  [59 * MINUTE, 'day'],
  [30 * HOUR, 'week'],
  [8 * 24 * HOUR, 'month'],
  [31 * 24 * HOUR, undefined],
  [-HOUR, undefined],
])('a moment %d ms ago is in the span %s', (ago, span) => expect(spanOf(NOW - ago, NOW)).toBe(span))

test('a point says from when to when', () => {
  expect(stepText(NOW, 10 * MINUTE)).toBe('Thu, Jan 15, 12:34 to 12:44')
})
