import type { Node } from '@postern/contract/nodes'
import { StatusDot } from '../ui/StatusDot.tsx'

/** The status of a node. Only one that was lost is red: the others are away because of a person, or not there yet. */
export function NodeDot({ node }: { node: Node }) {
  return <StatusDot status={lookOf(node)} />
}

function lookOf({ status, enabled, latestHandshakeTimestamp }: Node) {
  if (status !== 'offline') return status
  if (!enabled) return 'disconnected'
  return latestHandshakeTimestamp === null ? 'new' : 'offline'
}
