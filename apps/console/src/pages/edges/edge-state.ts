import type { Edge } from '@postern/contract/edge/edge'
import { brokenParts } from '../../components/platform.ts'
import type { BadgeProps } from '../../ui/feedback/Badge.tsx'
import { formatDate } from '../../util/time.ts'

/** How an edge is, in a word or two. */
export interface Standing {
  kind: Extract<BadgeProps['kind'], 'ok' | 'warn' | 'bad' | 'info' | 'mute'>
  text: string
}

/** The one beside the server. */
export const isBeside = ({ number }: Pick<Edge, 'number'>): boolean => number === 1

/** @param now ms since the epoch */
export function standingOf(edge: Edge, now: number): Standing {
  const { isJoined, connected, isDrained, isStuck, wanted, applied } = edge
  if (!isJoined)
    return canJoin(edge, now)
      ? { kind: 'info', text: 'Waiting to join' }
      : { kind: 'mute', text: 'Never joined' }
  if (!connected) return { kind: 'bad', text: 'Not connected' }
  if (isDrained) return { kind: 'warn', text: 'Drained' }
  const count = Math.max(edge.problemCount, troublesOf(edge).length)
  if (count > 0) return { kind: 'bad', text: count === 1 ? '1 problem' : `${count} problems` }
  if (applied < wanted && !isStuck) return { kind: 'info', text: 'Applying' }
  return { kind: 'ok', text: 'Connected' }
}

/** A token waits for a machine. */
export function canJoin({ joinableUntil }: Pick<Edge, 'joinableUntil'>, now: number): boolean {
  return joinableUntil !== null && Date.parse(joinableUntil) > now
}

/** What a connected edge cannot do, and why; of an edge that is away nothing is known. */
export function troublesOf(edge: Edge): string[] {
  if (!edge.connected) return []
  const told = edge.problems.map(({ name, message }) => (name === null ? message : `${name}: ${message}`))
  return [...brokenParts([edge]), ...told]
}

/** It is renewed a month before. */
const ENDS_SOON = 20 * 24 * 3_600_000

/** Why the edge may soon be refused; undefined while that is far. */
export function certificateTrouble({ certificateUntil }: Edge, now: number): string | undefined {
  if (certificateUntil === null) return undefined
  const left = Date.parse(certificateUntil) - now
  if (left > ENDS_SOON) return undefined
  return left > 0
    ? `Its certificate ends on ${formatDate(certificateUntil)} unless it connects before.`
    : 'Its certificate has ended: make a new join token.'
}
