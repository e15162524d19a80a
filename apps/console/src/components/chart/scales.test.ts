import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scaleFor, tickText, type Unit, valueText } from './scales.ts'

const texts = (most: number, unit: Unit) => scaleFor(most, unit).ticks.map((value) => tickText(value, unit))

describe('the axis of values', () => {
  test.each([
    [0, 'count', ['0', '1']],
    [3, 'count', ['0', '1', '2', '3']],
    [37, 'count', ['0', '10', '20', '30', '40']],
    [7900, 'count', ['0', '2K', '4K', '6K', '8K']],
    [900, 'bytes', ['0', '500 Bytes', '1000 Bytes']],
    [7_000_000, 'bytes', ['0', '2 MB', '4 MB', '6 MB', '8 MB']],
    [850 * 1024, 'bytes', ['0', '500 KB', '1000 KB']],
    [61, 'ms', ['0', '20 ms', '40 ms', '60 ms', '80 ms']],
    [4100, 'ms', ['0', '2 s', '4 s', '6 s']],
  ] as const)('up to %d %s', (most, unit, expected) => expect(texts(most, unit)).toEqual(expected))

  test('reaches every value, in few lines', () => {
    const values = fc.double({ min: 0, max: 2 ** 53, noNaN: true })
    const holds = (most: number, unit: Unit) => {
      const { top, ticks } = scaleFor(most, unit)
      return top >= most && ticks.length >= 2 && ticks.length <= 6 && ticks.at(-1) === top
    }
    fc.assert(fc.property(values, fc.constantFrom('count', 'bytes', 'ms'), holds))
  })
})

test.each([
  [1234, 'count', '1,234'],
  [0, 'bytes', '0 Bytes'],
  [9_867_000, 'bytes', '9.41 MB'],
  [0.5, 'ms', '0.5 ms'],
  [47.6, 'ms', '48 ms'],
  [1540, 'ms', '1.5 s'],
  [null, 'ms', '-'],
] as const)('%s as %s is %s', (value, unit, text) => expect(valueText(value, unit)).toBe(text))
