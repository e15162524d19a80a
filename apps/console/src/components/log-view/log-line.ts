/** What a line's marker says; `other` for lines without one. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'other'

/** The levels a person can switch off; lines without a marker always show. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const satisfies readonly LogLevel[]
export type FilterLevel = (typeof LOG_LEVELS)[number]

export interface LogLine {
  /** Grows by one for each line of this page's life; the key of the row. */
  key: number
  level: LogLevel
  /** The parts of a line that begins with a marker: `[INFO]`, the time and the rest; empty where absent. */
  marker: string
  time: string
  rest: string
  /** The line as it came, for copying and filtering. */
  text: string
}

const MARKER = /\[(ERROR|WARN|WARNING|INFO|DEBUG)\]/
const LEVELS: Readonly<Record<string, LogLevel>> = {
  ERROR: 'error',
  WARN: 'warn',
  WARNING: 'warn',
  INFO: 'info',
  DEBUG: 'debug',
}
const PARTS = /^(\[[A-Z]+\]) (?:(\d{4}-\d\d-\d\dT[\d:.]+Z) )?(.*)$/s

/** The first marker of a line decides, so that a marker inside a requested path changes nothing. */
export function parseLogLine(text: string, key: number): LogLine {
  const level = LEVELS[MARKER.exec(text)?.[1] ?? ''] ?? 'other'
  const [, marker = '', time = '', rest = text] = (level !== 'other' && PARTS.exec(text)) || []
  return { key, level, marker, time, rest, text }
}

/** The text cut at each occurrence of `needle`, case ignored; every odd part is a match. */
export function splitMatches(text: string, needle: string): string[] {
  if (needle === '') return [text]
  const parts: string[] = []
  const lower = text.toLowerCase()
  // Some letters change length when lowered; then positions do not fit and nothing is marked.
  if (lower.length !== text.length) return [text]
  const wanted = needle.toLowerCase()
  let from = 0
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), text.slice(at, at + wanted.length))
    from = at + wanted.length
  }
  parts.push(text.slice(from))
  return parts
}
