import { expect, test } from 'vitest'
import { spansWithout } from './ports.ts'

test.each([
  [[], [{ from: 10, to: 14 }]],
  [[10], [{ from: 11, to: 14 }]],
  [[14], [{ from: 10, to: 13 }]],
  [
    [12],
    [
      { from: 10, to: 11 },
      { from: 13, to: 14 },
    ],
  ],
  [[10, 11, 12, 13, 14], []],
  [[9, 15], [{ from: 10, to: 14 }]],
])('the range 10-14 without %j', (taken, spans) => {
  expect(spansWithout({ from: 10, to: 14 }, new Set(taken))).toEqual(spans)
})
