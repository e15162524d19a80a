import type { Edge } from '@postern/contract/edge/edge'
import type { JoinToken } from '@postern/contract/edge/join'

/** How far a machine has come that joins with a token. */
export type Arrival = 'waiting' | 'joined' | 'connected' | 'live' | 'expired'

/**
 * @param before the edge when the token was made
 * @param edge as it is; undefined where that is not known yet
 * @param now ms since the epoch
 */
export function arrivalOf(
  before: Edge,
  edge: Edge | undefined,
  { expiresAt }: JoinToken,
  now: number,
): Arrival {
  // Whatever joins gets a certificate; that an edge was there already tells nothing of the new machine.
  const isHere = edge?.isJoined && edge.certificateUntil !== before.certificateUntil
  if (!isHere) return now >= Date.parse(expiresAt) ? 'expired' : 'waiting'
  if (!edge.connected) return 'joined'
  return edge.wanted > 0 && edge.applied >= edge.wanted ? 'live' : 'connected'
}
