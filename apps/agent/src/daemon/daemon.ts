import { setTimeout as pause } from 'node:timers/promises'
import type { AgentReport } from '@postern/contract/agent/agent-report'
import { messageOf } from '@postern/host/errors'
import { createBell } from '@postern/host/tasks'
import type { WgPeer } from '@postern/host/wg-dump'
import { isIp } from '@postern/net/ip'
import type { Sources } from '../discovery/sources.ts'
import type { DnsService } from '../dns/forwarder.ts'
import { AgentError } from '../errors.ts'
import type { Log } from '../io.ts'
import type { AgentState, DaemonStatus, EdgeStatus } from '../store.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import type { Wanted } from '../wanted.ts'
import type { ConfigurationReader } from './configuration.ts'
import { createEdges, type EdgeWatch } from './edges.ts'

export interface DaemonOptions {
  version: string
  server: URL
  configuration: ConfigurationReader
  tunnel: Tunnel
  dns: DnsService
  /** Undefined: there is no interface. */
  observePeers(): Promise<readonly WgPeer[] | undefined>
  isAnswering(address: string): Promise<boolean>
  listAddresses(host: string): Promise<string[]>
  listNameServers(): Promise<string[]>
  /** After sleep, connections that look alive are dead. */
  restartSocket(): void
  /** The part that publishes services. */
  sources: Pick<Sources, 'services' | 'problems'>
  writeStatus(status: DaemonStatus): Promise<void>
  /** Tells the server what this agent sees. */
  report(report: AgentReport): void
  now(): number
  random(): number
  log: Log
}

const ONLINE_PAUSE = 20_000
const BROKEN_PAUSE = 5000
const RECENT_PAUSE = 500
/** The pause after a missed answer, until it is certain. */
const UNSURE_PAUSE = 1000
/** How long after a change to check often, because a person may be waiting. */
const RECENTLY = 30_000
const DRIFT_CHECK = 20_000
/** How long the tunnel waits for the names of edges when it knows where one is. */
const NAME_PATIENCE = 1000
const SLEPT = 30_000
const DISABLED = 'The node is disabled. Enable it in the console'

const listEndpoints = (watches: readonly EdgeWatch[]) => watches.map(({ endpoint }) => endpoint.current())

type View = Pick<DaemonStatus, 'state' | 'outcome' | 'problem' | 'edges'>

function failureOf(error: unknown): View {
  const outcome = error instanceof AgentError ? error.code : 'failed'
  return { state: 'failed', outcome, problem: messageOf(error) }
}

/** Applies the wanted configuration, and checks that traffic passes. */
function createReconciler(options: DaemonOptions, wake: () => void) {
  const { configuration, tunnel, dns, now, log } = options
  const { held } = configuration
  const edges = createEdges({ ...options, onBack: wake })
  /** Why its endpoint was not found the last time. */
  const told = new WeakMap<EdgeWatch, string | undefined>()
  let watches: readonly EdgeWatch[] = []
  let notes: string[] = []
  let applied = { wanted: undefined as Wanted | undefined, at: 0, changedAt: 0 }
  let outside: string[] = []
  let isUp = true

  const look = () => {
    applied = { ...applied, at: 0 }
  }
  /** All traffic and name servers in the tunnel are reached through the edge beside the server. */
  const isBroken = () => watches[0]?.isBroken() === true

  async function takeDown(): Promise<void> {
    if (!isUp) return
    dns.close()
    await tunnel.remove()
    isUp = false
    applied = { wanted: undefined, at: 0, changedAt: 0 }
    edges.forget()
    watches = []
  }

  /**
   * Hosts that the tunnel itself needs. While it is broken also the name servers, or it would never find a moved
   * server.
   */
  async function listOutside(): Promise<string[]> {
    const { hostname } = options.server
    const host = hostname.replace(/^\[|\]$/g, '')
    const server = isIp(host) ? [host] : await options.listAddresses(host).catch(() => outside)
    const ends = watches.flatMap(({ endpoint }) => endpoint.all())
    return [...ends, ...server, ...(isBroken() ? await options.listNameServers() : [])]
  }

  /** An edge whose name cannot be found does not hold up the others. */
  async function findEndpoints(sought: readonly EdgeWatch[], moveOn: readonly EdgeWatch[]): Promise<void> {
    let problem: string | undefined
    const find = async (watch: EdgeWatch) => {
      const found = await watch.refresh(moveOn.includes(watch))
      if (found && found !== told.get(watch)) log(`endpoint: ${found}`)
      told.set(watch, found)
      problem ??= found
    }
    const before = listEndpoints(sought)
    const all = Promise.all(sought.map(find))
    const isKnown = () => watches.some(({ endpoint }) => endpoint.current() !== undefined)
    const isLate = await Promise.race([all.then(() => false), pause(NAME_PATIENCE, true, { ref: false })])
    if (!isLate || !isKnown()) await all
    else
      void all.then(() => {
        if (listEndpoints(sought).join() === before.join()) return
        look()
        wake()
      })
    if (!isKnown()) throw new Error(`Cannot find the server's end of the tunnel: ${problem}`)
  }

  async function apply(wanted: Wanted, due: readonly EdgeWatch[]): Promise<void> {
    const isNew = wanted !== applied.wanted
    if (!isNew && due.length === 0 && now() - applied.at < DRIFT_CHECK) return
    const isUnknown = ({ endpoint }: EdgeWatch) => endpoint.current() === undefined
    const sought = watches.filter((watch) => isNew || due.includes(watch) || isUnknown(watch))
    if (sought.length > 0) await findEndpoints(sought, due)
    const endpoints = listEndpoints(watches)
    outside = await listOutside()
    isUp = true
    notes = await tunnel.apply({ wanted, endpoints, outside, dns: isBroken() ? [] : wanted.dns })
    notes.push(...(await dns.apply(wanted)))
    if (isNew) log(`applied the configuration of node ${wanted.node.name}`)
    applied = { wanted, at: now(), changedAt: isNew ? now() : applied.changedAt }
  }

  async function observe(): Promise<View> {
    const found = await options.observePeers()
    const isPatient = watches.every((watch) => watch.isBroken())
    const views = await Promise.all(
      watches.map(async (watch): Promise<EdgeStatus> => {
        const { name, publicKey, edgeAddress: address } = watch.peer
        const peer = found?.find((one) => one.publicKey === publicKey)
        // The peer, the interface or wireguard-go is gone: repair it now, not at the next check for drift.
        if (!peer) look()
        return { name, publicKey, address, ...(await watch.judge(peer, isPatient)) }
      }),
    )
    const [best] = [...views.filter(({ state }) => state === 'online'), ...views]
    const { state = 'online', problem = null } = best ?? {}
    return { state, outcome: state === 'online' ? 'ok' : state, problem, edges: views }
  }

  async function converge(): Promise<View> {
    const { wanted, refused, problem } = held
    if (refused || !wanted?.node.enabled) {
      await takeDown()
      if (refused) return { state: 'refused', outcome: 'token-refused', problem: refused }
      if (wanted) return { state: 'disabled', outcome: 'node-disabled', problem: DISABLED }
      return { state: problem ? 'failed' : 'connecting', outcome: held.outcome, problem }
    }
    watches = edges.follow(wanted.peers)
    const due = watches.filter((watch) => watch.isRetryDue())
    // The server's side may have changed without a hint.
    if (due.some((watch) => watch === watches[0])) configuration.hint()
    await apply(wanted, due)
    return await observe()
  }

  return {
    converge: () => converge().catch(failureOf),
    /** Applies all of it at the next round. */
    look,
    /** The same, with the peers treated as new. */
    renew(): void {
      tunnel.renew()
      look()
    },
    /** What does not work although the tunnel is up, in words. */
    notes: () => notes,
    pauseLength(state: AgentState): number {
      if (state === 'online' && watches.every((watch) => !watch.isBroken() && !watch.isUnsure()))
        return ONLINE_PAUSE
      if (watches.some((watch) => watch.isUnsure())) return UNSURE_PAUSE
      return state !== 'online' && now() - applied.changedAt < RECENTLY ? RECENT_PAUSE : BROKEN_PAUSE
    },
  }
}

/**
 * Stores what `postern status` shows, and logs what a person should read.
 * @param notes of the tunnel
 */
function createReporter(options: DaemonOptions, notes: () => readonly string[]) {
  const { held } = options.configuration
  let status: DaemonStatus | undefined

  return async function publish({ state, outcome, problem, edges }: View): Promise<void> {
    const { wanted, serverReachable } = held
    if (state !== 'refused') options.report({ ...options.tunnel.taken(), beyond: held.leftOut })
    const away = edges?.flatMap((edge) => (edge.problem && edge.problem !== problem ? edge.problem : []))
    const all = [...(away ?? []), ...held.beyond, ...notes(), ...options.sources.problems()]
    const next: DaemonStatus = {
      version: options.version,
      state,
      outcome,
      problem,
      notes: held.problem === null || held.problem === problem ? all : [...all, held.problem],
      node: wanted ? { id: wanted.node.id, name: wanted.node.name } : null,
      addresses: wanted?.addresses ?? [],
      edgeAddress: wanted?.peers[0].edgeAddress ?? null,
      edges,
      serverReachable,
      published: options.sources.services(),
    }
    if (JSON.stringify(next) === JSON.stringify(status)) return
    for (const note of [...held.beyond, ...(away ?? [])]) if (!status?.notes.includes(note)) options.log(note)
    if (next.state !== status?.state || next.problem !== status.problem)
      options.log(next.problem ? `${state}: ${next.problem}` : state)
    status = next
    await options.writeStatus(next)
  }
}

/** One loop: read the configuration, apply it, check that traffic passes, wait. Nothing runs in parallel. */
export function createDaemon(options: DaemonOptions) {
  const { configuration, dns, now, log } = options
  const bell = createBell()
  const reconciler = createReconciler(options, bell.ring)
  const publish = createReporter(options, reconciler.notes)
  let due: 'look' | 'renew' | undefined

  async function round(): Promise<AgentState> {
    await configuration.readWhenDue()
    const view = await reconciler.converge()
    await publish(view)
    return view.state
  }

  return {
    /** The status has news. */
    wake: bell.ring,
    /** This machine has moved to another network: a packet through the tunnel shows the server the new address. */
    moved() {
      due = 'renew'
      bell.ring()
    },
    /** Other programs now listen on published ports. */
    listening() {
      due ??= 'look'
      bell.ring()
    },
    /** The server has sent a hint. */
    hint() {
      configuration.hint()
      bell.ring()
    },
    /** Runs until the signal. The tunnel stays up, so that traffic outlives this program. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        if (due) reconciler[due]()
        due = undefined
        const state = await round()
        if (signal.aborted) break
        const length = Math.min(configuration.dueIn(), reconciler.pauseLength(state))
        const before = now()
        await bell.next(length, signal)
        if (now() - before < length + SLEPT) continue
        log('the machine slept')
        configuration.hint()
        options.restartSocket()
      }
      dns.close()
    },
  }
}
