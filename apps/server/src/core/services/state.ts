import type { BackendTrouble, DataPlane, Problem } from '@postern/contract/edge/edge'
import type { InForce, PortFacts } from '@postern/contract/edge/edge-messages'
import type { NodeStatus } from '@postern/contract/nodes'
import type { ServiceState } from '@postern/contract/services/services'

/** The last report of a connected edge; `dataPlane` is null before the first. */
export interface EdgeView {
  id: number
  name: string
  /** It is beside the server, on whose machine the services of the local node are. */
  isBeside: boolean
  inForce: InForce
  problems: readonly Problem[]
  dataPlane: DataPlane | null
  /** The kind of address for UDP services that only IPv4 or only IPv6 visitors can reach. */
  families: ReadonlyMap<number, 4 | 6>
  /** Ports of the range that other programs hold. */
  held: PortFacts['held']
  /** By service; only for those whose backend does not answer. */
  troubles: ReadonlyMap<number, BackendTrouble>
}

/** The fields of a node that decide whether visitors can reach its services. */
export interface ServiceNodeView {
  id: number
  name: string
  address: string
  isLocal: boolean
  /** No agent runs there, which would forward to programs on 127.0.0.1. */
  usesFile: boolean
  enabled: boolean
  status: NodeStatus
  /** The last handshake, in ms since the epoch; null for none. */
  lastSeen: number | null
  /** The ids of the edges that it does not reach, although it is online. */
  awayAt: readonly number[]
}

/** The fields of a service on which its state depends. */
export interface ServiceScope {
  id: number
  node: ServiceNodeView
  /** Its backend is a name, which is looked up through the node. */
  isNamed: boolean
  /** The kernel carries it, and not HAProxy. */
  isUdp: boolean
  /** Its backend is a program of the node itself. */
  isOnNode: boolean
  certificateId: number | null
  /** The ids of the edges that serve its domain; null: all. */
  edges: readonly number[] | null
  /** The revision of the service's last change. */
  revision: number
}

/** As far as an edge can see. */
type EdgeState = ServiceState & { phase: keyof typeof RANK }

const LIVE: EdgeState = { phase: 'live', problem: null }
const RANK = { live: 0, checking: 1, unanswered: 2, applying: 3, failed: 4 } as const

const TROUBLES: Record<Exclude<BackendTrouble, 'unchecked'>, string> = {
  refused: 'The service refused the connection. Check that it is running and listens on this port.',
  timeout: 'The connection to the service timed out. Check its address, its port and its firewall.',
  unreachable: 'The host of the service cannot be reached.',
  tls: 'TLS to the service could not be started.',
  'no-tls': 'The service does not speak TLS on this port. Choose http as its protocol, or another port.',
  'only-tls': 'The service speaks TLS on this port. Choose https as its protocol, or another port.',
}

/** The worst state that the connected edges report, with their names where others report a better one. */
export function serviceState(service: ServiceScope, all: readonly EdgeView[]): ServiceState {
  const edges = all.filter(
    ({ id, isBeside }) =>
      (isBeside || !service.node.isLocal) && (service.edges === null || service.edges.includes(id)),
  )
  if (edges.length === 0) return { phase: 'applying', problem: 'No edge is connected' }
  const states = edges.map((edge) => ({ edge, state: stateOnEdge(service, edge) }))
  const worst = states
    .map(({ state }) => state)
    .reduce((a, b) => (RANK[b.phase] > RANK[a.phase] || (a === LIVE && b.note) ? b : a), LIVE)
  const away = findAway(service.node)
  // A name that cannot be looked up without its node is not a failure on our side.
  if (away && (worst.phase !== 'failed' || service.isNamed)) return away
  const at = states.filter(({ state }) => state.phase === worst.phase && state.problem === worst.problem)
  return worst.problem === null || at.length === states.length
    ? worst
    : { ...worst, problem: whereOf(at, states) + worst.problem }
}

interface StateAt {
  edge: EdgeView
  state: EdgeState
}

function whereOf(at: readonly StateAt[], all: readonly StateAt[]): string {
  const isLiveElsewhere = all.some(({ state }) => state.phase === 'live')
  return `${isLiveElsewhere ? 'Not at' : 'At'} ${at.map(({ edge }) => edge.name).join(', ')}: `
}

/** Why a node carries no traffic now; undefined when it does. The local node is this machine itself. */
function findAway({ name, isLocal, enabled, status, lastSeen }: ServiceNodeView): ServiceState | undefined {
  if (isLocal || status === 'online') return undefined
  if (!enabled) return { phase: 'node-disconnected', problem: `${name} is disconnected` }
  if (lastSeen === null) return { phase: 'node-offline', problem: `${name} has never connected` }
  if (status === 'idle')
    return { phase: 'node-offline', problem: `${name} does not answer through the tunnel` }
  return { phase: 'node-offline', problem: `${name} is offline`, lastSeen }
}

function stateOnEdge(service: ServiceScope, edge: EdgeView): EdgeState {
  if (!edge.dataPlane) return { phase: 'applying', problem: 'The edge has not reported yet' }
  const { dataPlane, inForce } = edge
  const parts = partsOf(service)
  // Problems older than the service's last change may be solved by it, unless a part fails altogether.
  if (parts.some((part) => dataPlane[part].state === 'ok' && inForce[part] < service.revision))
    return { phase: 'applying', problem: null }
  const problem = edge.problems.find((candidate) => concerns(candidate, service))
  if (problem) return { phase: 'failed', problem: problem.message }
  const broken = parts.find((part) => dataPlane[part].state !== 'ok')
  if (broken) return { phase: 'failed', problem: dataPlane[broken].detail }
  const { node } = service
  if (node.awayAt.includes(edge.id))
    return { phase: 'unanswered', problem: `${node.name} does not answer through the tunnel` }
  const trouble = edge.troubles.get(service.id)
  if (trouble === 'unchecked') return { phase: 'checking', problem: null }
  return trouble
    ? { phase: 'unanswered', problem: troubleText(trouble, service) }
    : liveState(service, edge.families.get(service.id))
}

/** The parts of the data plane that carry it: failures of others do not matter. */
function partsOf({ isUdp, node }: ServiceScope): (keyof DataPlane)[] {
  return [isUdp ? 'nftables' : 'haproxy', ...(node.isLocal ? [] : (['wireguard'] as const))]
}

function liveState({ isUdp }: ServiceScope, family: 4 | 6 | undefined): EdgeState {
  if (!isUdp && family === undefined) return LIVE
  const other = family === 4 ? 6 : 4
  const kind = family && `IPv${family} only: the backend has no IPv${other} address`
  const unknown = isUdp && 'Whether a UDP service answers cannot be checked'
  return { ...LIVE, note: [kind, unknown].filter(Boolean).join('. ') }
}

/** Why its backend gives no answer, and then what to look at. */
export function troubleText(
  trouble: keyof typeof TROUBLES,
  { node, isOnNode }: Pick<ServiceScope, 'node' | 'isOnNode'>,
): string {
  if (!isOnNode || node.isLocal) return TROUBLES[trouble]
  const { name, address } = node
  if (trouble === 'refused') {
    const places = node.usesFile
      ? `${address}, not only on 127.0.0.1`
      : `127.0.0.1 or ${address}, not only on [::1]`
    return `The service refused the connection. Check that it is running and listens on ${places}.`
  }
  // The agent drops packets to ports that the server has not listed.
  if (trouble === 'timeout' && !node.usesFile)
    return `The connection to the service timed out. Check the firewall of ${name}, and with postern status its CLI.`
  return TROUBLES[trouble]
}

function concerns({ scope }: Problem, service: ServiceScope): boolean {
  switch (scope.kind) {
    case 'service':
      return scope.id === service.id
    case 'certificate':
      return scope.id === service.certificateId
    case 'node':
      return scope.id === service.node.id
    case 'edge':
      return false
  }
}
