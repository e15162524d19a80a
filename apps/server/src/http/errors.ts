import type { ErrorBody } from '@postern/contract/errors'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  ConflictError,
  ForbiddenError,
  NotFoundError,
  RequestError,
  TooManyError,
  UnauthenticatedError,
  UnavailableError,
  ValidationError,
} from '../core/errors.ts'
import { SQLITE, sqliteCodeOf } from '../db/sqlite-codes.ts'

interface Answer {
  status: number
  body: ErrorBody
}

/** Turns every error into an answer; details that are not for the caller become a request id. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, body } = describe(error)
  // A 503 is deliberate, and many of them must not fill the log with traces.
  if (status === 500) request.log.error({ err: error }, 'request failed')
  if (status === 507) request.log.error('the disk is full')
  if (error instanceof TooManyError) reply.header('retry-after', String(error.retryAfter))
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  reply.code(status).send({ ...body, requestId: request.id })
}

/**
 * An address that cannot be decoded. Fastify's own message would repeat it, including the token. None of our hooks
 * runs, so a socket that asked for an upgrade would stay open forever, because nothing reads from it.
 */
export function answerBadAddress(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ 'content-security-policy': "default-src 'none'", 'x-content-type-options': 'nosniff' })
  reply.header('connection', 'close')
  reply.raw.once('finish', () => request.raw.socket.destroySoon())
  answerError(error, request, reply)
}

const DISK_FULL: Answer = {
  status: 507,
  body: { message: 'The disk of the server is full. Free space on it, then try again', code: 'unavailable' },
}
const DATABASE_BUSY: Answer = {
  status: 503,
  body: {
    message: 'Another program keeps the database from being changed. End it, or try again later',
    code: 'unavailable',
  },
}

function describe(error: unknown): Answer {
  const failure = sqliteCodeOf(error)
  if (failure === SQLITE.full) return DISK_FULL
  if (failure === SQLITE.busy) return DATABASE_BUSY
  const status = STATUS.find(([kind]) => error instanceof kind)?.[1]
  if (status === undefined || !(error instanceof RequestError)) return describeUnreadable(error)
  const { message, code, errors } = error
  return { status, body: { message, code, ...(errors && { errors: [...errors] }) } }
}

const STATUS = [
  [UnauthenticatedError, 401],
  [ForbiddenError, 403],
  [NotFoundError, 404],
  [ConflictError, 409],
  [ValidationError, 422],
  [TooManyError, 429],
  [UnavailableError, 503],
] as const

/** Our messages for Fastify's own refusals of malformed requests. */
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
