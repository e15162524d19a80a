import { readFileSync } from 'node:fs'
import { StateAnswer } from '@postern/contract/desired-state'
import { type DataPlane, EdgeHint, type EdgeMessage, type EdgeReport } from '@postern/contract/edge'
import { endpoints } from '@postern/contract/endpoints'
import { WebSocket } from 'ws'
import type { TestServer } from './server.ts'

/** The bare protocol of an edge, for tests of the server: it says only what a test says. */
export interface EdgeClient {
  hints: EdgeHint[]
  socket: WebSocket
  send(message: EdgeMessage): void
  /** Says that it has applied `applied`, and all is well but `over`. */
  report(applied: number, over?: Partial<EdgeReport>): void
  close(): void
}

export const ALL_OK: DataPlane = {
  haproxy: { state: 'ok', detail: 'HAProxy' },
  wireguard: { state: 'ok', detail: 'wireguard-go' },
  nftables: { state: 'ok', detail: 'nftables' },
}

export function edgeToken(server: TestServer): string {
  return readFileSync(server.context.config.paths.edgeToken, 'utf8').trim()
}

/** @param origin what `server.listen()` gave */
export async function connectEdgeClient(server: TestServer, origin: string): Promise<EdgeClient> {
  const url = `${origin.replace('http', 'ws')}${endpoints.edgeSocket.path}`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${edgeToken(server)}` } })
  const hints: EdgeHint[] = []
  socket.on('message', (data) => hints.push(EdgeHint.parse(JSON.parse(String(data)))))
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  const send = (message: EdgeMessage) => socket.send(JSON.stringify(message))
  send({ type: 'hello', version: '0.1.0', epoch: 'e1' })
  return {
    hints,
    socket,
    send,
    report: (applied, over = {}) =>
      send({
        type: 'report',
        report: { wanted: applied, applied, problems: [], dataPlane: ALL_OK, ...over },
      }),
    close: () => socket.close(),
  }
}

/** Fetches the state as an edge does. */
export async function fetchState(
  server: TestServer,
  known: Record<string, string> = {},
): Promise<StateAnswer> {
  const answer = await server.call({
    method: 'POST',
    url: endpoints.edgeState.path,
    headers: { authorization: `Bearer ${edgeToken(server)}` },
    payload: { known },
  })
  return StateAnswer.parse(answer.json())
}
