import type { FieldError } from '@postern/contract/errors'

interface Details {
  /** 0 when no answer came. */
  status: number
  code?: string | undefined
  errors?: FieldError[] | undefined
  requestId?: string | undefined
  cause?: unknown
}

/** An answer that is not a success, or none at all; `message` is for people. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly errors: FieldError[]
  readonly requestId: string | undefined

  constructor(message: string, details: Details) {
    super(message, { cause: details.cause })
    this.name = 'ApiError'
    this.code = details.code ?? 'api'
    this.status = details.status
    this.errors = details.errors ?? []
    this.requestId = details.requestId
  }
}

/** The parts of a failure that a person reads, or quotes to the people who run the server. */
export interface Failure {
  message: string
  /** 0 when no answer came. */
  status: number
  requestId?: string | undefined
}

export function failureOf(error: unknown): Failure {
  const { status, requestId } = error instanceof ApiError ? error : { status: 0, requestId: undefined }
  return { message: errorMessage(error), status, requestId }
}

/** A request that the server could not read: the client has already shown it in a toast. */
export function isTold(error: unknown): boolean {
  return error instanceof ApiError && error.status === 400
}

/** The message for a person when something failed. */
export function errorMessage(error: unknown): string {
  return error instanceof ApiError ? error.message : 'Something went wrong in the console. Reload the page.'
}
