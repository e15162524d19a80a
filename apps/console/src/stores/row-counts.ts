import * as z from 'zod/mini'

const COUNTS_KEY = 'row-counts'
const ROWS_KEY = 'rows-per-page'
/** How many lists' lengths are remembered. */
const MOST_LISTS = 50

const Counts = z.array(z.tuple([z.string(), z.int().check(z.nonnegative())]))
type Store = Pick<Storage, 'getItem' | 'setItem'>

export const ROWS_PER_PAGE = [10, 25, 50] as const

/** How many rows a page has, as this browser remembers it. */
export function readRowsPerPage(store: Store = localStorage): number {
  const kept = Number(store.getItem(ROWS_KEY))
  return ROWS_PER_PAGE.find((rows) => rows === kept) ?? ROWS_PER_PAGE[0]
}

export function keepRowsPerPage(rows: number, store: Store = localStorage): void {
  store.setItem(ROWS_KEY, String(rows))
}

function readCounts(store: Store): [string, number][] {
  try {
    return Counts.parse(JSON.parse(store.getItem(COUNTS_KEY) ?? '[]'))
  } catch {
    // The stored value is not ours: the next count replaces it.
    return []
  }
}

/** How many rows a list had when this browser last showed it. */
export function findRowCount(list: string, store: Store = localStorage): number | undefined {
  return readCounts(store).find(([name]) => name === list)?.[1]
}

export function keepRowCount(list: string, count: number, store: Store = localStorage): void {
  if (findRowCount(list, store) === count) return
  const others = readCounts(store).filter(([name]) => name !== list)
  store.setItem(COUNTS_KEY, JSON.stringify([...others, [list, count]].slice(-MOST_LISTS)))
}
