import { LIMITS } from '@postern/contract/limits'
import { findHolder } from '@postern/host/lock'
import type { WgPeer } from '@postern/host/wg-dump'
import { isAnswering, onlineEdges, probePorts } from '../daemon/health.ts'
import { describe, type Published } from '../discovery/published.ts'
import type { Outcome } from '../errors.ts'
import { type Io, paint } from '../io.ts'
import { type AgentState, type EdgeStatus, findCredentials, findDaemonStatus } from '../store.ts'
import { findTunnelState } from '../tunnel/wireguard.ts'
import { type Call, defineCommand, requirePrivilege } from './command.ts'

export const status = defineCommand({
  summary: 'show whether this machine is connected',
  help: `Usage: postern status [--health] [--json] [--config-dir DIR]

Shows the node, its address, its state, the last handshake and the traffic; with
several edges a line for each. The exit code is 0 only when the node is online:
when at least one edge carries its traffic.

  --health        check the other end of the tunnel now, and print one word
  --json          print one JSON object instead of text
  --config-dir D  the agent that keeps its files there (default /etc/postern)`,
  options: { health: { type: 'boolean' } },
  parse: (values) => ({ health: values.health === true }),
  async run(call, { health }) {
    await requirePrivilege(call)
    const report = await observeStatus(call, health)
    const { io, now } = call.context
    if (call.json) io.out(JSON.stringify(report))
    else if (health) io.out(report.state)
    else io.out(renderStatus(io, report, now()))
    return report.outcome
  },
})

/** `endpoint` and `latestHandshake` (ms since the epoch): null until the first packet. */
interface EdgeReport extends Omit<EdgeStatus, 'publicKey'> {
  endpoint: string | null
  latestHandshake: number | null
  rx: number
  tx: number
}

export interface StatusReport {
  state: AgentState | 'stopped' | 'not-connected'
  outcome: Outcome
  problem: string | null
  notes: string[]
  published: Published[]
  node: { id: number; name: string } | null
  addresses: string[]
  interface: string | null
  server: string | null
  serverReachable: boolean
  /** Where the edge beside the server is reached. */
  endpoint: string | null
  /** The latest of all edges, in ms since the epoch. */
  latestHandshake: number | null
  /** Bytes, with all edges. */
  rx: number
  tx: number
  /** The one beside the server first. */
  edges: EdgeReport[]
  version: string
}

/** The daemon's last state, corrected by what the tunnel shows now. */
async function observeStatus({ context, paths }: Call, isProbing: boolean): Promise<StatusReport> {
  const credentials = await findCredentials(paths)
  const reported = await findDaemonStatus(paths)
  const isRunning = findHolder(paths.pid) !== undefined
  const peers = (credentials && (await findTunnelState(context.exec, credentials.interface))?.peers) ?? []
  const edges = (reported?.edges ?? []).map((edge) => observeEdge(edge, peers, isRunning, context.now()))
  const sum = (which: 'rx' | 'tx') => peers.reduce((all, peer) => all + peer[which], 0)
  const latest = Math.max(0, ...peers.map(({ latestHandshake }) => latestHandshake ?? 0))
  const base = {
    notes: reported?.notes ?? [],
    published: reported?.published ?? [],
    node: reported?.node ?? null,
    addresses: reported?.addresses ?? [],
    interface: credentials?.interface ?? null,
    server: credentials?.url ?? null,
    serverReachable: isRunning && reported?.serverReachable === true,
    endpoint: (edges[0] ?? peers[0])?.endpoint ?? null,
    latestHandshake: latest === 0 ? null : latest,
    rx: sum('rx'),
    tx: sum('tx'),
    edges,
    version: context.version,
  }
  const worse = (state: StatusReport['state'], outcome: Outcome, problem: string) =>
    ({ ...base, state, outcome, problem }) satisfies StatusReport
  if (!isRunning && !credentials) return worse('not-connected', 'not-connected', 'Run postern connect first')
  if (!isRunning) return worse('stopped', 'not-connected', 'The agent is not running. Run postern connect')
  if (!reported) return worse('connecting', 'not-connected', 'The agent has just started')
  if (reported.state !== 'online')
    return { ...base, state: reported.state, outcome: reported.outcome, problem: reported.problem }
  if (!credentials) return worse('not-connected', 'not-connected', 'Run postern connect first')
  if (context.now() - latest >= LIMITS.handshakeStale)
    return worse('no-handshake', 'no-handshake', OLD_HANDSHAKE)
  const targets = onlineEdges(reported)
  if (isProbing && !(await isAnswering(targets, probePorts(new URL(credentials.url)), 3000)))
    return worse('no-traffic', 'no-traffic', `${targets.join(', ')} does not answer inside the tunnel`)
  return { ...base, state: 'online', outcome: 'ok', problem: null }
}

/** What the daemon last saw of it, corrected by what WireGuard shows now. */
function observeEdge(
  { publicKey, ...edge }: EdgeStatus,
  peers: readonly WgPeer[],
  isRunning: boolean,
  now: number,
): EdgeReport {
  const peer = peers.find((one) => one.publicKey === publicKey)
  const { endpoint = null, latestHandshake = null, rx = 0, tx = 0 } = peer ?? {}
  const found = { ...edge, endpoint, latestHandshake, rx, tx }
  const isStale = now - (latestHandshake ?? 0) >= LIMITS.handshakeStale
  if (!isStale || !isRunning || edge.state !== 'online') return found
  return { ...found, state: 'no-handshake', problem: OLD_HANDSHAKE }
}

const OLD_HANDSHAKE = 'The last handshake was more than three minutes ago'

function renderStatus(io: Io, report: StatusReport, now: number): string {
  const { node, latestHandshake, edges } = report
  const shade = report.state === 'online' ? 'green' : report.state === 'connecting' ? 'yellow' : 'red'
  const ageOf = (handshake: number | null) =>
    handshake === null ? 'never' : `${Math.max(0, Math.round((now - handshake) / 1000))} s ago`
  const isOnly = edges.length < 2
  const lineOf = ({ name, address, state, latestHandshake, endpoint }: EdgeReport) =>
    [
      `${name} (${address})`,
      paint(io, state === 'online' ? 'green' : 'red', state),
      `handshake ${ageOf(latestHandshake)}`,
      endpoint,
    ]
      .filter(Boolean)
      .join(', ')
  const rows: [string, string | null][] = [
    ['State', paint(io, shade, report.state)],
    ['Problem', report.problem],
    ...report.notes.map((note): [string, string] => ['Note', note]),
    ...report.published.map((one): [string, string] => ['Service', describe(one)]),
    ['Node', node && `${node.name} (${node.id})`],
    ['Address', report.addresses.join(', ') || null],
    ['Interface', report.interface],
    ['Server', report.server && `${report.server}${report.serverReachable ? '' : ' (unreachable)'}`],
    ['Endpoint', isOnly ? report.endpoint : null],
    ['Handshake', isOnly ? report.interface && ageOf(latestHandshake) : null],
    ...edges.map((edge): [string, string | null] => ['Edge', isOnly ? null : lineOf(edge)]),
    ['Received', report.interface && formatSize(report.rx)],
    ['Transmitted', report.interface && formatSize(report.tx)],
  ]
  return rows.flatMap(([label, text]) => (text ? [`${label.padEnd(12)} ${text}`] : [])).join('\n')
}

/** Bytes in the unit that keeps the number short. */
export function formatSize(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  const number = bytes / 1024 ** power
  return `${power === 0 ? number : number.toFixed(1)} ${units[power]}`
}
