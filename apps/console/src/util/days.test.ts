import { afterEach, beforeEach, expect, test } from 'vitest'
import { addDays, addMonths, endOfDay, findDay, renderDay, today, weeksAround } from './days.ts'

const zone = process.env.TZ
beforeEach(() => {
  process.env.TZ = 'America/Sao_Paulo'
})
afterEach(() => {
  process.env.TZ = zone
})

test.each([
  ['01/05/2027', '2027-01-05'],
  ['1/5/2027', '2027-01-05'],
  ['01052027', '2027-01-05'],
  ['02/29/2028', '2028-02-29'],
  ['02/29/2027', undefined],
  ['02/30/2028', undefined],
  ['13/01/2027', undefined],
  ['00/10/2027', undefined],
  ['01/05/27', undefined],
  ['01/05/0027', undefined],
  ['2027-01-05', undefined],
  ['01/05/2027 12:00', undefined],
  ['tomorrow', undefined],
  ['', undefined],
])('%s is read as %s', (text, day) => {
  expect(findDay(text)).toBe(day)
  if (day) expect(findDay(renderDay(day))).toBe(day)
})

test('a day ends in the time zone of the browser, also when its clocks change', () => {
  expect(today(new Date('2027-01-05T01:00:00Z'))).toBe('2027-01-04')
  expect(endOfDay('2027-01-05').toISOString()).toBe('2027-01-06T02:59:59.999Z')
  process.env.TZ = 'Europe/Berlin'
  expect(endOfDay('2027-03-28').toISOString()).toBe('2027-03-28T21:59:59.999Z')
  expect(endOfDay('2027-10-31').toISOString()).toBe('2027-10-31T22:59:59.999Z')
})

test('days and months follow each other', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01')
  expect(addDays('2027-03-28', -28)).toBe('2027-02-28')
  expect(addMonths('2027-01-31', 1)).toBe('2027-02-28')
  expect(addMonths('2027-01-31', -11)).toBe('2026-02-28')
  expect(addMonths('2028-02-29', 12)).toBe('2029-02-28')
})

test('a month has its days in weeks', () => {
  const weeks = weeksAround('2027-02-14')
  expect(weeks.flat().filter(Boolean)).toHaveLength(28)
  expect(weeks[0]).toEqual([undefined, ...[1, 2, 3, 4, 5, 6].map((date) => `2027-02-0${date}`)])
  expect(weeksAround('2026-02-01')).toHaveLength(4)
  expect(weeksAround('2026-08-31')).toHaveLength(6)
})
