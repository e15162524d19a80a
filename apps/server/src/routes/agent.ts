import type { AgentHint } from '@postern/contract/agent/agent'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { watchPulse } from '@postern/host/processes/pulse'
import type { FastifyInstance } from 'fastify'
import { getAgentConfig } from '../core/nodes/agent-config.ts'
import { registerNodeKey } from '../core/nodes/keys.ts'
import { watchToken } from '../core/nodes/token-check.ts'
import { publishServices } from '../core/publishing/publish.ts'
import { route } from '../http/route.ts'
import { endSocket, keepQuiet, PING_MS, sendFrame, socketRoute } from '../http/socket.ts'

const CHANGED: AgentHint = { type: 'changed' }

export function agentRoutes(app: FastifyInstance): void {
  route(app, endpoints.agentConfig, ({ context, caller }) => getAgentConfig(context, caller.nodeId))
  route(app, endpoints.registerKey, async ({ context, actor, caller, body }) => {
    await registerNodeKey(context, actor, caller, body.publicKey)
    return await getAgentConfig(context, caller.nodeId)
  })
  route(app, endpoints.publishServices, ({ context, actor, caller, body }) =>
    publishServices(context, actor, caller, body),
  )
  route(app, endpoints.reportNode, ({ context, caller, body }) => {
    context.agents.report(caller, body)
    return {}
  })
  socketRoute(app, endpoints.agentSocket, (socket, { context, caller }, stream) => {
    watchPulse(socket, PING_MS)
    keepQuiet(socket, stream)
    const disconnect = context.agents.connect(caller, {
      askAnew: () => socket.close(1012, 'publish again'),
      drop: () => socket.terminate(),
    })
    const stop = context.bus.listen((hint) => {
      if (hint.kind !== 'changed') return
      const { nodes, tunnelEnds } = hint.touched
      if (tunnelEnds || nodes?.includes(caller.nodeId)) sendFrame(socket, CHANGED)
    })
    const stopWatching = watchToken(context, caller, (why) => {
      // The agent then asks, and learns from the answer that its token has ended.
      sendFrame(socket, CHANGED)
      endSocket(socket, why)
    })
    // This first hint covers what changed while the agent was disconnected.
    sendFrame(socket, CHANGED)
    socket.on('message', () => socket.close(1008, 'nothing is expected here'))
    socket.on('close', () => {
      disconnect()
      stop()
      stopWatching()
    })
    socket.on('error', () => socket.terminate())
  })
}
