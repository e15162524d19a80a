import { expect, test } from 'vitest'
import { formatDate } from './dates.ts'

test('a date is month, day and year with two, two and four digits', () => {
  expect(formatDate('2027-03-31T12:00:00.000Z')).toBe('03/31/2027')
})

test.each([null, undefined, 'no date'])('%s is a dash', (time) => {
  expect(formatDate(time)).toBe('-')
})
