import { Readable } from 'node:stream'
import { EdgeMessage } from '@postern/contract/edge/edge-messages'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { watchPulse } from '@postern/host/processes/pulse'
import type { FastifyInstance } from 'fastify'
import { joinEdge, renewEdgeCertificate } from '../core/edges/join.ts'
import { arrivalOf } from '../http/auth.ts'
import { route } from '../http/route.ts'
import { onFrames, PING_MS, sendFrame, socketRoute } from '../http/socket.ts'

/** In bytes, of what a WebSocket's end says. */
const MOST_REASON = 123

/** What edges themselves call. */
export function edgeRoutes(app: FastifyInstance): void {
  route(app, endpoints.edgeJoin, ({ context, body, request }) => joinEdge(context, body, arrivalOf(request)))
  route(app, endpoints.edgeCertificate, ({ context, actor, caller, body }) =>
    renewEdgeCertificate(context, actor, caller.edgeId, body.csr),
  )
  route(app, endpoints.edgeState, async ({ context, caller, body, reply }) => {
    const answer = await context.desiredState.read(caller.edgeId, body.known)
    return reply.type('application/json; charset=utf-8').send(Readable.from(answer))
  })
  socketRoute(app, endpoints.edgeSocket, (socket, { context, caller }) => {
    watchPulse(socket, PING_MS)
    const session = context.edges.connect(caller.edgeId, {
      send: (hint) => sendFrame(socket, hint),
      close: (why) =>
        why === undefined
          ? socket.close(1000, 'replaced by a newer connection')
          : socket.close(1008, why.slice(0, MOST_REASON)),
    })
    onFrames(socket, EdgeMessage, (message) => session.receive(message))
    socket.on('close', () => session.close())
    socket.on('error', () => socket.terminate())
  })
}
