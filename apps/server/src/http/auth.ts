import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { SESSION_KEY_HEADER } from '@postern/contract/sign-in/auth'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../changes/actor.ts'
import type { Context } from '../context.ts'
import { PERSON_ONLY } from '../core/access/access.ts'
import { isFactorRequired } from '../core/accounts/factors/factors.ts'
import { findSession, findSessionByTicket, type Session } from '../core/accounts/sessions.ts'
import type { Arrival } from '../core/accounts/sources.ts'
import { findEdgeByToken } from '../core/edges/tokens.ts'
import { ForbiddenError, UnauthenticatedError } from '../core/errors.ts'
import { endReplaced } from '../core/nodes/rotation.ts'
import { findNodeByToken, isNodeToken } from '../core/nodes/token-check.ts'
import { admitProgram, isApiToken, type Program } from '../core/programs/check.ts'
import { admitEdge, isHandedOn } from './edge-door.ts'

export type SessionCaller = { kind: 'session' } & Session
/** An agent, which has access only to its own node. */
export type NodeCaller = { kind: 'node'; tokenId: number; nodeId: number; name: string }
/** A program with an API token of a person. */
export type ProgramCaller = { kind: 'program' } & Program
export type PersonCaller = SessionCaller | ProgramCaller
type EdgeCaller = { kind: 'edge'; edgeId: number }
type NoCaller = { kind: 'none' }
export type Caller = PersonCaller | NodeCaller | EdgeCaller | NoCaller

/** Whether a person's rights decide: they come themselves, or a program does for them. */
export function isPerson(caller: Caller): caller is PersonCaller {
  return caller.kind === 'session' || caller.kind === 'program'
}

interface CallerByAuth {
  none: NoCaller
  session: PersonCaller
  download: PersonCaller
  stream: PersonCaller
  'session or node': PersonCaller | NodeCaller
  node: NodeCaller
  edge: EdgeCaller
}
export type CallerOf<E extends Endpoint> = E extends { readonly isSessionOnly: true }
  ? SessionCaller
  : CallerByAuth[E['auth']]

/**
 * Whether the person must set up a second factor before anything else.
 * @param caller a session, or a program with its person's own role
 */
export function lacksFactor(
  { config }: Pick<Context, 'config'>,
  { role, personRole = role, hasFactor }: Pick<Session, 'role' | 'hasFactor'> & Partial<Program>,
): boolean {
  return !hasFactor && isFactorRequired(config.settings, personRole)
}

/** The caller in the history, with the address that the request came from. */
export function actorOf(caller: Caller, { ip }: Pick<FastifyRequest, 'ip'>): Actor {
  const address = ip || null
  switch (caller.kind) {
    case 'session':
      return { kind: 'person', id: caller.userId, name: caller.username, address }
    case 'program':
      return {
        kind: 'token',
        id: caller.tokenId,
        personId: caller.userId,
        name: `${caller.username} (token ${caller.tokenName})`,
        address,
      }
    case 'node':
      return { kind: 'node', id: caller.nodeId, name: caller.name, address }
    case 'edge':
      return { kind: 'edge', id: caller.edgeId, name: `edge ${caller.edgeId}`, address }
    case 'none':
      return { kind: 'person', id: null, name: 'nobody', address }
  }
}

/**
 * The caller, if allowed to call this endpoint.
 * @throws UnauthenticatedError without a known credential, ForbiddenError for one of another kind or role
 */
export async function authenticate(
  context: Context,
  request: FastifyRequest,
  endpoint: Endpoint,
): Promise<Caller> {
  const caller = await findCaller(context, request, endpoint)
  if (isPerson(caller)) refuseRights(context, caller, endpoint)
  return caller
}

/** @throws ForbiddenError */
export function refuseRights(context: Context, caller: PersonCaller, endpoint: Endpoint): void {
  refuseRole(caller, endpoint)
  if (!endpoint.isOwn && lacksFactor(context, caller))
    throw new ForbiddenError(
      'Set up a second factor first: this installation requires one. Sign in to its console to do so.',
      'second_factor',
    )
}

/**
 * The person stays signed in, because other endpoints are allowed. A role that the contract does not know may do
 * nothing.
 */
function refuseRole({ role, reach }: PersonCaller, { roles, isWhole }: Endpoint): void {
  if (roles !== 'any' && !roles?.includes(role))
    throw new ForbiddenError(
      roles?.includes('editor')
        ? 'Your role does not allow this. Ask an editor or an administrator.'
        : 'Your role does not allow this. Ask an administrator.',
      'role',
    )
  if (isWhole && reach)
    throw new ForbiddenError(
      'This is about the whole installation, and you may only see a part of it. Ask an administrator.',
      'role',
    )
}

async function findCaller(context: Context, request: FastifyRequest, endpoint: Endpoint): Promise<Caller> {
  const bearer = bearerOf(request)
  if (bearer !== undefined && isApiToken(bearer) && endpoint.auth !== 'none' && endpoint.auth !== 'edge')
    return await getProgramCaller(context, request, endpoint, bearer)
  switch (endpoint.auth) {
    case 'none':
      return { kind: 'none' }
    case 'session':
      return await getSession(context, request, bearer ?? cookieOf(request))
    case 'download':
      return await getSession(context, request, tokenOf(request))
    case 'stream': {
      const session = await findSessionByTicket(context, queryTokenOf(request) ?? '', request.ip ?? null)
      return session ? { kind: 'session', ...session } : await getSession(context, request, tokenOf(request))
    }
    case 'session or node':
      return isNodeToken(bearer ?? '')
        ? await getNodeCaller(context, request)
        : await getSession(context, request, bearer ?? cookieOf(request))
    case 'node':
      return await getNodeCaller(context, request)
    case 'edge':
      return await getEdgeCaller(context, request)
  }
}

/** Only from the header: an address is logged and passed on, and a browser sends cookies by itself. */
async function getProgramCaller(
  context: Context,
  request: FastifyRequest,
  { auth, isSessionOnly }: Endpoint,
  token: string,
): Promise<ProgramCaller> {
  const program = await admitProgram(context, token, arrivalOf(request))
  if (auth === 'node') throw new ForbiddenError('Only a node can do this', 'kind')
  if (isSessionOnly) throw new ForbiddenError(PERSON_ONLY, 'kind')
  return { kind: 'program', ...program }
}

async function getSession(
  context: Context,
  request: FastifyRequest,
  token: string | undefined,
): Promise<SessionCaller> {
  const session = await findSessionOf(context, request, token)
  if (session) return { kind: 'session', ...session }
  if (token !== undefined && isNodeToken(token)) throw new ForbiddenError('A node cannot do this', 'kind')
  if (token !== undefined && isApiToken(token))
    throw new UnauthenticatedError('Send an API token in the header Authorization, as a bearer')
  throw new UnauthenticatedError()
}

async function findSessionOf(
  context: Context,
  request: FastifyRequest,
  token: string | undefined,
): Promise<Session | undefined> {
  if (token === undefined) return undefined
  return findSession(context, { token, key: keyOf(request) }, request.ip ?? null)
}

async function getNodeCaller(context: Context, request: FastifyRequest): Promise<NodeCaller> {
  const token = bearerOf(request)
  if (token === undefined) throw new UnauthenticatedError('Send an access token of a node')
  const found = await findNodeByToken(context, token)
  if (found) {
    const { isReplacement, ...token } = found
    const caller: NodeCaller = { kind: 'node', ...token }
    if (isReplacement) await endReplaced(context, token, actorOf(caller, request))
    context.tokenUses.recordUse(token.tokenId, request.ip ?? null)
    return caller
  }
  if (await findSessionOf(context, request, token))
    throw new ForbiddenError('Only a node can do this', 'kind')
  throw new UnauthenticatedError('Unknown access token')
}

/**
 * An edge speaks for itself: over the server's socket with its token, or at the port for edges with its certificate.
 * What HAProxy hands on comes from outside, whatever it has.
 */
async function getEdgeCaller(context: Context, request: FastifyRequest): Promise<EdgeCaller> {
  if (isHandedOn(request)) throw new UnauthenticatedError("Send the edge's token")
  const { door } = request.server
  if (door) return { kind: 'edge', edgeId: (await admitEdge(context, request, door)).id }
  const token = bearerOf(request)
  const edge = token === undefined ? undefined : await findEdgeByToken(context, token)
  if (!edge) throw new UnauthenticatedError("Send the edge's token")
  return { kind: 'edge', edgeId: edge.id }
}

/** How a request came in: by HAProxy the address is the visitor's. */
export function arrivalOf({ ip, server }: Pick<FastifyRequest, 'ip' | 'server'>): Arrival {
  return { address: ip ?? '', isBehindProxy: server.isBehindProxy }
}

/** The second half of a session's credential, if this client has one. */
export function keyOf(request: FastifyRequest): string | undefined {
  const value = request.headers[SESSION_KEY_HEADER]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function tokenOf(request: FastifyRequest): string | undefined {
  return bearerOf(request) ?? queryTokenOf(request) ?? cookieOf(request)
}

function bearerOf(request: FastifyRequest): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,512})$/i.exec(request.headers.authorization ?? '')?.[1]
}

/** A service on a subdomain may also set a `token` for this name, and browsers then send both. */
const SESSION_COOKIE = new RegExp(`(?:^|;\\s*)token=(${TOKEN_PREFIXES.session}[^;\\s]{1,512})`)

/**
 * Published subdomains are same-site, so a cookie alone authorises neither a request that changes something nor one
 * from another site's page.
 */
function cookieOf(request: FastifyRequest): string | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
  const site = request.headers['sec-fetch-site'] ?? 'same-origin'
  if (site !== 'same-origin' && site !== 'none') return undefined
  return SESSION_COOKIE.exec(request.headers.cookie ?? '')?.[1]
}

function queryTokenOf(request: FastifyRequest): string | undefined {
  const { query } = request
  if (typeof query !== 'object' || query === null || !('token' in query)) return undefined
  return typeof query.token === 'string' ? query.token : undefined
}
