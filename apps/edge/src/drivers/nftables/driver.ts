import type { Peer, TunnelSettings } from '@postern/contract/desired-state'
import type { Problem } from '@postern/contract/edge'
import { codeOf } from '@postern/host/errors'
import type { Exec } from '@postern/host/exec'
import { type FirewallPlan, planFirewall, type SetName, tableOf } from '@postern/render/nftables/plan'
import {
  isIsolating,
  type ObservedTable,
  renderFirewall,
  renderFreshTable,
} from '@postern/render/nftables/table'
import { UDP_SET_NAMES, type UdpService } from '@postern/render/nftables/udp'
import type { ResolvedPortRoute } from '@postern/render/resolved-route'
import type { Reading } from '../../counts/reading.ts'
import { errorFrom, PartFailedError, type PartResult } from '../part.ts'
import { findCrowding, makeRoomForConnections } from './connections.ts'
import { createCountReader } from './counts.ts'
import { endFlows } from './flows.ts'
import {
  countBytes,
  disableForwarding,
  enableForwarding,
  findGuarded,
  readForwarding,
  routeToLoopback,
} from './forwarding.ts'
import { mayLetPortIn, mentions, type NftChain, parseChains, parseTable } from './nft-json.ts'
import {
  changedPorts,
  findHeldPorts,
  findUdpServices,
  isInRange,
  leadsToLoopback,
  targetsOf,
  type UdpFacts,
  type UdpOptions,
  withFormerTargets,
} from './udp.ts'

export interface NftablesOptions extends UdpOptions {
  exec: Exec
  interface: string
  httpsPort: number
}

export interface NftablesWanted {
  settings: TunnelSettings
  peers: readonly Peer[]
  /** Undefined: nobody knows where they lead just now, and they stay as they are. */
  udp: readonly ResolvedPortRoute[] | undefined
}

export interface NftablesDriver {
  /** Makes our one table exact, from any state, and reads it back. @throws PartMissingError, PartFailedError */
  apply(wanted: NftablesWanted): Promise<PartResult>
  /** Whether what no event tells of is still as at the last apply; it starts no program. */
  isAsLeft(): Promise<boolean>
  /**
   * Whether nodes are kept from each other and from this machine, as far as the table could be read last. Without that
   * nobody may be let into the tunnel.
   */
  isIsolating(): boolean
  /** As the last apply found them. */
  facts(): UdpFacts
  /** What UDP services carried; undefined where there is no table of ours. */
  readCounts(): Promise<Reading | undefined>
  remove(): Promise<void>
}

/** What no event tells of. */
interface Left {
  udp: readonly ResolvedPortRoute[]
  found: string
  isCrowded: boolean
  forwarding: string
}

/** Long lists take their time. */
const TIMEOUT = { timeoutMs: 30_000 }
const ABSENT = /no such file or directory/i

export function createNftables(options: NftablesOptions): NftablesDriver {
  const { exec } = options
  const counts = createCountReader(async () => await listTable(options))
  // The first apply also ends flows that a previous edge process did not come to.
  let checksAllFlows = true
  let isolates = false
  let known: UdpFacts = { ipv4Only: [], ipv6Only: [], held: [] }
  let left: Left | undefined
  const isAsLeft = async ({ udp, found, isCrowded, forwarding }: Left) =>
    !checksAllFlows &&
    forwarding === (await readForwarding(exec)) &&
    found === (await findHeldPorts(exec, udp)) &&
    isCrowded === (await findCrowding(exec)).length > 0
  return {
    async apply(wanted) {
      left = undefined
      const observed = await observeTable(options)
      const { services, problems, found, facts } = await findUdpServices(options, wanted, observed)
      // Nobody knows where they lead just now.
      known = wanted.udp ? facts : { ...known, held: facts.held }
      const guarded = await findGuarded(exec, mustForward(wanted, services), tableOf(options.interface))
      const plan = counts.keepUnread(planFor(options, wanted, { services, guarded }, observed), observed)
      const note = (table: ObservedTable | undefined) => {
        isolates = isIsolating(plan, table)
      }
      note(observed)
      // Former targets stay until no flow leads to them: an edge that is killed in between finds them.
      const full = withFormerTargets(plan, observed)
      const changed = await makeTable(options, full, observed).catch(async (error: unknown) => {
        note(await makeWhatCanBe(options, plan))
        if (wanted.udp) await endTheirFlows(plan, observed, services)
        throw error
      })
      note(changed)
      const failure = wanted.udp && (await endTheirFlows(plan, observed, services))
      await makeTable(options, plan, changed)
      await routeToLoopback(exec, services.some(leadsToLoopback), plan.table)
      if (services.length > 0) await countBytes(exec)
      const drops = [
        ...(await letForward(options, wanted, services)),
        // Only advice about other programs' tables: all of ours is in force, even if theirs cannot be read.
        ...(await listClosedDoors(options).catch(() => [])),
      ]
      if (failure) throw failure
      const [small, crowded] = [await makeRoomForConnections(exec), await findCrowding(exec)]
      const forwarding = await readForwarding(exec)
      if (wanted.udp) left = { udp: wanted.udp, found, isCrowded: crowded.length > 0, forwarding }
      const all = [...problems, ...drops, ...small, ...crowded]
      return { part: { state: 'ok', detail: 'nftables' }, problems: all }
    },
    isAsLeft: async () => left === undefined || (await isAsLeft(left)),
    isIsolating: () => isolates,
    facts: () => known,
    readCounts: counts.read,
    async remove() {
      const table = tableOf(options.interface)
      await routeToLoopback(exec, false, table)
      await disableForwarding(exec, table)
      if (await observeTable(options)) await loadOrThrow(exec, `delete table inet ${table}\n`)
    },
  }

  /** @returns why they cannot be ended, if so */
  async function endTheirFlows(
    plan: FirewallPlan,
    observed: ObservedTable | undefined,
    services: readonly UdpService[],
  ): Promise<Error | undefined> {
    const ports = checksAllFlows || !observed ? null : changedPorts(plan, observed)
    const targets = targetsOf(withFormerTargets(plan, observed))
    checksAllFlows &&= targets.size > 0
    if (ports?.size === 0 || targets.size === 0) return undefined
    checksAllFlows = true
    const check = {
      exec,
      services,
      targets,
      ports,
      isServicePort: (port: number) => isInRange(options, port),
    }
    try {
      checksAllFlows = !(await endFlows(check))
      return undefined
    } catch (error) {
      return error instanceof Error ? error : new PartFailedError(String(error))
    }
  }
}

function planFor(
  options: NftablesOptions,
  wanted: NftablesWanted,
  { services, guarded }: { services: readonly UdpService[]; guarded: readonly string[] },
  observed: ObservedTable | undefined,
): FirewallPlan {
  const plan = planFirewall({ ...options, ...wanted, udp: services, guarded })
  if (wanted.udp) return plan
  const present = UDP_SET_NAMES.map((name) => [name, observed?.sets[name] ?? []])
  return {
    ...plan,
    sets: { ...plan.sets, ...Object.fromEntries(present) },
    counters: observed?.counters ?? [],
  }
}

/** @returns the table as it is then in force */
async function makeTable(
  options: NftablesOptions,
  plan: FirewallPlan,
  observed: ObservedTable | undefined,
): Promise<ObservedTable | undefined> {
  const change = renderFirewall(plan, observed)
  if (change === '') return observed
  const failure = await load(options.exec, change)
  // Somebody may have put in what a difference cannot take out.
  if (failure) await loadOrThrow(options.exec, observed ? renderFreshTable(plan) : change)
  const after = await observeTable(options)
  if (renderFirewall(plan, after) === '') return after
  throw new PartFailedError(`The table inet ${plan.table} does not stay as it was set.`)
}

/**
 * Where the plan as a whole fails: what is in force without all that is not planned any more, or if that fails too,
 * nothing but what keeps nodes from each other and from this machine.
 * @returns the table as it is then in force
 */
async function makeWhatCanBe(
  options: NftablesOptions,
  plan: FirewallPlan,
): Promise<ObservedTable | undefined> {
  const observed = await observeTable(options)
  const udp = (keep: (name: SetName) => string[]) =>
    Object.fromEntries(UDP_SET_NAMES.map((name) => [name, keep(name)]))
  const still = udp((name) => {
    const present = new Set(observed?.sets[name])
    return plan.sets[name].filter((element) => present.has(element))
  })
  const withdrawn = { ...plan, sets: { ...plan.sets, ...still }, counters: observed?.counters ?? [] }
  const none = udp(() => [])
  const bare = { ...plan, sets: { ...plan.sets, ...none }, counters: [], isBare: true }
  return makeTable(options, withdrawn, observed).catch(() => makeTable(options, bare, observed))
}

const needsInternet = (peers: readonly Peer[]) => peers.some((peer) => peer.allowInternet)

function mustForward({ peers }: NftablesWanted, services: readonly UdpService[]): boolean {
  return needsInternet(peers) || services.some((service) => !leadsToLoopback(service))
}

/** @returns what keeps the packets from being forwarded */
async function letForward(
  options: NftablesOptions,
  wanted: NftablesWanted,
  services: readonly UdpService[],
): Promise<Problem[]> {
  if (!mustForward(wanted, services)) return []
  const forwarded = services.filter((service) => !leadsToLoopback(service))
  await enableForwarding(options.exec)
  const passes = (listing: string) => mentions(listing, options.interface)
  const drops = await findForeignDrops(options, 'forward', passes)
  const say = (scope: Problem['scope'], whom: string) =>
    drops.map(({ family, table, name }) => ({
      scope,
      message: `The chain ${name} of the table ${family} ${table} (made by another program, as Docker or ufw do) drops forwarded packets: ${whom} until it lets those of ${options.interface} pass.`,
    }))
  return [
    ...(needsInternet(wanted.peers) ? say({ kind: 'edge' }, 'nodes do not reach the internet') : []),
    ...forwarded.flatMap(({ id }) => say({ kind: 'service', id }, 'visitors do not reach this service')),
  ]
}

/** Nothing of it is as planned, so that it is replaced as a whole. */
const UNREADABLE: ObservedTable = { chains: [], sets: {}, counters: [] }

async function observeTable(options: NftablesOptions): Promise<ObservedTable | undefined> {
  try {
    const json = await listTable(options)
    return json === undefined ? undefined : parseTable(json)
  } catch (error) {
    // A table that somebody has filled: ours is never as large.
    if (codeOf(error) === 'exec_output') return UNREADABLE
    throw error
  }
}

async function listTable(options: NftablesOptions): Promise<string | undefined> {
  const table = ['inet', tableOf(options.interface)]
  const { code, stdout, stderr } = await options.exec.run('nft', ['-j', 'list', 'table', ...table], TIMEOUT)
  if (code === 0) return stdout
  if (ABSENT.test(stderr)) return undefined
  throw errorFrom('nft', stderr)
}

/** @returns why nft refused the whole transaction, if it did. */
async function load(exec: Exec, change: string): Promise<Error | undefined> {
  const { code, stderr } = await exec.run('nft', ['-f', '-'], { ...TIMEOUT, input: change })
  // nft ends its complaint with the line it did not like and a row of carets: the first line is the reason.
  return code === 0 ? undefined : errorFrom('nft', stderr.trim().split('\n')[0] ?? '')
}

async function loadOrThrow(exec: Exec, change: string): Promise<void> {
  const failure = await load(exec, change)
  if (failure) throw failure
}

/** A firewall like ufw that lets visitors not even come to HAProxy, of which nothing here would tell. */
async function listClosedDoors(options: NftablesOptions): Promise<Problem[]> {
  const { httpsPort } = options
  const closed = await findForeignDrops(options, 'input', (listing) => mayLetPortIn(listing, httpsPort))
  return closed.map(({ family, table, name }) => ({
    scope: { kind: 'edge' },
    message: `Visitors cannot reach anything until the chain ${name} of the table ${family} ${table} lets TCP port ${httpsPort} in. Another program made it, as ufw or firewalld do.`,
  }))
}

/**
 * Docker, ufw and others drop what they do not know; what another table drops, ours cannot bring back.
 * @param passes whether a table, as nft lists it, lets ours through
 */
async function findForeignDrops(
  options: NftablesOptions,
  hook: 'input' | 'forward',
  passes: (listing: string) => boolean,
): Promise<NftChain[]> {
  const { code, stdout, stderr } = await options.exec.run('nft', ['-j', 'list', 'chains'], TIMEOUT)
  if (code !== 0) throw errorFrom('nft', stderr)
  const suspects = parseChains(stdout).filter(
    (chain) => chain.hook === hook && chain.policy === 'drop' && chain.table !== tableOf(options.interface),
  )
  const drops: NftChain[] = []
  for (const chain of suspects) {
    // A chain that it jumps to may be the one that lets ours pass.
    const args = ['-j', 'list', 'table', chain.family, chain.table]
    const listing = await options.exec.run('nft', args, TIMEOUT)
    if (listing.code !== 0 || !passes(listing.stdout)) drops.push(chain)
  }
  return drops
}
