import { QuietHours } from '@postern/contract/alerts/quiet-hours'
import { expect, test } from 'vitest'
import { isQuiet } from './quiet-hours.ts'

const NIGHT = { enabled: true, from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }

test.each([
  [NIGHT, '2026-01-10T20:59:59Z', false],
  [NIGHT, '2026-01-10T21:00:00Z', true],
  [NIGHT, '2026-01-11T02:00:00Z', true],
  [NIGHT, '2026-01-11T05:59:59Z', true],
  [NIGHT, '2026-01-11T06:00:00Z', false],
  // In summer the same clock is an hour earlier.
  [NIGHT, '2026-07-10T20:00:00Z', true],
  [NIGHT, '2026-07-11T05:00:00Z', false],
  // On the night of 29 March, 02:00 becomes 03:00; on that of 25 October, 03:00 becomes 02:00.
  [{ ...NIGHT, from: '02:30', to: '03:30' }, '2026-03-29T01:15:00Z', true],
  [{ ...NIGHT, from: '02:30', to: '03:30' }, '2026-03-29T01:30:00Z', false],
  [{ ...NIGHT, from: '02:15', to: '02:45' }, '2026-10-25T00:20:00Z', true],
  [{ ...NIGHT, from: '02:15', to: '02:45' }, '2026-10-25T01:20:00Z', true],
  [{ ...NIGHT, from: '12:00', to: '13:00', timeZone: 'UTC' }, '2026-01-10T12:30:00Z', true],
  [{ ...NIGHT, from: '12:00', to: '13:00', timeZone: 'UTC' }, '2026-01-10T13:00:00Z', false],
  [{ ...NIGHT, enabled: false }, '2026-01-11T02:00:00Z', false],
])('%j at %s: %s', (hours, at, isIt) => expect(isQuiet(hours, Date.parse(at))).toBe(isIt))

test.each([
  ['from', { from: '24:00' }],
  ['to', { from: '07:00', to: '07:00' }],
  ['timeZone', { timeZone: 'Moon/Base' }],
])('an error at %s', (field, hours) => {
  expect(QuietHours.safeParse(hours).error?.issues[0]?.path).toEqual([field])
})
