import { afterEach, beforeEach, expect, test } from 'vitest'
import { endOfDay, findDay, renderDay, today } from './days.ts'

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
