import { expect, test } from 'vitest'
import { linePath } from './paths.ts'

const x = (index: number) => index * 10
const y = (value: number) => 100 - value

test('a line goes through its values, and breaks where there is none', () => {
  expect(linePath([1, 2, null, 3, null, null, 4, 5], x, y)).toBe(
    'M0.0,99.0L10.0,98.0M30.0,97.0h0M60.0,96.0L70.0,95.0',
  )
})

test('an area goes down to the axis', () => {
  expect(linePath([1, 2], x, y, 100)).toBe('M0.0,100L0.0,99.0L10.0,98.0L10.0,100Z')
})

test('nothing is no path', () => {
  expect(linePath([null, null], x, y)).toBe('')
})
