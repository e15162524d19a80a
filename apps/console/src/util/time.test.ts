import { expect, test } from 'vitest'
import { formatDate, formatMoment, formatRelativeTime, formatTimeLeft } from './time.ts'

test('a date is month, day and year with two, two and four digits', () => {
  expect(formatDate('2027-03-31T12:00:00.000Z')).toBe('03/31/2027')
})

test('a moment is the same date, its time of 24 hours and its zone', () => {
  expect(formatMoment('2027-03-31T12:00:05.000Z')).toMatch(/^0[34]\/\d\d\/2027, \d\d:\d\d:05 \S+$/)
  // Some hour of a day is 13 in every zone.
  const hours = Array.from({ length: 24 }, (_, hour) =>
    formatMoment(Date.UTC(2027, 2, 15, hour)).slice(12, 14),
  )
  expect(hours).toEqual(expect.arrayContaining(['00', '13', '23']))
})

test.each([null, undefined, 'no date'])('%s is a dash', (time) => {
  expect(formatDate(time)).toBe('-')
  expect(formatMoment(time)).toBe('-')
})

const NOW = 1_800_000_000_000

test.each([
  [0, 'just now'],
  [999, 'just now'],
  [-5000, 'just now'],
  [1000, '1 second ago'],
  [59_999, '59 seconds ago'],
  [60_000, '1 minute ago'],
  [3_599_999, '59 minutes ago'],
  [3_600_000, '1 hour ago'],
  [3 * 86_400_000, '3 days ago'],
  [40 * 86_400_000, '1 month ago'],
  [800 * 86_400_000, '2 years ago'],
])('%s ms old reads as %s', (age, words) => {
  expect(formatRelativeTime(NOW - age, NOW)).toBe(words)
})

test.each([null, undefined, 0])('%s has no time: a dash', (time) => {
  expect(formatRelativeTime(time, NOW)).toBe('-')
})

test.each([
  [-5000, '0 s'],
  [1, '1 s'],
  [89_000, '89 s'],
  [7_199_000, '2 h'],
  [3_600_000, '60 min'],
  [35 * 3_600_000, '35 h'],
  [7 * 86_400_000 - 60_000, '7 days'],
])('%s ms from now are %s', (left, words) => expect(formatTimeLeft(NOW + left, NOW)).toBe(words))
