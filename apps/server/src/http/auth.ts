import type { AuthKind } from '@postern/contract/endpoints'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { findEdgeByToken } from '../core/edge-tokens.ts'
import { ForbiddenError, UnauthenticatedError } from '../core/errors.ts'
import { findNodeByToken, isNodeToken } from '../core/node-tokens.ts'
import { findSession } from '../core/sessions.ts'
import type { Caller, EdgeCaller, NodeCaller, SessionCaller } from './callers.ts'

/** @throws UnauthenticatedError for no or an unknown credential, ForbiddenError for one of another kind. */
export async function authenticate(
  context: Context,
  request: FastifyRequest,
  kind: AuthKind,
): Promise<Caller> {
  switch (kind) {
    case 'none':
      return { kind: 'none' }
    case 'session':
      return await getSession(context, bearerOf(request) ?? cookieOf(request))
    case 'stream':
      return await getSession(context, bearerOf(request) ?? queryTokenOf(request) ?? cookieOf(request))
    case 'node':
      return await getNodeCaller(context, bearerOf(request))
    case 'edge':
      return await getEdgeCaller(context, bearerOf(request))
  }
}

async function getSession(context: Context, token: string | undefined): Promise<SessionCaller> {
  const session = token === undefined ? undefined : await findSession(context, token)
  if (session) return { kind: 'session', ...session }
  if (token !== undefined && isNodeToken(token)) throw new ForbiddenError('A node cannot do this', 'kind')
  throw new UnauthenticatedError()
}

async function getNodeCaller(context: Context, token: string | undefined): Promise<NodeCaller> {
  if (token === undefined) throw new UnauthenticatedError('An access token of a node is needed')
  const found = await findNodeByToken(context, token)
  if (found) return { kind: 'node', ...found }
  if (await findSession(context, token)) throw new ForbiddenError('Only a node can do this', 'kind')
  throw new UnauthenticatedError('This access token is not known')
}

async function getEdgeCaller(context: Context, token: string | undefined): Promise<EdgeCaller> {
  const edge = token === undefined ? undefined : await findEdgeByToken(context, token)
  if (!edge) throw new UnauthenticatedError('The token of an edge is needed')
  return { kind: 'edge', edgeId: edge.id }
}

function bearerOf(request: FastifyRequest): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,512})$/i.exec(request.headers.authorization ?? '')?.[1]
}

/**
 * Published sub-domains are same-site, so a cookie proves nothing about a request that changes something, nor
 * about one that another site's page makes.
 */
function cookieOf(request: FastifyRequest): string | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
  const site = request.headers['sec-fetch-site'] ?? 'same-origin'
  if (site !== 'same-origin' && site !== 'none') return undefined
  return /(?:^|;\s*)token=([^;\s]{1,512})/.exec(request.headers.cookie ?? '')?.[1]
}

function queryTokenOf(request: FastifyRequest): string | undefined {
  const { query } = request
  if (typeof query !== 'object' || query === null || !('token' in query)) return undefined
  return typeof query.token === 'string' ? query.token : undefined
}
