import type { Peer, TunnelSettings } from '@postern/contract/edge/desired-state'
import type { Problem } from '@postern/contract/edge/edge'
import { codeOf } from '@postern/host/errors'
import type { Exec } from '@postern/host/processes/exec'
import {
  type FirewallInput,
  type FirewallPlan,
  planFirewall,
  type SetName,
  tableOf,
} from '@postern/render/nftables/plan'
import {
  isIsolating,
  type ObservedTable,
  renderFirewall,
  renderFreshTable,
} from '@postern/render/nftables/table'
import { UDP_SET_NAMES, type UdpService } from '@postern/render/nftables/udp'
import type { ResolvedPortRoute } from '@postern/render/resolved-route'
import type { Reading } from '../../counts/reading.ts'
import { needsInternet } from '../../fronts.ts'
import { errorFrom, PartFailedError, type PartResult } from '../part.ts'
import { findCrowding, makeRoomForConnections, makeRoomForPieces } from './connections.ts'
import { createCountReader } from './counts.ts'
import { endFlows } from './flows.ts'
import { listClosedDoors, listForwardDrops } from './foreign-chains.ts'
import {
  countBytes,
  disableForwarding,
  enableForwarding,
  findGuarded,
  readForwarding,
  routeToLoopback,
} from './forwarding.ts'
import { createNeighbours } from './neighbours.ts'
import { parseTable } from './nft-json.ts'
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
  /** The user of HAProxy, if it is another than root. */
  proxyUid?: number | undefined
}

export interface NftablesWanted {
  settings: TunnelSettings
  peers: readonly Peer[]
  /** Undefined: their targets are unknown for now, and they stay as they are. */
  udp: readonly ResolvedPortRoute[] | undefined
  /** The addresses of the installation, where nodes with internet access find the edge and nothing else. */
  fronts?: readonly string[]
}

export interface NftablesDriver {
  /** Makes our one table exact, from any state, and reads it back. @throws PartMissingError, PartFailedError */
  apply(wanted: NftablesWanted): Promise<PartResult>
  /** Whether settings for which there are no events are still as after the last apply; it starts no program. */
  isAsLeft(): Promise<boolean>
  /**
   * Whether nodes were isolated from each other and from this machine when the table was last read. If not, no node
   * may be let into the tunnel.
   */
  isIsolating(): boolean
  /** As the last apply found them. */
  facts(): UdpFacts
  /** The traffic of UDP services; undefined when our table does not exist. */
  readCounts(): Promise<Reading | undefined>
  remove(): Promise<void>
}

/** Settings for which there are no events. */
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
  const neighbours = createNeighbours(options)
  // The first apply also ends flows that a previous edge process did not come to end.
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
      // Their targets are unknown for now.
      known = wanted.udp ? facts : { ...known, held: facts.held }
      const guarded = await findGuarded(exec, mustForward(wanted, services), tableOf(options.interface))
      const room = await makeRoomForPieces(exec)
      const closed = needsInternet(wanted.peers) ? await neighbours.read() : []
      const around = { services, guarded, fragmentRoom: room, neighbours: closed }
      const plan = counts.keepUnread(planFor(options, wanted, around, observed), observed)
      const updateIsolation = (table: ObservedTable | undefined) => {
        isolates = isIsolating(plan, table)
      }
      updateIsolation(observed)
      // Former targets stay until no flow leads to them: an edge that is killed in between finds them.
      const full = withFormerTargets(plan, observed)
      const changed = await makeTable(options, full, observed).catch(async (error: unknown) => {
        updateIsolation(await makeWhatCanBe(options, plan))
        if (wanted.udp) await endTheirFlows(plan, observed, services)
        throw error
      })
      updateIsolation(changed)
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
  {
    services,
    ...around
  }: Pick<FirewallInput, 'guarded' | 'fragmentRoom' | 'neighbours'> & {
    services: readonly UdpService[]
  },
  observed: ObservedTable | undefined,
): FirewallPlan {
  const plan = planFirewall({ ...options, ...wanted, ...around, udp: services })
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
  // Somebody may have added something that a difference cannot remove.
  if (failure) await loadOrThrow(options.exec, observed ? renderFreshTable(plan) : change)
  const after = await observeTable(options)
  if (renderFirewall(plan, after) === '') return after
  throw new PartFailedError(`The table inet ${plan.table} does not stay as it was set.`)
}

/**
 * When the whole plan fails: removes only what is no longer planned or, if that fails too, everything but the
 * isolation of nodes.
 * @returns the table that is then in force
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
  return await makeTable(options, withdrawn, observed).catch(async () => {
    // It has none of what guards these.
    await Promise.allSettled([
      routeToLoopback(options.exec, false, plan.table),
      disableForwarding(options.exec, plan.table),
    ])
    return await makeTable(options, bare, observed)
  })
}

function mustForward({ peers }: NftablesWanted, services: readonly UdpService[]): boolean {
  return needsInternet(peers) || services.some((service) => !leadsToLoopback(service))
}

/** @returns problems with other programs' chains that drop the packets */
async function letForward(
  options: NftablesOptions,
  wanted: NftablesWanted,
  services: readonly UdpService[],
): Promise<Problem[]> {
  if (!mustForward(wanted, services)) return []
  await enableForwarding(options.exec)
  const forwarded = services.filter((service) => !leadsToLoopback(service))
  return await listForwardDrops(options, { internet: needsInternet(wanted.peers), services: forwarded })
}

/** Differs from any plan, so that the table is replaced as a whole. */
const UNREADABLE: ObservedTable = { chains: [], sets: {}, counters: [] }

async function observeTable(options: NftablesOptions): Promise<ObservedTable | undefined> {
  try {
    const json = await listTable(options)
    return json === undefined ? undefined : parseTable(json)
  } catch (error) {
    // Somebody has filled the table: ours is never so large.
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
  // nft's error ends with the offending line and a row of carets: the first line is the reason.
  return code === 0 ? undefined : errorFrom('nft', stderr.trim().split('\n')[0] ?? '')
}

async function loadOrThrow(exec: Exec, change: string): Promise<void> {
  const failure = await load(exec, change)
  if (failure) throw failure
}
