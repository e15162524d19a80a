/**
 * Section name → its rows. Unchanged maps, arrays and rows stay the same objects, so that comparing two states costs
 * no more than their difference.
 */
export type Sections<T> = ReadonlyMap<string, readonly T[]>

/** All rows of all sections. */
export function rowsOf<T>(sections: Sections<T>): T[] {
  return [...sections.values()].flat()
}

/** The rows that only one of the two has. */
export function changesOf<T>(before: Sections<T>, after: Sections<T>): { gone: Set<T>; come: Set<T> } {
  const gone = new Set(rowsThatDiffer(before, after))
  const come = new Set(rowsThatDiffer(after, before))
  for (const row of gone) if (come.delete(row)) gone.delete(row)
  return { gone, come }
}

function rowsThatDiffer<T>(a: Sections<T>, b: Sections<T>): T[] {
  return a === b ? [] : [...a].flatMap(([name, rows]) => (b.get(name) === rows ? [] : rows))
}

/** @returns the previous array when it has these very rows */
export function keepRows<T>(before: readonly T[] | undefined, rows: readonly T[]): readonly T[] {
  const isSame = before?.length === rows.length && rows.every((row, index) => row === before[index])
  return isSame ? before : rows
}

/** @returns the previous sections when they have these very arrays */
export function keepSections<T>(before: Sections<T> | undefined, sections: Sections<T>): Sections<T> {
  if (before?.size !== sections.size) return sections
  for (const [name, rows] of sections) if (before.get(name) !== rows) return sections
  return before
}
