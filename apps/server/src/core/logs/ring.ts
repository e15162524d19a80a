import type { LogLine } from '@postern/contract/edge/edge-messages'
import { LIMITS } from '@postern/contract/limits'

/** A reader's position: the last sequence number from each run of an edge, by epoch. */
export type LogCursor = Map<string, number>

/** A reader needs more epochs only when many edges restart again and again while it reads. */
const EPOCHS = 2 * LIMITS.edges
const CURSOR_LENGTH = 50 * EPOCHS

/** Moves a cursor forward, never back; the epochs unused for longest are dropped. */
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

/** Reads a `Last-Event-ID`; a malformed one counts as none. */
export function readCursor(text: string | undefined): LogCursor {
  const cursor: LogCursor = new Map()
  if (text === undefined || text.length > CURSOR_LENGTH) return cursor
  for (const part of text.split(',').slice(0, EPOCHS)) {
    const match = /^([a-z0-9]{1,32})-(\d{1,15})$/.exec(part)
    if (match?.[1] !== undefined) advance(cursor, match[1], Number(match[2]))
  }
  return cursor
}

/** A stored line. `number` counts the service's lines of one epoch, and `arrival` those of all. */
export interface KeptLine {
  epoch: string
  seq: number
  number: number
  arrival: number
  text: string
}

/** The last lines of one service, in order of arrival. */
export interface LogRing {
  lines: KeptLine[]
  /** The last sequence number of each epoch, so that lines sent again are not stored twice. */
  seen: LogCursor
  /** The number of the last line of each epoch: several edges send lines in turns. */
  last: LogCursor
}

export function createLogRing(): LogRing {
  return { lines: [], seen: new Map(), last: new Map() }
}

/**
 * Stores a line, after a note about a gap before it.
 * @returns what is new: nothing, the line, or a note and the line
 */
export function keepLine(
  ring: LogRing,
  epoch: string,
  line: LogLine & { arrival: number },
  capacity: number,
  now: Date,
): KeptLine[] {
  if (line.seq <= (ring.seen.get(epoch) ?? 0)) return []
  advance(ring.seen, epoch, line.seq)
  const { seq, number, arrival } = line
  const before = ring.last.get(epoch)
  const missing = before === undefined ? 0 : number - before - 1
  advance(ring.last, epoch, number)
  const kept: KeptLine = { epoch, seq, number, arrival, text: cleanLine(line.text) }
  const fresh = missing > 0 ? [{ ...kept, text: missingNote(missing, now) }, kept] : [kept]
  ring.lines.push(...fresh)
  if (ring.lines.length > capacity) ring.lines.splice(0, ring.lines.length - capacity)
  return fresh
}

function missingNote(count: number, now: Date): string {
  return `[WARN] ${now.toISOString()} ${count} ${count === 1 ? 'line is' : 'lines are'} missing`
}

/** Control characters and bidirectional marks of a hostile request must not reach a terminal or a page. */
function cleanLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '').slice(0, LIMITS.logLineLength)
}
