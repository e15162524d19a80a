import type { Failure } from './exit-codes.ts'

/** A failure that the person at the terminal can act on; `message` says what is wrong and what to do. */
export class AgentError extends Error {
  readonly code: Failure
  constructor(code: Failure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** @returns the text of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** @returns the `code` of a system error, or an empty text. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
