import { expect, test } from 'vitest'
import { reachText } from './reach-text.ts'

test.each([
  [null, 'The whole installation'],
  [{ nodes: [], domains: [] }, 'Nothing any more'],
  [{ nodes: ['a'], domains: [] }, 'a'],
  [{ nodes: ['a'], domains: ['b.test'] }, 'a and b.test'],
  [{ nodes: ['a', 'b'], domains: ['c.test'] }, 'a, b and c.test'],
  [{ nodes: ['a', 'b', 'c'], domains: ['d.test', 'e.test'] }, 'a, b, c and 2 more'],
])('%j reads as %s', (names, words) => {
  expect(reachText(names)).toBe(words)
})
