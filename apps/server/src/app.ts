import helmet from '@fastify/helmet'
import websocket from '@fastify/websocket'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Context } from './context.ts'
import { serveConsole } from './http/console.ts'
import { type EdgeDoor, guardDoor } from './http/edge-door.ts'
import { answerBadAddress, answerError } from './http/errors.ts'
import { type AppOptions, addHooks } from './http/hooks.ts'
import type { EventStream } from './http/sse.ts'
import { ROUTES } from './routes/index.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** All open ones, so that stopping ends them. */
    streams: Set<EventStream>
    /** Whether its requests come by HAProxy, from wherever HAProxy says. */
    isBehindProxy: boolean
    /** Only of the application that edges on other machines reach. */
    door: EdgeDoor | null
  }
}

const BODY_BYTES = 256 * 1024
const REQUEST_MS = 30_000
/** The largest frame of an edge has the figures of thousands of nodes. */
const FRAME_BYTES = 4 * 1024 * 1024

/** The HTTP application over a context. It does not listen. */
export async function buildApp(context: Context, options: AppOptions): Promise<FastifyInstance> {
  const { trustForwarded, door, serverFactory } = options
  const app = fastify({
    ...(serverFactory && { serverFactory }),
    // pino's logger fits; without the wider type, the application's type would depend on pino's.
    loggerInstance: context.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    trustProxy: trustForwarded && ((_address, hop) => hop === 0),
    bodyLimit: BODY_BYTES,
    requestTimeout: REQUEST_MS,
    genReqId: () => context.randomBytes(9).toString('base64url'),
    routerOptions: { maxParamLength: 253 },
    forceCloseConnections: true,
    frameworkErrors: answerBadAddress,
  })
  const streams = new Set<EventStream>()
  app.decorate('context', context)
  app.decorate('streams', streams)
  app.decorate('isBehindProxy', trustForwarded)
  app.decorate('door', door ?? null)
  app.addHook('preClose', async () => {
    for (const stream of [...streams]) stream.close()
  })
  app.setErrorHandler(answerError)
  parseEmptyBodies(app)
  await app.register(helmet, HELMET)
  await app.register(websocket, { options: { maxPayload: FRAME_BYTES } })
  if (door) guardDoor(app, door)
  addHooks(app, options)
  for (const register of ROUTES) await register(app)
  await serveConsole(app)
  return app
}

/** An empty body is `{}` everywhere; some clients name the type JSON and send nothing. */
function parseEmptyBodies(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = String(body)
    if (text.trim() === '') done(null, {})
    else parseJson(request, text, done)
  })
}

const HELMET = {
  // Two policies at once, which the library cannot do: see http/hooks.ts.
  contentSecurityPolicy: false,
  frameguard: { action: 'deny' as const },
  // Set by hand, only for requests that came by https through HAProxy.
  strictTransportSecurity: false,
  // The session is in the address of streams: it must not leave with a referrer.
  referrerPolicy: { policy: 'no-referrer' as const },
}
