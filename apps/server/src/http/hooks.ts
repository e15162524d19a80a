import type { RequestListener, Server } from 'node:http'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { isReservedPath } from '@postern/contract/reserved-paths'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ForbiddenError, NotFoundError } from '../core/errors.ts'
import { CONTENT_POLICY } from './content-policy.ts'
import type { EdgeDoor } from './edge-door.ts'

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])
const SOCKETS: ReadonlySet<string> = new Set([endpoints.agentSocket.path, endpoints.edgeSocket.path])

export interface AppOptions {
  /**
   * True only behind HAProxy, which uses the unix socket, or the port for edges with an edge's certificate: exactly one
   * hop is trusted.
   */
  trustForwarded: boolean
  /** At the port for edges. */
  door?: EdgeDoor
  /** Makes the server beneath the application, where it is not a plain one. */
  serverFactory?: (handle: RequestListener) => Server
}

/** Hooks for every request. */
export function addHooks(app: FastifyInstance, { trustForwarded }: AppOptions): void {
  app.addHook('onRoute', ({ url }) => refuseUnreserved(url))
  app.addHook('onRequest', async (request, reply) => {
    reply.header('content-security-policy', CONTENT_POLICY)
    if (request.url.startsWith('/api/')) reply.header('cache-control', 'no-store')
    if (!trustForwarded) refuseForeignName(request)
    if (!READS.has(request.method)) refuseForeignOrigin(request)
    // The library would upgrade it for anybody, and accept a full-size frame before it closes the connection.
    if (request.ws && !SOCKETS.has(request.routeOptions.url ?? '')) throw new NotFoundError('Page')
    if (trustForwarded && request.protocol === 'https')
      reply.header('strict-transport-security', 'max-age=15552000')
  })
  app.addHook('onResponse', async (request, reply) => {
    // The pattern of the route, never the address itself, which for streams contains a token.
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    )
  })
}

/** A service could have the path, and would get requests meant for the server. */
function refuseUnreserved(url: string): void {
  if (!isReservedPath(url))
    throw new Error(`${url} is not reserved: add it to packages/contract/src/reserved-paths.ts`)
}

/** Another site's page may not change anything here, whatever credentials the browser adds. */
function refuseForeignOrigin(request: FastifyRequest): void {
  const { origin } = request.headers
  if (origin === undefined) return
  if (URL.parse(origin)?.host !== request.host.toLowerCase())
    throw new ForbiddenError('This request comes from another site', 'origin')
}

/** Any port, because it may have been forwarded from another. */
const LOOPBACK_NAME = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i

/**
 * Any site can make its own name point to 127.0.0.1, and its pages would then read this console as their own origin.
 * @throws ForbiddenError
 */
function refuseForeignName(request: FastifyRequest): void {
  if (LOOPBACK_NAME.test(request.host)) return
  throw new ForbiddenError(
    'This console answers as 127.0.0.1 and localhost only. Open it by one of these names.',
    'host',
  )
}
