import type { FastifyRequest } from 'fastify'
import { ForbiddenError } from '../core/errors.ts'

/** Any port: it may have been forwarded from another. */
const LOOPBACK_NAME = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i

/**
 * A page of any site can let its own name point to 127.0.0.1, and would then read this console as its own origin.
 * @throws ForbiddenError
 */
export function refuseForeignName(request: FastifyRequest): void {
  if (LOOPBACK_NAME.test(request.host)) return
  throw new ForbiddenError(
    'This console answers as 127.0.0.1 and localhost only. Open it by one of these names.',
    'host',
  )
}
