import type { ErrorBody, ErrorCode, FieldError } from '@postern/contract/errors'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  ConflictError,
  ForbiddenError,
  NotFoundError,
  TooManyError,
  UnauthenticatedError,
  UnavailableError,
  ValidationError,
} from '../core/errors.ts'

interface Answer {
  status: number
  body: ErrorBody
}

/** Every error leaves the server here; what is not meant for the caller becomes a request id. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, body } = describe(error)
  // A 503 is said on purpose, and whoever knocks too often shall not fill the log with traces.
  if (status === 500) request.log.error({ err: error }, 'request failed')
  if (error instanceof TooManyError) reply.header('retry-after', String(error.retryAfter))
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  reply.code(status).send({ ...body, requestId: request.id })
}

/**
 * An address that cannot be decoded. Fastify's own words would repeat it, with the token in it, and none of our hooks
 * runs: a socket that asked for an upgrade would stay open for ever, because nobody reads from it.
 */
export function answerBadAddress(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ 'content-security-policy': "default-src 'none'", 'x-content-type-options': 'nosniff' })
  reply.header('connection', 'close')
  reply.raw.once('finish', () => request.raw.socket.destroySoon())
  answerError(error, request, reply)
}

function describe(error: unknown): Answer {
  if (error instanceof NotFoundError) return answer(404, error)
  if (error instanceof ValidationError) return answer(422, error, error.errors)
  if (error instanceof ConflictError) return answer(409, error, error.errors)
  if (error instanceof UnauthenticatedError) return answer(401, error)
  if (error instanceof ForbiddenError) return answer(403, error)
  if (error instanceof TooManyError) return answer(429, error)
  if (error instanceof UnavailableError) return answer(503, error)
  return describeUnreadable(error)
}

function answer(
  status: number,
  error: { message: string; code: ErrorCode },
  errors?: readonly FieldError[],
): Answer {
  return {
    status,
    body: { message: error.message, code: error.code, ...(errors && { errors: [...errors] }) },
  }
}

/** Fastify's own refusals of a request that cannot be read, in our words. */
function describeUnreadable(error: unknown): Answer {
  const status = isFastifyError(error) ? (error.statusCode ?? 500) : 500
  if (status === 413) return { status, body: { message: 'The request is too large', code: 'too_large' } }
  if (status === 415) return { status, body: { message: 'The request must be JSON', code: 'not_json' } }
  if (status >= 400 && status < 500)
    return { status: 400, body: { message: 'The request cannot be read', code: 'unreadable' } }
  return { status: 500, body: { message: 'Something went wrong on the server', code: 'internal' } }
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'statusCode' in error
}
