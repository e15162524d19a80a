import { Readable } from 'node:stream'
import { EdgeMessage } from '@postern/contract/edge/edge-messages'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { watchPulse } from '@postern/host/processes/pulse'
import type { FastifyInstance } from 'fastify'
import { withoutWords } from '../core/edges/list.ts'
import { route } from '../http/route.ts'
import { onFrames, PING_MS, sendFrame, socketRoute } from '../http/socket.ts'

export function edgeRoutes(app: FastifyInstance): void {
  route(app, endpoints.listEdges, async ({ context }) => {
    const edges = await context.edges.list()
    return context.access.reach ? edges.map(withoutWords) : edges
  })
  route(app, endpoints.edgeState, async ({ context, body, reply }) => {
    const answer = await context.desiredState.read(body.known)
    return reply.type('application/json; charset=utf-8').send(Readable.from(answer))
  })
  socketRoute(app, endpoints.edgeSocket, (socket, { context, caller }) => {
    watchPulse(socket, PING_MS)
    const session = context.edges.connect(caller.edgeId, {
      send: (hint) => sendFrame(socket, hint),
      close: () => socket.close(1000, 'replaced by a newer connection'),
    })
    onFrames(socket, EdgeMessage, (message) => session.receive(message))
    socket.on('close', () => session.close())
    socket.on('error', () => socket.terminate())
  })
}
