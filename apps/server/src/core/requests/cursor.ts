/** Edge → its place, or null when there is nothing older. */
export type Cursor = ReadonlyMap<number, string | null>

/** @param text as the contract has it */
export function parseCursor(text: string | undefined): Cursor {
  const parts = text === undefined ? [] : text.split(',')
  return new Map(
    parts.map((part) => {
      const [edge, ...place] = part.split('-')
      return [Number(edge), place[0] === 'end' ? null : place.join('-')]
    }),
  )
}

export function renderCursor(cursor: Cursor): string {
  return [...cursor].map(([edge, place]) => `${edge}-${place ?? 'end'}`).join(',')
}
