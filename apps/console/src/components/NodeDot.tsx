import type { Node } from '@postern/contract/nodes'
import { StatusDot } from '../ui/feedback/StatusDot.tsx'

export const DOT_READS = ['status', 'enabled', 'latestHandshakeTimestamp'] as const satisfies (keyof Node)[]

/** The status of a node. Only a lost one is red: others are offline because of a person, or have never connected. */
export function NodeDot({ node }: { node: Pick<Node, (typeof DOT_READS)[number]> }) {
  return <StatusDot status={lookOf(node)} />
}

function lookOf({ status, enabled, latestHandshakeTimestamp }: Pick<Node, (typeof DOT_READS)[number]>) {
  if (status !== 'offline') return status
  if (!enabled) return 'disconnected'
  return latestHandshakeTimestamp === null ? 'new' : 'offline'
}
