import { expect, test } from 'vitest'
import { findDuration } from './duration.ts'

test.each([
  ['45', 45],
  ['90m', 5400],
  ['1h30m', 5400],
  [' 1H 30M ', 5400],
  ['7d', 604_800],
  ['2w', 1_209_600],
  ['0', 0],
])('“%s” is %s seconds', (text, seconds) => expect(findDuration(text)).toBe(seconds))

test.each(['', 'h', '1x', '1.5h', '-1h', '1h30', '1 month', '１h', '99999999999'])('“%s” is none', (text) => {
  expect(findDuration(text)).toBeUndefined()
})
