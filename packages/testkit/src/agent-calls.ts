import { once } from 'node:events'
import type { Publication, PublishAnswer } from '@postern/contract/services/publishing'
import { WebSocket } from 'ws'
import type { TestServer } from './server.ts'

/**
 * Publishes all services of a source as the agent with this token.
 * @throws Error unless the set is accepted
 */
export async function publishAs(
  server: TestServer,
  token: string,
  services: readonly unknown[],
  source = 'docker',
): Promise<Publication[]> {
  const answer = await server.as(token).put('/api/agent/services', { source, services })
  if (answer.statusCode !== 200) throw new Error(`the set got ${answer.statusCode}: ${answer.body}`)
  return answer.json<PublishAnswer>().services
}

export interface AgentSocket {
  socket: WebSocket
  /** What the server has sent so far. */
  frames: string[]
  /** Why it was closed, if it was. */
  closed: string
}

/** Opens the socket of an agent at a server that listens. @throws Error when it is refused */
export async function openAgentSocket(server: TestServer, token: string): Promise<AgentSocket> {
  const url = `${server.origin.replace('http', 'ws')}/api/agent/socket`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
  const opened: AgentSocket = { socket, frames: [], closed: '' }
  socket.on('message', (data) => opened.frames.push(String(data)))
  socket.on('close', (_code, reason) => {
    opened.closed = String(reason) || 'without a reason'
  })
  await once(socket, 'open')
  return opened
}
