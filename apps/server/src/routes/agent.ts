import type { AgentHint } from '@postern/contract/agent'
import { endpoints } from '@postern/contract/endpoints'
import type { FastifyInstance } from 'fastify'
import { getAgentConfig } from '../core/agent-config.ts'
import { registerNodeKey } from '../core/node-keys.ts'
import { keepAlive, sendFrame } from '../http/frames.ts'
import { route } from '../http/route.ts'
import { socketRoute } from '../http/socket.ts'

const CHANGED: AgentHint = { type: 'changed' }

export function agentRoutes(app: FastifyInstance): void {
  route(app, endpoints.agentConfig, ({ context, caller }) => getAgentConfig(context, caller.nodeId))
  route(app, endpoints.registerKey, async ({ context, actor, caller, body }) => {
    await registerNodeKey(context, actor, caller.nodeId, body.publicKey)
    return await getAgentConfig(context, caller.nodeId)
  })
  socketRoute(app, endpoints.agentSocket, (socket, { context, caller }) => {
    keepAlive(socket)
    const stop = context.bus.listen((hint) => {
      if (hint.kind !== 'changed' || !hint.touched.nodes?.includes(caller.nodeId)) return
      sendFrame(socket, CHANGED)
      // A deleted node's agent must not hear on; when it comes back it learns that its token is gone.
      getAgentConfig(context, caller.nodeId).catch(() => socket.close(1000, 'the node was deleted'))
    })
    // What changed while the agent was away it learns by this first hint.
    sendFrame(socket, CHANGED)
    socket.on('message', () => socket.close(1008, 'nothing is expected here'))
    socket.on('close', stop)
    socket.on('error', () => socket.terminate())
  })
}
