import type { ErrorCode, FieldError } from '@postern/contract/errors'

/** There is no such thing; `noun` like `Node`. */
export class NotFoundError extends Error {
  readonly code = 'not_found'
  constructor(noun: string) {
    super(`${noun} not found`)
  }
}

/** The request meets what is already there; `errors` put it under a field of the form. */
export class ConflictError extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[]
  constructor(message: string, errors: readonly FieldError[] = [], code: ErrorCode = 'conflict') {
    super(message)
    this.errors = errors
    this.code = code
  }
}

/** Some fields cannot be accepted. */
export class ValidationError extends Error {
  readonly code = 'validation'
  readonly errors: readonly FieldError[]
  constructor(errors: readonly FieldError[]) {
    super('Validation failed')
    this.errors = errors
  }
}

/** Who asks is not known. */
export class UnauthenticatedError extends Error {
  readonly code: ErrorCode
  constructor(message = 'Sign in first', code: ErrorCode = 'unauthenticated') {
    super(message)
    this.code = code
  }
}

/** Who asks is known and may not. */
export class ForbiddenError extends Error {
  readonly code: ErrorCode
  constructor(message: string, code: ErrorCode) {
    super(message)
    this.code = code
  }
}

/** Too often; `retryAfter` in seconds. */
export class TooManyError extends Error {
  readonly code = 'too_many'
  readonly retryAfter: number
  constructor(retryAfter: number) {
    super('Too many attempts, try again later')
    this.retryAfter = retryAfter
  }
}

/** Cannot be served now, through no fault of the caller. */
export class UnavailableError extends Error {
  readonly code = 'unavailable'
}
