import { LIMITS } from '@postern/contract/limits'

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

/** The newest lines, at most `LIMITS.logLines`, and the key of the next one. */
export interface LogBuffer {
  lines: readonly LogLine[]
  next: number
}

export const EMPTY_BUFFER: LogBuffer = { lines: [], next: 0 }

/** Adds lines at the end and drops the oldest beyond the cap. */
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

export function countLevels(lines: readonly LogLine[]): Record<FilterLevel, number> {
  const counts = { error: 0, warn: 0, info: 0, debug: 0 }
  for (const { level } of lines) if (level !== 'other') counts[level]++
  return counts
}

/** The set without the level, or with it when it was not there. */
export function toggleLevel(hidden: ReadonlySet<FilterLevel>, level: FilterLevel): ReadonlySet<FilterLevel> {
  return new Set(LOG_LEVELS.filter((one) => (one === level ? !hidden.has(one) : hidden.has(one))))
}
