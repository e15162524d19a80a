import type { ErrorCode, FieldError } from '@postern/contract/errors'

/** A refused request: a message for people, a code for programs, and messages under the fields of a form. */
export class RequestError extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[] | undefined
  constructor(message: string, code: ErrorCode, errors?: readonly FieldError[]) {
    super(message)
    this.code = code
    this.errors = errors
  }

  /** The same error with other words. */
  reworded(reword: (text: string) => string): RequestError {
    const errors = this.errors?.map(({ field, message }) => ({ field, message: reword(message) }))
    return Object.assign(Object.create(this) as RequestError, { message: reword(this.message), errors })
  }
}

/** `noun` like `Node`. */
export class NotFoundError extends RequestError {
  constructor(noun: string) {
    super(`${noun} not found`, 'not_found')
  }
}

/** The request conflicts with what already exists. */
export class ConflictError extends RequestError {
  constructor(message: string, errors: readonly FieldError[] = [], code: ErrorCode = 'conflict') {
    super(message, code, errors)
  }
}

/** Some fields cannot be accepted. */
export class ValidationError extends RequestError {
  constructor(errors: readonly FieldError[]) {
    super('Validation failed', 'validation', errors)
  }
}

/** The caller is not known. */
export class UnauthenticatedError extends RequestError {
  constructor(message = 'Sign in first', code: ErrorCode = 'unauthenticated') {
    super(message, code)
  }
}

/** The caller is known, but may not do this. */
export class ForbiddenError extends RequestError {}

/** Too many requests; `retryAfter` in seconds. */
export class TooManyError extends RequestError {
  readonly retryAfter: number
  constructor(retryAfter: number, message = 'Too many attempts, try again later') {
    super(message, 'too_many')
    this.retryAfter = retryAfter
  }
}

/** Cannot be served now, through no fault of the caller. */
export class UnavailableError extends RequestError {
  constructor(message: string) {
    super(message, 'unavailable')
  }
}

const SHOWN = 5

/** A name in a message. Its end is the next mark, whatever the name has. */
export const quoted = (name: string) => `“${name.replaceAll(/[“”]/g, '"')}”`

/** `“web”, “api” and 3 more`: names as a person reads them in a message. */
export function quoteNames(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).map(quoted)
  const more = names.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

/** The problems of a form, by field: `invalid` values, and values `taken` by something that already exists. */
export interface Findings {
  invalid: FieldError[]
  taken: FieldError[]
  /** A sentence about what is taken; without it, the fields' messages say so. */
  message?: string
}

/** @throws ValidationError, or ConflictError when everything else is right; both with all problems */
export function refuseFindings(...all: Findings[]): void {
  const invalid = all.flatMap((found) => found.invalid)
  const taken = all.flatMap((found) => found.taken)
  const wrong = new Set(invalid.map(({ field }) => field))
  if (invalid.length > 0)
    throw new ValidationError([...invalid, ...taken.filter(({ field }) => !wrong.has(field))])
  const words = all.flatMap((found) =>
    found.taken.length > 0 && found.message ? found.message : found.taken.map(({ message }) => message),
  )
  if (taken.length > 0) throw new ConflictError(words.join('. '), taken)
}
