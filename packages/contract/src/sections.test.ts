import { expect, test } from 'vitest'
import { changesOf, keepRows, keepSections, rowsOf } from './sections.ts'

const [a, b, c] = [{ id: 1 }, { id: 2 }, { id: 3 }]

test('only rows that came or went are changes, also when one moves to another section', () => {
  const before = new Map([
    ['x', [a, b]],
    ['y', [c]],
  ])
  const after = new Map([
    ['x', [a]],
    ['z', [b, { id: 3 }]],
  ])
  const { gone, come } = changesOf(before, after)
  expect([[...gone], [...come]]).toEqual([[c], [{ id: 3 }]])
  expect(changesOf(after, after)).toEqual({ gone: new Set(), come: new Set() })
})

test('no row of a section that is the same array is looked at', () => {
  const rows = new Proxy([a, b], {
    get() {
      throw new Error('looked at')
    },
  })
  const { gone, come } = changesOf(new Map([['x', rows]]), new Map([['x', rows]]))
  expect([gone.size, come.size]).toEqual([0, 0])
})

test('what has the same rows is the same', () => {
  const rows = [a, b]
  expect(keepRows(rows, [a, b])).toBe(rows)
  expect(keepRows(rows, [b, a])).toEqual([b, a])
  expect(keepRows(undefined, rows)).toBe(rows)
  const sections = new Map([['x', rows]])
  expect(keepSections(sections, new Map([['x', rows]]))).toBe(sections)
  expect(keepSections(sections, new Map([['y', rows]]))).not.toBe(sections)
  expect(rowsOf(sections)).toEqual(rows)
})
