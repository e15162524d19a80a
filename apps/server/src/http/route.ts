import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { TAKE_BACK, TAKE_BACK_HEADER } from '@postern/contract/history/take-back'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type * as z from 'zod/mini'
import type { Actor } from '../changes/actor.ts'
import type { Context } from '../context.ts'
import { requireRecent } from '../core/accounts/confirmations.ts'
import { UnauthenticatedError, ValidationError } from '../core/errors.ts'
import { createPatch, type Patch } from '../core/patch.ts'
import { contextFor, refuseBeyondReach, withoutHiddenNames } from './access.ts'
import { actorOf, authenticate, type Caller, type CallerOf } from './auth.ts'
import { compressAnswer, isCompressible } from './compression.ts'
import { bodyOf, parseBody, parseParams, parseQuery } from './parse.ts'
import { rightsOf } from './rights.ts'

declare module 'fastify' {
  interface FastifyInstance {
    context: Context
  }
}

/** An edge sends the hash of each certificate that it holds: some fifty bytes for each of many thousands. */
const EDGE_BODY_BYTES = 4 * 1024 * 1024

/** For so long a caller is the one that was admitted before the body. */
const ADMITTED_MS = 100

type Parsed<E, K extends string> = E extends { readonly [key in K]: z.ZodMiniType<infer O> } ? O : undefined

/** One request to an endpoint, authenticated and parsed. */
export interface Call<E extends Endpoint> {
  context: Context
  params: Parsed<E, 'params'>
  query: Parsed<E, 'query'>
  body: Parsed<E, 'body'>
  caller: CallerOf<E>
  /** The caller in the history. */
  actor: Actor
  request: FastifyRequest
  reply: FastifyReply
}

/** A request with a form, which creates a record or changes some of its fields. */
export type FormCall<E extends Endpoint> = Omit<Call<E>, 'body'> & { patch: Patch<Parsed<E, 'body'>> }

/** Endpoints without an answer in the contract (streams, files) send through `reply` themselves. */
type Answer<E extends Endpoint> = E extends { readonly answer: z.ZodMiniType<infer O> }
  ? O | (E extends { readonly answerToNode: z.ZodMiniType<infer N> } ? N : never)
  : unknown

/** Declares an endpoint of the contract: its callers, its input and its answer. */
export function route<const E extends Endpoint>(
  app: FastifyInstance,
  endpoint: E,
  handle: (call: Call<E>) => Answer<E> | Promise<Answer<E>>,
): void {
  register(app, endpoint, (call) => handle({ ...call, body: parsed(parseBody(endpoint, call.request)) }))
}

/** The same for an endpoint whose body is a form, which the core parses, so that all errors come at once. */
export function formRoute<const E extends Endpoint & { method: 'POST' | 'PATCH'; body: z.ZodMiniObject }>(
  app: FastifyInstance,
  endpoint: E,
  handle: (call: FormCall<E>) => Answer<E> | Promise<Answer<E>>,
): void {
  register(app, endpoint, (call) => {
    const { updated_at: seen, ...fields } = bodyOf(call.request)
    const patch =
      endpoint.method === 'PATCH'
        ? createPatch(endpoint.body, fields, seen)
        : createPatch(endpoint.body, bodyOf(call.request))
    return handle({ ...call, patch: parsed(patch) })
  })
}

function register<E extends Endpoint>(
  app: FastifyInstance,
  endpoint: E,
  handle: (call: Omit<Call<E>, 'body'>) => unknown,
): void {
  const callers = new WeakMap<FastifyRequest, { caller: Caller; at: number }>()
  const admit = async (request: FastifyRequest) => {
    const { context } = request.server
    const caller = await authenticate(context, request, endpoint)
    await refuseBeyondReach(context, caller, endpoint, request.params as Record<string, string>)
    if (endpoint.isWayIn && caller.kind === 'session') await requireRecent(context, caller.sessionId)
    callers.set(request, { caller, at: performance.now() })
  }
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    ...(endpoint.auth === 'edge' && { bodyLimit: EDGE_BODY_BYTES }),
    ...(isCompressible(endpoint) && { onSend: compressAnswer }),
    // Before the body, so that no byte of a stranger's is read.
    onRequest: admit,
    handler: async (request, reply) => {
      const admitted = callers.get(request)
      // Who sends a body slowly may have lost every right meanwhile.
      if (admitted && performance.now() - admitted.at > ADMITTED_MS) await admit(request)
      const call = parseCall(endpoint, request, reply, callers.get(request)?.caller)
      reply.code(endpoint.status ?? 200)
      try {
        return await handle(call)
      } catch (error) {
        throw await withoutHiddenNames(request.server.context, call.context.access, error, request.body)
      }
    },
  })
}

/** @param caller authenticated for this endpoint before anything else of the request was read */
export function parseCall<E extends Endpoint>(
  endpoint: E,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller | undefined,
): Omit<Call<E>, 'body'> {
  if (!caller) throw new UnauthenticatedError()
  return {
    context: contextFor(request.server.context, caller, endpoint),
    caller: parsed(caller),
    actor: {
      ...actorOf(caller, request),
      ...rightsOf(request.server.context, caller, endpoint),
      ...readTakeBack(caller, request),
    },
    params: parsed(parseParams(endpoint, request)),
    query: parsed(parseQuery(endpoint, request)),
    request,
    reply,
  }
}

/** What a person wants to be taken back unless it is kept. @throws ValidationError */
function readTakeBack({ kind }: Caller, { headers }: FastifyRequest): Pick<Actor, 'takeBackIn'> {
  const text = headers[TAKE_BACK_HEADER]
  if (text === undefined || (kind !== 'session' && kind !== 'program')) return {}
  const seconds = typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : 0
  const { least, most } = TAKE_BACK
  if (seconds >= least && seconds <= most) return { takeBackIn: seconds * 1000 }
  const message = `must be a number of seconds from ${least} to ${most}`
  throw new ValidationError([{ field: TAKE_BACK_HEADER, message }])
}

/** The endpoint's own schema, or its authentication, has just made the value; only its type was lost. */
function parsed<T>(value: unknown): T {
  return value as T
}
