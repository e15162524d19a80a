import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { toFieldErrors } from '@postern/contract/errors'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod/mini'
import { NotFoundError, ValidationError } from '../core/errors.ts'

const nothing = z.strictObject({})

/** A malformed id does not exist. */
export function parseParams(endpoint: Endpoint, request: FastifyRequest): unknown {
  if (!endpoint.params) return undefined
  const result = endpoint.params.safeParse(request.params)
  if (result.success) return result.data
  throw new NotFoundError(result.error.issues[0]?.path[0] === 'nodeId' ? 'Node' : endpoint.noun)
}

/** Unknown keys are refused for people's clients; probes and machines may append anything. */
export function parseQuery(endpoint: Endpoint, request: FastifyRequest): unknown {
  const schema = endpoint.query ?? (endpoint.roles === undefined ? undefined : nothing)
  return schema === undefined ? undefined : parseWith(schema, request.query)
}

export function parseBody(endpoint: Endpoint, request: FastifyRequest): unknown {
  return endpoint.body === undefined ? undefined : parseWith(endpoint.body, bodyOf(request))
}

function parseWith(schema: z.ZodMiniType, value: unknown): unknown {
  const result = schema.safeParse(value)
  if (!result.success) throw new ValidationError(toFieldErrors(result.error.issues, value))
  return result.data
}

/**
 * The body without its `id`, which the path already names.
 * @throws ValidationError when it is no object, or its `id` differs from the path's
 */
export function bodyOf(request: FastifyRequest): Record<string, unknown> {
  const body: unknown = request.body ?? {}
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ValidationError([{ field: '', message: 'must be an object' }])
  const fields: Record<string, unknown> = { ...body }
  const own = idOf(request.params)
  if (own === undefined || !('id' in fields)) return fields
  const { id, ...rest } = fields
  // An object may have no text at all.
  if ((typeof id !== 'string' && typeof id !== 'number') || String(id) !== own)
    throw new ValidationError([{ field: 'id', message: 'cannot be changed' }])
  return rest
}

function idOf(params: unknown): string | undefined {
  if (typeof params !== 'object' || params === null || !('id' in params)) return undefined
  return String(params.id)
}
