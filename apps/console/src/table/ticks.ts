/** Which rows are ticked. */
export interface Ticks<T> {
  rows: ReadonlyMap<number, T>
  /** All that the list finds, on all pages. */
  isAll: boolean
  /** The one that was ticked or cleared last, from which a range goes on. */
  last: number | undefined
}

interface Identified {
  id: number
}

/** @param isRange all rows of the page between the one before and this one become as this one does */
export function tickRow<T extends Identified>(
  ticks: Ticks<T>,
  page: readonly T[],
  id: number,
  isRange: boolean,
): Ticks<T> {
  const before = shown(ticks, page)
  const isOn = !before.has(id)
  const rows = new Map(before)
  for (const row of isRange ? between(page, ticks.last, id) : page.filter((row) => row.id === id)) {
    if (isOn) rows.set(row.id, row)
    else rows.delete(row.id)
  }
  return { rows, isAll: false, last: id }
}

/** Ticks the rows of a page, or clears them when all are ticked. Those of other pages stay as they are. */
export function tickPage<T extends Identified>(ticks: Ticks<T>, page: readonly T[]): Ticks<T> {
  if (ticks.isAll) return { rows: new Map(), isAll: false, last: undefined }
  const isWhole = page.every(({ id }) => ticks.rows.has(id))
  const rows = new Map(ticks.rows)
  for (const row of page) {
    if (isWhole) rows.delete(row.id)
    else rows.set(row.id, row)
  }
  return { rows, isAll: false, last: undefined }
}

export function tickAll<T>(): Ticks<T> {
  return { rows: new Map(), isAll: true, last: undefined }
}

/** When all were ticked and one is cleared, the others of its page are what is left: these can be seen. */
function shown<T extends Identified>(ticks: Ticks<T>, page: readonly T[]): ReadonlyMap<number, T> {
  return ticks.isAll ? new Map(page.map((row) => [row.id, row])) : ticks.rows
}

function between<T extends Identified>(page: readonly T[], from: number | undefined, to: number): T[] {
  const [a, b] = [from, to].map((wanted) => page.findIndex(({ id }) => id === wanted))
  if (a === undefined || b === undefined || b < 0) return []
  const start = a < 0 ? b : a
  return page.slice(Math.min(start, b), Math.max(start, b) + 1)
}
