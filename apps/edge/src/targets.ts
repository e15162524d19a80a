import type { Peer, PortRoute, Route, TunnelSettings } from '@postern/contract/edge/desired-state'
import type { Problem } from '@postern/contract/edge/edge'
import { MESSAGES } from '@postern/contract/messages'
import { keepRows, type Sections } from '@postern/contract/sections'
import { type Cidr, containsIp, findCidrs, formatCidr } from '@postern/net/cidr'
import { findIp, formatIp, type Ip } from '@postern/net/ip'
import {
  findGatewayFault,
  findLocalFault,
  findNodeFault,
  type Surroundings as Known,
  TARGET_FAULTS,
  type TargetFault,
} from '@postern/net/targets'
import type { Machine } from './machine.ts'
import type { DnsQuery, Names } from './names.ts'

/** A row with one backend on one node. */
export type Targeted = Pick<PortRoute, 'id' | 'node' | 'backend' | 'enabled'> & Partial<Pick<Route, 'system'>>

/** With the one address to dial for it; null: there is none, and for an enabled row a problem says why. */
export type Resolved<R> = R & { address: string | null }

export interface Targets<R> {
  /** An unchanged section stays the same array, and an unchanged row the same object. */
  sections: Sections<Resolved<R>>
  problems: Problem[]
}

/** What addresses are checked against. */
export interface Around {
  settings: TunnelSettings
  peers: readonly Peer[]
  machine: Machine
}

/** Finds the address of each row of one kind, and keeps it until something that it depends on changes. */
export interface TargetFinder<R> {
  resolve(sections: Sections<R>, around: Around): Targets<R>
  /** The look-ups for these rows. */
  queries(): DnsQuery[]
}

/** A problem, and the gateway that it depends on: while that is not in the tunnel, this is problem enough. */
interface Finding {
  problem: Problem
  gateway: number | null
}

interface Verdict<R> {
  resolved: Resolved<R>
  finding: Finding | undefined
  query: DnsQuery | undefined
}

/** The verdicts of one section. */
interface Kept<R> {
  rows: readonly R[]
  around: Surroundings
  /** The revision of the names; rows without a query ignore it. */
  names: number
  verdicts: ReadonlyMap<R, Verdict<R>>
  resolved: readonly Resolved<R>[]
  findings: Finding[]
  queries: DnsQuery[]
}

export function createTargetFinder<R extends Targeted>(
  names: Pick<Names, 'find' | 'revision'>,
): TargetFinder<R> {
  let kept = new Map<string, Kept<R>>()
  const surroundings = createSurroundings()
  return {
    resolve(sections, { settings, peers, machine }) {
      const around = surroundings(settings, peers, machine)
      const next = new Map<string, Kept<R>>()
      for (const [name, rows] of sections) next.set(name, judgeSection(rows, around, names, kept.get(name)))
      kept = next
      return {
        sections: new Map([...kept].map(([name, { resolved }]) => [name, resolved])),
        problems: problemsOf(
          [...kept.values()].flatMap(({ findings }) => findings),
          peers,
        ),
      }
    },
    queries: () => [...kept.values()].flatMap(({ queries }) => queries),
  }
}

function problemsOf(findings: readonly Finding[], peers: readonly Peer[]): Problem[] {
  if (findings.length === 0) return []
  const inTunnel = new Set(peers.map(({ nodeId }) => nodeId))
  return findings
    .filter(({ gateway }) => gateway === null || inTunnel.has(gateway))
    .map(({ problem }) => problem)
}

function judgeSection<R extends Targeted>(
  rows: readonly R[],
  around: Surroundings,
  names: Pick<Names, 'find' | 'revision'>,
  before: Kept<R> | undefined,
): Kept<R> {
  const isStill = (hasQuery: boolean) =>
    before?.around === around && (!hasQuery || before.names === names.revision())
  if (before?.rows === rows && isStill(before.queries.length > 0)) return before
  const verdicts = new Map<R, Verdict<R>>()
  for (const row of rows) {
    const old = before?.verdicts.get(row)
    verdicts.set(row, old && isStill(old.query !== undefined) ? old : judge(row, around, names, old))
  }
  const all = [...verdicts.values()]
  // Asking for an unknown name starts its look-up.
  return {
    rows,
    around,
    names: names.revision(),
    verdicts,
    resolved: keepRows(
      before?.resolved,
      all.map(({ resolved }) => resolved),
    ),
    findings: all.flatMap(({ finding }) => finding ?? []),
    queries: all.flatMap(({ query }) => query ?? []),
  }
}

function judge<R extends Targeted>(
  row: R,
  around: Surroundings,
  names: Pick<Names, 'find'>,
  old: Verdict<R> | undefined,
): Verdict<R> {
  const isUsed = row.enabled && !row.system
  const query = isUsed ? findQuery(row) : undefined
  const { address, reason } = isUsed ? findTarget(row, query, around, names) : UNUSED
  const resolved = old?.resolved.address === address ? old.resolved : { ...row, address }
  const finding = reason === null ? undefined : findingOf(row, reason)
  return { resolved, finding, query }
}

const UNUSED = { address: null, reason: null }

function findingOf({ id, node }: Targeted, message: string): Finding {
  const isOfGateway = node.kind === 'gateway' && message.endsWith(NOT_BEHIND)
  return { problem: { scope: { kind: 'service', id }, message }, gateway: isOfGateway ? node.id : null }
}

const NOT_BEHIND = "isn't in any of this gateway's subnets."

function findTarget(
  row: Targeted,
  query: DnsQuery | undefined,
  around: Surroundings,
  names: Pick<Names, 'find'>,
): { address: string | null; reason: string | null } {
  const known = query ? names.find(query) : { addresses: [literalAddress(row)], reason: null }
  if (known.reason !== null) return { address: null, reason: known.reason }
  for (const address of known.addresses) {
    const reason = whyForbidden(row, address, around)
    // One forbidden answer refuses all: the name server could give it again at the next look-up.
    if (reason) return { address: null, reason: query ? `${query.name} ${NOT_ALLOWED}: ${reason}` : reason }
  }
  // The smallest, so that a name server that rotates its answers does not move the route.
  const [address] = [...known.addresses].sort()
  return address === undefined
    ? { address: null, reason: 'The name has no address.' }
    : { address, reason: null }
}

const NOT_ALLOWED = "resolves to an address that isn't allowed"

/** The look-up that a row needs, or undefined when its address is given. */
function findQuery({ node, backend }: Targeted): DnsQuery | undefined {
  const { host: name } = backend
  if (name === null || findIp(name) || node.kind === 'plain') return undefined
  if (node.kind === 'local') return { name, server: null, families: [4, 6] }
  const families = new Set(findCidrs(node.subnets).map((subnet) => subnet.base.family))
  return { name, server: node.address4, families: [...families].sort() }
}

function literalAddress({ node, backend }: Targeted): string {
  return backend.host ?? (node.kind === 'local' ? '127.0.0.1' : node.address4)
}

/** @returns why this address may not be dialled for this row, or undefined when it may. */
function whyForbidden(row: Targeted, text: string, around: Surroundings): string | undefined {
  const ip = findIp(text)
  if (!ip) return `${text} is not an address.`
  const { node, backend } = row
  if (node.kind === 'plain' && backend.host !== null) return MESSAGES.backendHostRefused
  const fault = findFault(row, ip, around)
  if (fault) return `${formatIp(ip)} ${TARGET_FAULTS[fault]}.`
  if (node.kind !== 'gateway' || backend.host === null) return undefined
  // Outside the peer's own networks, packets would leave this machine by its default route.
  const networks = around.behindGateway.get(node.id) ?? []
  const isThere = networks.some((network) => containsIp(network, ip))
  return isThere ? undefined : `${formatIp(ip)} ${NOT_BEHIND}`
}

function findFault({ node, backend }: Targeted, ip: Ip, around: Surroundings): TargetFault | undefined {
  if (node.kind === 'local') return findLocalFault(ip, backend.port, around)
  if (node.kind === 'plain' || backend.host === null) return findNodeFault(ip, around.tunnel)
  return findGatewayFault(ip, findCidrs(node.subnets), around)
}

interface Surroundings extends Known {
  /** The networks behind each gateway that is in the tunnel, by its node's id. */
  behindGateway: ReadonlyMap<number, readonly Cidr[]>
}

/** The same object while its content is unchanged: peers come and go, and few of them are gateways. */
function createSurroundings() {
  let mark = ''
  let kept: Surroundings | undefined
  return (settings: TunnelSettings, peers: readonly Peer[], machine: Machine): Surroundings => {
    const gateways = peers.filter(({ subnets }) => subnets.length > 0)
    const own = machine.ownNetworks.map(({ address, network }) => [formatIp(address), formatCidr(network)])
    const behind = gateways.map(({ nodeId, subnets }) => [nodeId, subnets])
    const { publicHost, formerHosts, tunnelNetwork4, tunnelNetwork6 } = settings
    const said = [publicHost, formerHosts, tunnelNetwork4, tunnelNetwork6]
    const next = JSON.stringify([...said, machine.ownPorts, own, behind])
    if (kept && next === mark) return kept
    mark = next
    kept = surroundingsOf(settings, gateways, machine)
    return kept
  }
}

function surroundingsOf(
  settings: TunnelSettings,
  gateways: readonly Peer[],
  { ownNetworks, ownPorts }: Machine,
): Surroundings {
  const behindGateway = new Map(gateways.map(({ nodeId, subnets }) => [nodeId, findCidrs(subnets)]))
  const said = [settings.publicHost, ...settings.formerHosts].flatMap((host) => findIp(host) ?? [])
  return {
    tunnel: findCidrs([settings.tunnelNetwork4, settings.tunnelNetwork6]),
    behindGateway,
    behindGateways: [...behindGateway.values()].flat(),
    ownAddresses: [...ownNetworks.map(({ address }) => address), ...said],
    ownNetworks: ownNetworks.map(({ network }) => network),
    ownPorts,
  }
}
