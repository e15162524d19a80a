import { LIMITS } from '@postern/contract/limits'
import { findHolder } from '@postern/host/lock'
import { isAnswering, probePorts } from '../daemon/health.ts'
import { describe, type Published } from '../discovery/published.ts'
import type { Outcome } from '../errors.ts'
import { type Io, paint } from '../io.ts'
import { type AgentState, findCredentials, findDaemonStatus } from '../store.ts'
import { findTunnelState } from '../tunnel/wireguard.ts'
import { type Call, defineCommand, requirePrivilege } from './command.ts'

export const status = defineCommand({
  summary: 'show whether this machine is connected',
  help: `Usage: postern status [--health] [--json] [--config-dir DIR]

Shows the node, its address, its state, the last handshake and the traffic. The
exit code is 0 only when the node is online.

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
  endpoint: string | null
  /** ms since the epoch. */
  latestHandshake: number | null
  /** Bytes. */
  rx: number
  tx: number
  version: string
}

/** The daemon's last state, corrected by what the tunnel shows now. */
async function observeStatus({ context, paths }: Call, isProbing: boolean): Promise<StatusReport> {
  const credentials = await findCredentials(paths)
  const reported = await findDaemonStatus(paths)
  const isRunning = findHolder(paths.pid) !== undefined
  const peer = credentials && (await findTunnelState(context.exec, credentials.interface))?.peer
  const base = {
    notes: reported?.notes ?? [],
    published: reported?.published ?? [],
    node: reported?.node ?? null,
    addresses: reported?.addresses ?? [],
    interface: credentials?.interface ?? null,
    server: credentials?.url ?? null,
    serverReachable: isRunning && reported?.serverReachable === true,
    endpoint: peer?.endpoint ?? null,
    latestHandshake: peer?.latestHandshake ?? null,
    rx: peer?.rx ?? 0,
    tx: peer?.tx ?? 0,
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
  if (context.now() - (peer?.latestHandshake ?? 0) >= LIMITS.handshakeStale)
    return worse('no-handshake', 'no-handshake', 'The last handshake was more than three minutes ago')
  const target = reported.edgeAddress ?? ''
  if (isProbing && !(await isAnswering(target, probePorts(new URL(credentials.url)), 3000)))
    return worse('no-traffic', 'no-traffic', `${target} does not answer inside the tunnel`)
  return { ...base, state: 'online', outcome: 'ok', problem: null }
}

function renderStatus(io: Io, report: StatusReport, now: number): string {
  const { node, latestHandshake } = report
  const shade = report.state === 'online' ? 'green' : report.state === 'connecting' ? 'yellow' : 'red'
  const age =
    latestHandshake === null ? 'never' : `${Math.max(0, Math.round((now - latestHandshake) / 1000))} s ago`
  const rows: [string, string | null][] = [
    ['State', paint(io, shade, report.state)],
    ['Problem', report.problem],
    ...report.notes.map((note): [string, string] => ['Note', note]),
    ...report.published.map((one): [string, string] => ['Service', describe(one)]),
    ['Node', node && `${node.name} (${node.id})`],
    ['Address', report.addresses.join(', ') || null],
    ['Interface', report.interface],
    ['Server', report.server && `${report.server}${report.serverReachable ? '' : ' (unreachable)'}`],
    ['Endpoint', report.endpoint],
    ['Handshake', report.interface && age],
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
