import { LIMITS } from '@postern/contract/limits'

/** The level of a line's marker; `other` for lines without one. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'other'

/** The levels a person can switch off; lines without a marker always show. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const satisfies readonly LogLevel[]
export type FilterLevel = (typeof LOG_LEVELS)[number]

export interface LogLine {
  /** Grows by one with each line while the page is open; the key of the row. */
  key: number
  level: LogLevel
  /** The parts of a line that begins with a marker, as they are spelled; empty where absent. */
  marker: string
  /** `2026-11-21` and `10:04:15.123`, both in UTC. */
  day: string
  clock: string
  /** In a line about an HTTP request: the visitor's address, `"GET /path"` and the status. */
  from: string
  asked: string
  status: string
  rest: string
  /** The original line, for copying and filtering. */
  text: string
}

export const MARKER = /\[(ERROR|WARN|WARNING|INFO|DEBUG)\]/
const LEVELS: Readonly<Record<string, LogLevel>> = {
  ERROR: 'error',
  WARN: 'warn',
  WARNING: 'warn',
  INFO: 'info',
  DEBUG: 'debug',
}
const PARTS = /^(\[[A-Z]+\]) (?:(\d{4}-\d\d-\d\d)T([\d:.]+)Z )?(.*)$/s
const REQUEST = /^(\S+) ("[^"]*") (\d{3}|-) (.*)$/s

/** The first marker of a line decides, so that a marker inside a requested path changes nothing. */
export function parseLogLine(text: string, key: number): LogLine {
  const level = LEVELS[MARKER.exec(text)?.[1] ?? ''] ?? 'other'
  const [, marker = '', day = '', clock = '', said = text] = (level !== 'other' && PARTS.exec(text)) || []
  const [, from = '', asked = '', status = '', rest = said] = (clock !== '' && REQUEST.exec(said)) || []
  return { key, level, marker, day, clock, from, asked, status, rest, text }
}

/** The newest lines, at most `LIMITS.logLines`, and the key of the next one. */
export interface LogBuffer {
  lines: readonly LogLine[]
  next: number
}

export const EMPTY_BUFFER: LogBuffer = { lines: [], next: 0 }

/** Adds lines at the end and drops the oldest beyond the limit. */
export function appendLines(buffer: LogBuffer, texts: readonly string[]): LogBuffer {
  if (texts.length === 0) return buffer
  const kept = texts.slice(-LIMITS.logLines)
  const first = buffer.next + texts.length - kept.length
  const added = kept.map((text, index) => parseLogLine(text, first + index))
  return {
    lines: [...buffer.lines, ...added].slice(-LIMITS.logLines),
    next: buffer.next + texts.length,
  }
}

/** Removes all lines; keys continue, so that no row is mistaken for an older one. */
export function clearLines(buffer: LogBuffer): LogBuffer {
  return { lines: [], next: buffer.next }
}

export interface LogFilter {
  /** Levels that are switched off. */
  hidden: ReadonlySet<FilterLevel>
  text: string
}

export function filterLines(lines: readonly LogLine[], { hidden, text }: LogFilter): readonly LogLine[] {
  const wanted = text.toLowerCase()
  if (hidden.size === 0 && wanted === '') return lines
  return lines.filter(
    (line) => (line.level === 'other' || !hidden.has(line.level)) && line.text.toLowerCase().includes(wanted),
  )
}

/** How many lines came since an earlier state of the buffer: all of them, or the kept ones that a filter shows. */
export function countNewer(now: LogBuffer, then: LogBuffer, filter: LogFilter): number {
  if (filter.hidden.size === 0 && filter.text === '') return now.next - then.next
  const newer = now.lines.filter(({ key }) => key >= then.next)
  return filterLines(newer, filter).length
}

/** The lines before which a day begins, by their keys. */
export function findDays(lines: readonly LogLine[]): ReadonlySet<number> {
  let last = ''
  const starts = new Set<number>()
  for (const { key, day } of lines) {
    if (day !== '' && day !== last) starts.add(key)
    last = day || last
  }
  return starts
}

export function countLevels(lines: readonly LogLine[]): Record<FilterLevel, number> {
  const counts = { error: 0, warn: 0, info: 0, debug: 0 }
  for (const { level } of lines) if (level !== 'other') counts[level]++
  return counts
}

/** The set without the level, or with it if it was absent. */
export function toggleLevel(hidden: ReadonlySet<FilterLevel>, level: FilterLevel): ReadonlySet<FilterLevel> {
  return new Set(LOG_LEVELS.filter((one) => (one === level ? !hidden.has(one) : hidden.has(one))))
}
