import type { AgentHint } from '@postern/contract/agent'
import { endpoints } from '@postern/contract/endpoints'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import { getAgentConfig } from '../core/nodes/agent-config.ts'
import { registerNodeKey } from '../core/nodes/keys.ts'
import { watchToken } from '../core/nodes/token-check.ts'
import { publishServices } from '../core/publishing/publish.ts'
import { route } from '../http/route.ts'
import { endSocket, keepAlive, keepQuiet, sendFrame, socketRoute } from '../http/socket.ts'

const CHANGED: AgentHint = { type: 'changed' }
/** Per node: enough for a machine that was copied with its token, too few to fill the server with. */
const MAX_SOCKETS = 4

export function agentRoutes(app: FastifyInstance): void {
  route(app, endpoints.agentConfig, ({ context, caller }) => getAgentConfig(context, caller.nodeId))
  route(app, endpoints.registerKey, async ({ context, actor, caller, body }) => {
    await registerNodeKey(context, actor, caller, body.publicKey)
    return await getAgentConfig(context, caller.nodeId)
  })
  route(app, endpoints.publishServices, ({ context, caller, body }) => publishServices(context, caller, body))
  route(app, endpoints.reportNode, ({ context, caller, body }) => {
    context.agentReports.take(caller.nodeId, body)
    return {}
  })
  const sockets = new Map<number, Set<WebSocket>>()
  socketRoute(app, endpoints.agentSocket, (socket, { context, caller }, stream) => {
    keepAlive(socket)
    keepQuiet(socket, stream)
    enter(sockets, caller.nodeId, socket, () => context.agentReports.forget(caller.nodeId))
    context.agentReports.forget(caller.nodeId)
    const stop = context.bus.listen((hint) => {
      // Whoever had that token may have changed what this agent publishes: it publishes again when it is back.
      if (hint.kind === 'token-ended' && hint.nodeId === caller.nodeId && hint.tokenId !== caller.tokenId)
        socket.close(1012, 'publish again')
      if (hint.kind !== 'changed' || !hint.touched.nodes?.includes(caller.nodeId)) return
      sendFrame(socket, CHANGED)
    })
    const stopWatching = watchToken(context, caller, (why) => {
      // The agent asks then, and learns from the answer that its token is over.
      sendFrame(socket, CHANGED)
      endSocket(socket, why)
    })
    // What changed while the agent was away it learns by this first hint.
    sendFrame(socket, CHANGED)
    socket.on('message', () => socket.close(1008, 'nothing is expected here'))
    socket.on('close', () => {
      stop()
      stopWatching()
    })
    socket.on('error', () => socket.terminate())
  })
}

/**
 * The oldest of too many is dropped: it may be the one whose other end is long gone.
 * @param onLast the last socket of the node is closed
 */
function enter(
  sockets: Map<number, Set<WebSocket>>,
  nodeId: number,
  socket: WebSocket,
  onLast: () => void,
): void {
  const own = sockets.get(nodeId) ?? new Set()
  sockets.set(nodeId, own.add(socket))
  const [oldest] = own
  if (own.size > MAX_SOCKETS) oldest?.terminate()
  socket.on('close', () => {
    own.delete(socket)
    if (own.size > 0) return
    sockets.delete(nodeId)
    onLast()
  })
}
