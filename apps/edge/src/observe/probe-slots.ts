/**
 * Most probes at a time; further ones wait. With thousands of silent backends each waits longer, but a new service
 * does not.
 */
const AT_ONCE = { first: 64, again: 48 }
/** For one node, so that a gateway's silent hosts hold up neither all others nor its new services. */
const AT_ONCE_PER_NODE = { first: 16, again: 12 }

/** Counts the probes under way, in all and for each node. */
export interface ProbeSlots {
  /** @returns false when there is no room for one more */
  take(node: number | null, kind: 'first' | 'again'): boolean
  free(node: number | null): void
  isFull(): boolean
}

export function createProbeSlots(): ProbeSlots {
  const byNode = new Map<number | null, number>()
  let taken = 0
  return {
    take(node, kind) {
      const ofNode = byNode.get(node) ?? 0
      if (taken >= AT_ONCE[kind] || ofNode >= AT_ONCE_PER_NODE[kind]) return false
      taken++
      byNode.set(node, ofNode + 1)
      return true
    },
    free(node) {
      taken--
      const left = (byNode.get(node) ?? 1) - 1
      if (left > 0) byNode.set(node, left)
      else byNode.delete(node)
    },
    isFull: () => taken >= AT_ONCE.first,
  }
}
