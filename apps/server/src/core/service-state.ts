import type { DataPlane, Problem } from '@postern/contract/edge'
import type { ServiceState } from '@postern/contract/services'

/** What an edge that is connected said last; `dataPlane` is null until it said something. */
export interface EdgeView {
  applied: number
  problems: readonly Problem[]
  dataPlane: DataPlane | null
}

/** What of a service an edge's problem may be about. */
export interface ServiceScope {
  id: number
  nodeId: number
  certificateId: number | null
  /** The change that touched the service last. */
  revision: number
}

const LIVE: ServiceState = { phase: 'live', problem: null }
const RANK = { live: 0, applying: 1, failed: 2 } as const

/** The worst of what the connected edges say. */
export function serviceState(service: ServiceScope, edges: readonly EdgeView[]): ServiceState {
  if (edges.length === 0) return { phase: 'applying', problem: 'No edge is connected' }
  return edges
    .map((edge) => stateOnEdge(service, edge))
    .reduce((worst, state) => (RANK[state.phase] > RANK[worst.phase] ? state : worst), LIVE)
}

function stateOnEdge(service: ServiceScope, edge: EdgeView): ServiceState {
  if (!edge.dataPlane) return { phase: 'applying', problem: 'The edge has not reported yet' }
  // Older problems than the service's last change may be solved by that change.
  if (edge.applied < service.revision) return { phase: 'applying', problem: null }
  const problem = edge.problems.find((candidate) => concerns(candidate, service))
  if (problem) return { phase: 'failed', problem: problem.message }
  const { haproxy } = edge.dataPlane
  if (haproxy.state !== 'ok') return { phase: 'failed', problem: haproxy.detail }
  return LIVE
}

function concerns({ scope }: Problem, service: ServiceScope): boolean {
  switch (scope.kind) {
    case 'service':
      return scope.id === service.id
    case 'certificate':
      return scope.id === service.certificateId
    case 'node':
      return scope.id === service.nodeId
    case 'edge':
      return false
  }
}
