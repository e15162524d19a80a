import { readFileSync } from 'node:fs'
import { StateAnswer } from '@postern/contract/edge/desired-state'
import type { DataPlane } from '@postern/contract/edge/edge'
import {
  EdgeHint,
  type EdgeMessage,
  type EdgeReport,
  type InForce,
  type PeerFigures,
} from '@postern/contract/edge/edge-messages'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { InstallationPaths } from '@postern/contract/installation'
import { WebSocket } from 'ws'
import type { TestServer } from './server.ts'

/** The bare protocol of an edge over the server's socket: it sends only what a test sends. */
export interface EdgeClient {
  hints: EdgeHint[]
  socket: WebSocket
  send(message: EdgeMessage): void
  /** Reports that it has applied `applied` in every part, and that all is well except `over`. */
  report(applied: number, over?: Partial<EdgeReport>): void
  close(): void
}

export const ALL_OK: DataPlane = {
  haproxy: { state: 'ok', detail: 'HAProxy' },
  wireguard: { state: 'ok', detail: 'wireguard-go' },
  nftables: { state: 'ok', detail: 'nftables' },
}

/** Every part has this revision in force. */
export const everywhere = (revision: number): InForce => ({
  haproxy: revision,
  wireguard: revision,
  nftables: revision,
})

export function edgeToken(paths: InstallationPaths): string {
  return readFileSync(paths.edgeToken, 'utf8').trim()
}

/** @param epoch a new one for a restarted edge */
export async function connectEdgeClient(
  paths: InstallationPaths,
  { epoch = 'e1', onHint = (_hint: EdgeHint) => {}, can = undefined as string[] | undefined } = {},
): Promise<EdgeClient> {
  const url = `ws+unix:${paths.serverSocket}:${endpoints.edgeSocket.path}`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${edgeToken(paths)}` } })
  const hints: EdgeHint[] = []
  socket.on('message', (data) => {
    const hint = EdgeHint.parse(JSON.parse(String(data)))
    hints.push(hint)
    onHint(hint)
  })
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  const send = (message: EdgeMessage) => socket.send(JSON.stringify(message))
  send({ type: 'hello', version: '0.1.0', epoch, ...(can && { can }) })
  return {
    hints,
    socket,
    send,
    report: (applied, over = {}) =>
      send({
        type: 'report',
        report: {
          ...{ wanted: applied, applied, inForce: everywhere(applied), problems: [], dataPlane: ALL_OK },
          ...over,
        },
      }),
    close: () => socket.close(),
  }
}

/** An edge's figures of a node that stays online for the whole test. */
export function onlinePeer(nodeId: number): PeerFigures {
  const latestHandshake = Date.now() + 3_600_000
  return { nodeId, latestHandshake, rx: 0, tx: 0, clientIp: '203.0.113.7', reachable: true }
}

/** Fetches the state like an edge. */
export async function fetchState(
  server: TestServer,
  known: Record<string, string> = {},
): Promise<StateAnswer> {
  const answer = await server.call({
    method: 'POST',
    url: endpoints.edgeState.path,
    headers: { authorization: `Bearer ${edgeToken(server.context.config.paths)}` },
    payload: { known },
  })
  return StateAnswer.parse(answer.json())
}
