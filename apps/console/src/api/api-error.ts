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

/** What a person reads when something failed. */
export function errorMessage(error: unknown): string {
  return error instanceof ApiError ? error.message : 'Something went wrong in the console. Reload the page.'
}
