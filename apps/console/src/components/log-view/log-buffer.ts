import { LIMITS } from '@postern/contract/limits'
import { type FilterLevel, LOG_LEVELS, type LogLine, parseLogLine } from './log-line.ts'

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

/** Takes the lines away; keys go on, so that no row is mistaken for an older one. */
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
