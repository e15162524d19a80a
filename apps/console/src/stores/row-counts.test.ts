import { describe, expect, it } from 'vitest'
import { findRowCount, keepRowCount, keepRowsPerPage, readRowsPerPage } from './row-counts.ts'

function memory() {
  const values = new Map<string, string>()
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
  }
}

describe('row counts', () => {
  it('are kept for each list, and of the latest fifty lists', () => {
    const store = memory()
    for (let list = 0; list < 60; list++) keepRowCount(`/api/${list}`, list, store)
    keepRowCount('/api/20', 7, store)
    expect(findRowCount('/api/20', store)).toBe(7)
    expect(findRowCount('/api/59', store)).toBe(59)
    expect(findRowCount('/api/9', store)).toBeUndefined()
  })

  it.each(['no JSON', '{}', '[["/api/nodes","3"]]', '[["/api/nodes",-1]]'])(
    'are not read from %s, which is then replaced',
    (text) => {
      const store = memory()
      store.setItem('row-counts', text)
      expect(findRowCount('/api/nodes', store)).toBeUndefined()
      keepRowCount('/api/nodes', 3, store)
      expect(findRowCount('/api/nodes', store)).toBe(3)
    },
  )
})

describe('rows per page', () => {
  it.each([
    ['10', 10],
    ['25', 25],
    ['50', 50],
    ['7', 10],
    ['', 10],
  ])('%s is read as %s', (text, rows) => {
    const store = memory()
    store.setItem('rows-per-page', text)
    expect(readRowsPerPage(store)).toBe(rows)
  })

  it('are ten until a person chooses', () => {
    const store = memory()
    expect(readRowsPerPage(store)).toBe(10)
    keepRowsPerPage(25, store)
    expect(readRowsPerPage(store)).toBe(25)
  })
})
