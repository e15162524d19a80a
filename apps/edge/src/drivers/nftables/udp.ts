import type { Peer, TunnelSettings } from '@postern/contract/edge/desired-state'
import type { Problem } from '@postern/contract/edge/edge'
import type { PortFacts } from '@postern/contract/edge/edge-messages'
import type { Exec } from '@postern/host/processes/exec'
import { findIp } from '@postern/net/ip'
import type { PortSpan } from '@postern/render/haproxy/options'
import type { FirewallPlan } from '@postern/render/nftables/plan'
import type { ObservedTable } from '@postern/render/nftables/table'
import { findUdpService, UDP_SET_NAMES, type UdpService } from '@postern/render/nftables/udp'
import type { ResolvedPortRoute } from '@postern/render/resolved-route'
import { explainPort } from '../explain-port.ts'

export interface UdpOptions {
  /** Ports for UDP services, without the installation's own; default: none. */
  portRange?: PortSpan
  ownPorts?: readonly number[]
}

/**
 * Most addresses and networks in the lists of all UDP services: with more, nft would take too long and print too
 * much.
 */
const MOST_LISTED = 20_000

interface UdpWanted {
  settings: TunnelSettings
  peers: readonly Peer[]
  udp: readonly ResolvedPortRoute[] | undefined
}

interface FoundServices {
  services: UdpService[]
  problems: Problem[]
  /** The ports among theirs that other programs hold, with the users, as text. */
  found: string
  facts: UdpFacts
}

export interface UdpFacts extends Pick<PortFacts, 'ipv4Only' | 'ipv6Only'> {
  /** Ports of the range that other programs of this machine hold. */
  held: number[]
}

/**
 * The UDP services that can be carried, and why others cannot. A port that another program holds is left to it; but a
 * service that has its port keeps it when another user opens it later, unless that is root.
 * @param observed the table with the services that have their ports
 */
export async function findUdpServices(
  options: UdpOptions & { exec: Exec },
  { udp = [], settings, peers }: UdpWanted,
  observed: ObservedTable | undefined,
): Promise<FoundServices> {
  const all = await readOwners(options.exec)
  const served = new Set(observed?.sets.served?.map(Number))
  const enabled = udp.filter((route) => route.enabled && all.has(route.port)).map(({ port }) => port)
  const isLate = (port: number) => served.has(port) && !all.get(port)?.includes(ROOT)
  const held = enabled.filter((port) => !isLate(port))
  const services: UdpService[] = []
  const problems: Problem[] = enabled.filter(isLate).map((port) => tellLate(port, all.get(port)))
  let listed = 0
  for (const route of udp) {
    const service = findUdpService(route, peers, settings)
    if (!service) continue
    const entries = service.lists.allowed.length + service.lists.blocked.length
    if (listed + entries > MOST_LISTED) {
      const message = `The IP lists of all UDP services together have more than ${MOST_LISTED} entries.`
      problems.push({ scope: { kind: 'service', id: route.id }, message })
      continue
    }
    // Two services at one port would make nft refuse everything.
    const isTaken = held.includes(route.port) || services.some(({ port }) => port === route.port)
    const isPossible = isInRange(options, route.port) && !isTaken
    if (isPossible) {
      services.push(service)
      listed += entries
    }
    const message = isPossible
      ? whyUnreached(service, settings)
      : explainPort(route.port, options.portRange, isInRange(options, route.port))
    if (message) problems.push({ scope: { kind: 'service', id: route.id }, message })
  }
  const facts = {
    ipv4Only: services.flatMap(({ id, target6 }) => (target6 === undefined ? id : [])),
    ipv6Only: services.flatMap(({ id, target4 }) => (target4 === undefined ? id : [])),
    held: [...all.keys()].filter((port) => isInRange(options, port)).sort((a, b) => a - b),
  }
  return { services, problems, found: describe(enabled, all), facts }
}

const ROOT = 0

function tellLate(port: number, [uid]: readonly number[] = []): Problem {
  const message =
    `A program of user ${uid} has opened UDP port ${port} on this machine, which belongs to a service. ` +
    'Visitors still reach the service.'
  return { scope: { kind: 'edge' }, message }
}

export function isInRange({ portRange, ownPorts = [] }: UdpOptions, port: number): boolean {
  return portRange !== undefined && portRange.from <= port && port <= portRange.to && !ownPorts.includes(port)
}

/** A public host that is a name may have addresses of both kinds. */
function whyUnreached({ target4, target6 }: UdpService, { publicHost }: TunnelSettings): string | undefined {
  const family = findIp(publicHost)?.family
  if (family === undefined || (family === 4 ? target4 : target6)) return undefined
  const other = family === 4 ? 6 : 4
  return `Visitors come to ${publicHost} by IPv${family}, and this service's backend has only an IPv${other} address.`
}

/**
 * The ports of enabled services that programs of this machine hold, including ports of their own connections, as
 * text.
 */
export async function findHeldPorts(
  exec: Exec,
  udp: readonly Pick<ResolvedPortRoute, 'enabled' | 'port'>[],
): Promise<string> {
  const wanted = udp.filter(({ enabled }) => enabled).map(({ port }) => port)
  return wanted.length === 0 ? '' : describe(wanted, await readOwners(exec))
}

function describe(ports: readonly number[], owners: ReadonlyMap<number, readonly number[]>): string {
  return ports.flatMap((port) => (owners.has(port) ? `${port} ${owners.get(port)}` : [])).join()
}

/** Port → the users whose programs hold it. */
async function readOwners(exec: Exec): Promise<Map<number, number[]>> {
  const tables = await Promise.all(['udp', 'udp6'].map((name) => exec.readFile(`/proc/net/${name}`)))
  const owners = new Map<number, number[]>()
  for (const line of tables.flatMap((table) => (table ?? '').split('\n').slice(1))) {
    // Like `  12: 00000000:7F94 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000 …`.
    const [, local = '', , , , , , uid] = line.trim().split(/\s+/)
    const port = Number.parseInt(local.split(':')[1] ?? '', 16)
    if (port) owners.set(port, [...(owners.get(port) ?? []), Number(uid)])
  }
  return owners
}

export function leadsToLoopback({ target4 }: UdpService): boolean {
  return target4?.startsWith('127.') ?? false
}

/** All targets in the sets of a plan. */
export function targetsOf({ sets }: FirewallPlan): Set<string> {
  return new Set([...sets.targets4, ...sets.targets6])
}

export function withFormerTargets(plan: FirewallPlan, observed: ObservedTable | undefined): FirewallPlan {
  const both = (name: 'targets4' | 'targets6') => [
    ...new Set([...plan.sets[name], ...(observed?.sets[name] ?? [])]),
  ]
  return { ...plan, sets: { ...plan.sets, targets4: both('targets4'), targets6: both('targets6') } }
}

/** The ports of services for which the table in force differs from the plan. */
export function changedPorts(plan: FirewallPlan, observed: ObservedTable): Set<number> {
  const ports = new Set<number>()
  for (const name of UDP_SET_NAMES) {
    if (name === 'targets4' || name === 'targets6') continue
    const [wanted, present] = [new Set(plan.sets[name]), new Set(observed.sets[name])]
    for (const element of wanted.symmetricDifference(present)) ports.add(Number.parseInt(element, 10))
  }
  return ports
}
