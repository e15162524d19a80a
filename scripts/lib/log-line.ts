import { printable } from './printable.ts'

const WARN = 40
const LEVELS: Record<number, string> = { 40: 'warning', 50: 'error', 60: 'error' }

/**
 * A line of a program's log as a person on a terminal wants it: warnings and errors in words, the rest not at
 * all, and what is no log record as it is.
 */
export function formatLogLine(name: string, line: string): string | undefined {
  const record = parseRecord(line)
  if (!record) return line === '' ? undefined : printable(line)
  if (record.level < WARN) return undefined
  const reason = record.err?.message ?? record.err?.code
  const words = [record.msg, reason !== record.msg ? reason : undefined].filter(Boolean).join(': ')
  return printable(`${name}: ${LEVELS[record.level] ?? 'warning'}: ${words}`)
}

interface LogRecord {
  level: number
  msg?: string
  err?: { message?: string; code?: string }
}

function parseRecord(line: string): LogRecord | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    const isRecord =
      typeof value === 'object' && value !== null && 'level' in value && typeof value.level === 'number'
    // Our own logger wrote it; its other fields are only ever shown.
    return isRecord ? (value as LogRecord) : undefined
  } catch {
    // A line that only looks like a record is shown as it is.
    return undefined
  }
}
