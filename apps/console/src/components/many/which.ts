import type { Selection } from '../../table/use-selection.ts'
import type { Which } from './run-parts.ts'

/** The ticked rows, or the filter of their list where all of them are ticked. */
export function whichOf(
  { isAll, rows, total }: Selection<{ id: number }>,
  filter: Readonly<Record<string, string | number>>,
): Which<{ id: number }> {
  if (!isAll) return { records: rows.map(({ id }) => ({ id })) }
  const given = Object.entries(filter).filter(([, value]) => value !== '')
  return { filter: Object.fromEntries(given), total }
}

/** `it` or `them`. */
export const themOf = (count: number) => (count === 1 ? 'it' : 'them')

/** What a question adds where more is meant than the page shows. */
export const reachOf = ({ isAll }: Pick<Selection<unknown>, 'isAll'>) =>
  isAll ? 'These are all that the list finds, on all of its pages. ' : ''
