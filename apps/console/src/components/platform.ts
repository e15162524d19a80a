import type { EndingCertificates } from '@postern/contract/domains'
import type { DataPlane, Edge } from '@postern/contract/edge/edge'
import type { Attention } from '@postern/contract/overview'
import { formatDate } from '../util/time.ts'
import { problemOf } from './attention/use-attention.ts'

export interface PlatformState {
  kind: 'ok' | 'applying' | 'warning' | 'problem'
  text: string
  /** The revision, where it matters. */
  revision: number | null
  /** One line each, in the words of the failing part. */
  details: string[]
  /** The total number, when these are only the first lines. */
  total?: number
  /** The list of what needs attention has more. */
  isListed?: true
}

const PARTS = {
  haproxy: { name: 'HAProxy', means: 'Nothing is published over HTTP and HTTPS' },
  wireguard: { name: 'WireGuard', means: 'No node can connect' },
  nftables: { name: 'nftables', means: "Nodes aren't isolated from each other and have no internet access" },
} as const satisfies Record<keyof DataPlane, { name: string; means: string }>

/** The parts of the data plane that aren't working, in words for people. Where there are several edges they are named. */
export function brokenParts(all: readonly Edge[]): string[] {
  const edges = all.filter(({ isJoined }) => isJoined)
  const isOne = edges.length === 1
  return edges.flatMap(({ name: edge, dataPlane }) => {
    if (!dataPlane) return []
    const names = ['haproxy', 'wireguard', 'nftables'] as const
    return names
      .filter((part) => dataPlane[part].state !== 'ok')
      .map((part) => {
        const { state, detail } = dataPlane[part]
        const { name, means } = PARTS[part]
        const fault = `${name} ${state === 'missing' ? 'is missing' : "isn't working"}: ${endSentence(detail)}`
        return isOne ? `${fault} ${means}.` : `At ${edge}: ${fault} ${means} there.`
      })
  })
}

/** The edges that are not connected, in words for people. */
export function absentEdges(edges: readonly Edge[]): string[] {
  return edges
    .filter(({ connected, isJoined }) => isJoined && !connected)
    .map(({ name, lastSeen }) =>
      lastSeen === null
        ? `${name} has not connected since the server started. Published services usually keep running; changes wait.`
        : `${name} is not connected. Published services usually keep running; changes wait.`,
    )
}

/** Whether the edges have applied what the console shows. */
export function platformState(all: readonly Edge[]): PlatformState {
  // The place of an edge is there before a machine joins.
  const edges = all.filter(({ isJoined }) => isJoined)
  const problem = (text: string, details: string[]) =>
    ({ kind: 'problem', text, revision: null, details }) as const
  if (edges.length === 0) return problem('No edge yet', ['No edge has connected to this server yet.'])
  const absent = absentEdges(edges)
  if (absent.length > 0) return problem('Edge not connected', absent)
  const broken = brokenParts(edges)
  const reported = edges.flatMap((edge) =>
    edge.problems.map(({ name, message }) => {
      const words = name === null ? message : `${name}: ${message}`
      return edges.length === 1 ? words : `At ${edge.name}: ${words}`
    }),
  )
  if (broken.length > 0) return problem('Data plane down', [...broken, ...reported])
  const wanted = Math.max(...edges.map((edge) => edge.wanted))
  const applied = Math.min(...edges.map((edge) => edge.applied))
  const isStuck = edges.some((edge) => edge.isStuck)
  if (applied < wanted && !isStuck)
    return {
      kind: 'applying',
      text: 'Applying',
      revision: wanted,
      details: edges
        .filter((edge) => edge.applied < wanted)
        .map(({ name }) => `${edges.length === 1 ? 'The edge' : name} is applying the latest change.`),
    }
  const count = edges.reduce((sum, edge) => sum + edge.problemCount, 0)
  if (count > 0)
    return { ...problem(count === 1 ? '1 problem' : `${count} problems`, reported), isListed: true }
  return {
    kind: 'ok',
    text: 'In sync',
    revision: applied,
    details: ['All changes are applied.'],
  }
}

/** Adds what needs a person, worst first, as in Home's list; a worse state stays. */
export function withAttention(
  state: PlatformState,
  { data: rows, total }: { data: readonly Attention[]; total: number },
  ending: EndingCertificates['data'],
): PlatformState {
  const [worst] = rows
  if (worst === undefined) return state
  const warnings = ending.map(
    ({ domain, notAfter, error }) =>
      `The certificate for ${domain} expires on ${formatDate(notAfter)} and couldn't be renewed: ${endSentence(error)}`,
  )
  if (state.kind === 'problem' && !state.isListed)
    return { ...state, details: [...state.details, ...warnings] }
  // Only the beginning of the list is shown here. Expiries come last in it, and nobody may miss them.
  const others = rows.filter(({ notAfter }) => notAfter === null)
  const details = [...warnings, ...others.map((row) => `${row.name}: ${problemOf(row)}`)]
  const listed = { revision: null, details, total, isListed: true } as const
  if (others.length === 0) {
    const text = total === 1 ? '1 certificate expires soon' : `${total} certificates expire soon`
    return { kind: 'warning', text, ...listed }
  }
  if (state.kind === 'applying') return state
  const kind = worst.tone === 'bad' ? 'problem' : 'warning'
  return { kind, text: total === 1 ? '1 problem' : `${total} problems`, ...listed }
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
