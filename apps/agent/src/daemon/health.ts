import { connect } from 'node:net'
import { LIMITS } from '@postern/contract/limits'
import { codeOf } from '@postern/host/errors'
import type { WgPeer } from '@postern/host/wg-dump'
import type { AgentState } from '../store.ts'
import type { Wanted } from '../wanted.ts'

export interface Health {
  state: Extract<AgentState, 'online' | 'no-handshake' | 'no-traffic'>
  problem: string | null
}

/** The state by what the tunnel shows: a fresh handshake, and an answer from the edge. */
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
        `The server does not answer at ${at} over UDP. Open UDP port ${port} in the server's firewall, ` +
        'and allow outgoing UDP here',
    }
  if (isAnswered) return { state: 'online', problem: null }
  return {
    state: 'no-traffic',
    problem: `The tunnel handshake with ${at} works, but ${wanted.edgeAddress} does not answer inside the tunnel`,
  }
}

/**
 * Whether the tunnel carries traffic: only the other end can accept or refuse a connection. Tries several ports,
 * because the installation's HTTPS port may differ.
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

/** The edge uses the same HTTPS port inside the tunnel as outside; 443 by default. */
export function probePorts(server: URL): number[] {
  return [443, Number(server.port) || 443]
}
