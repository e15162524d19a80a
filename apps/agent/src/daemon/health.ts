import { connect } from 'node:net'
import { LIMITS } from '@postern/contract/limits'
import type { WgPeer } from '@postern/host/wg-dump'
import { codeOf } from '../errors.ts'
import type { Wanted } from '../wanted.ts'
import type { AgentState } from './status-file.ts'

export interface Health {
  state: Extract<AgentState, 'online' | 'no-handshake' | 'no-traffic'>
  problem: string | null
}

/** What the tunnel shows, never what was last asked for: a handshake that is fresh and an answer from the edge. */
export function judgeHealth(
  wanted: Wanted,
  peer: WgPeer | undefined,
  isAnswered: boolean,
  address: string,
  now: number,
): Health {
  const age = peer?.latestHandshake ? now - peer.latestHandshake : Number.POSITIVE_INFINITY
  const { port } = wanted.peer
  const at = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
  if (age >= LIMITS.handshakeStale)
    return {
      state: 'no-handshake',
      problem:
        `The server does not answer at ${at} over UDP. Open UDP port ${port} in the firewall of the server, ` +
        'and let outgoing UDP pass here',
    }
  if (isAnswered) return { state: 'online', problem: null }
  return {
    state: 'no-traffic',
    problem: `The tunnel shakes hands with ${at}, but ${wanted.edgeAddress} inside it does not answer`,
  }
}

/**
 * Whether the tunnel carries traffic: somebody at the other end accepts a connection or refuses it, which only
 * that end can do. Several ports, because the installation may have another one for HTTPS.
 */
export async function isAnswering(
  address: string,
  ports: readonly number[],
  timeoutMs: number,
): Promise<boolean> {
  const knocks = [...new Set(ports)].map((port) => knock(address, port, timeoutMs))
  return Promise.any(knocks).then(
    () => true,
    () => false,
  )
}

function knock(host: string, port: number, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer')))
    socket.on('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.on('error', (error) => (codeOf(error) === 'ECONNREFUSED' ? resolve() : reject(error)))
  })
}

/** The edge answers inside the tunnel where it answers outside; 443 unless the installation says otherwise. */
export function probePorts(server: URL): number[] {
  return [443, Number(server.port) || 443]
}
