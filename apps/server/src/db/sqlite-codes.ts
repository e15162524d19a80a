/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
export const SQLITE = {
  busy: 5,
  readOnly: 8,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const

/** @returns the primary result code of an error that SQLite gave, or undefined */
export function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined
  // The upper bits give the exact failure.
  return error.errcode & 0xff
}
