import { LIMITS } from '@postern/contract/limits'
import type { AgentState } from './status-file.ts'
import type { Wanted } from './wanted.ts'
import type { PeerState } from './wireguard.ts'

export interface Health {
  state: Extract<AgentState, 'online' | 'no-handshake' | 'no-traffic'>
  problem: string | null
}

/** What the tunnel shows, never what was last asked for: a handshake that is fresh and an answer from the edge. */
export function judgeHealth(
  wanted: Wanted,
  peer: PeerState | undefined,
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
