import type { LogLine } from '@postern/contract/edge'
import { LIMITS } from '@postern/contract/limits'
import { advance, type LogCursor } from './cursor.ts'

/** A line as it is kept. `number` counts the service's lines of one epoch. */
export interface KeptLine {
  epoch: string
  seq: number
  number: number
  text: string
}

/** The last lines of one service, in the order in which they came. */
export interface LogRing {
  lines: KeptLine[]
  /** The last sequence number of each epoch, so that what an edge sends again is not kept again. */
  seen: LogCursor
  /** The number of the last line, and the epoch that counted it. */
  last: { epoch: string; number: number } | undefined
}

export function createLogRing(): LogRing {
  return { lines: [], seen: new Map(), last: undefined }
}

/** Keeps a line and tells a gap before it. @returns what is new: nothing, the line, or a note and the line. */
export function keepLine(
  ring: LogRing,
  epoch: string,
  line: LogLine,
  capacity: number,
  now: Date,
): KeptLine[] {
  if (line.seq <= (ring.seen.get(epoch) ?? 0)) return []
  advance(ring.seen, epoch, line.seq)
  const { number } = line
  const missing = ring.last?.epoch === epoch ? number - ring.last.number - 1 : 0
  ring.last = { epoch, number }
  const kept: KeptLine = { epoch, seq: line.seq, number, text: cleanLine(line.text) }
  const fresh = missing > 0 ? [{ ...kept, text: missingNote(missing, now) }, kept] : [kept]
  ring.lines.push(...fresh)
  if (ring.lines.length > capacity) ring.lines.splice(0, ring.lines.length - capacity)
  return fresh
}

function missingNote(count: number, now: Date): string {
  return `[WARN] ${now.toISOString()} ${count} ${count === 1 ? 'line is' : 'lines are'} missing`
}

/** Control and bidirectional marks of a hostile request may not reach a terminal or a page. */
function cleanLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '').slice(0, LIMITS.logLineLength)
}
