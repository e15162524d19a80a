/** Where a reader is: the last sequence number it has of each edge's life, by epoch. */
export type LogCursor = Map<string, number>

/** A reader meets more epochs only when edges are started again and again under its eyes. */
const EPOCHS = 8

/** Moves a cursor forward, never back; the epochs not met for longest fall out. */
export function advance(cursor: LogCursor, epoch: string, seq: number): void {
  const newest = Math.max(seq, cursor.get(epoch) ?? 0)
  cursor.delete(epoch)
  cursor.set(epoch, newest)
  const [oldest] = cursor.keys()
  if (cursor.size > EPOCHS && oldest !== undefined) cursor.delete(oldest)
}

/** As the `id` of an SSE message: `<epoch>-<seq>`, one for each edge, separated by commas. */
export function renderCursor(cursor: LogCursor): string {
  return [...cursor].map(([epoch, seq]) => `${epoch}-${seq}`).join(',')
}

/** Reads a `Last-Event-ID`; what a stranger wrote there counts as nothing. */
export function readCursor(text: string | undefined): LogCursor {
  const cursor: LogCursor = new Map()
  if (text === undefined || text.length > 500) return cursor
  for (const part of text.split(',').slice(0, EPOCHS)) {
    const match = /^([a-z0-9]{1,32})-(\d{1,15})$/.exec(part)
    if (match?.[1] !== undefined) advance(cursor, match[1], Number(match[2]))
  }
  return cursor
}
