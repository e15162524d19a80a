import type { AgentReport } from '@postern/contract/agent/agent-report'
import { createBackoff } from '@postern/host/backoff'
import { messageOf } from '@postern/host/errors'
import { createBell } from '@postern/host/tasks'
import type { WgPeer } from '@postern/host/wg-dump'
import { isIp } from '@postern/net/ip'
import type { Sources } from '../discovery/sources.ts'
import type { DnsService } from '../dns/forwarder.ts'
import { AgentError } from '../errors.ts'
import type { Log } from '../io.ts'
import type { AgentState, DaemonStatus } from '../store.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import type { Wanted } from '../wanted.ts'
import type { ConfigurationReader } from './configuration.ts'
import type { Endpoint } from './endpoint.ts'
import { judgeHealth } from './health.ts'

export interface DaemonOptions {
  version: string
  server: URL
  configuration: ConfigurationReader
  tunnel: Tunnel
  endpoint: Endpoint
  dns: DnsService
  observePeer(): Promise<WgPeer | undefined>
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
/** Missed answers in a row before the tunnel counts as broken. One lost packet does not. */
const MISSES = 3
const SLEPT = 30_000
const DISABLED = 'The node is disabled. Enable it in the console'

type View = Pick<DaemonStatus, 'state' | 'outcome' | 'problem'>

function failureOf(error: unknown): View {
  const outcome = error instanceof AgentError ? error.code : 'failed'
  return { state: 'failed', outcome, problem: messageOf(error) }
}

/** Applies the wanted configuration, and checks that traffic passes. */
function createReconciler(options: DaemonOptions) {
  const { configuration, tunnel, endpoint, dns, now, log } = options
  const { held } = configuration
  const retryBackoff = createBackoff({ first: 1000, most: 60_000, random: options.random })
  let notes: string[] = []
  let applied = { wanted: undefined as Wanted | undefined, at: 0, changedAt: 0 }
  let outside: string[] = []
  let misses = 0
  let retryAt = 0
  let isUp = true

  const isBroken = () => misses >= MISSES

  async function takeDown(): Promise<void> {
    if (!isUp) return
    dns.close()
    await tunnel.remove()
    isUp = false
    applied = { wanted: undefined, at: 0, changedAt: 0 }
    misses = 0
  }

  /**
   * Hosts that the tunnel itself needs. While it is broken also the name servers, or it would never find a moved
   * server.
   */
  async function listOutside(): Promise<string[]> {
    const { hostname } = options.server
    const host = hostname.replace(/^\[|\]$/g, '')
    const server = isIp(host) ? [host] : await options.listAddresses(host).catch(() => outside)
    return [...endpoint.all(), ...server, ...(isBroken() ? await options.listNameServers() : [])]
  }

  async function apply(wanted: Wanted, isRetry: boolean): Promise<void> {
    const isNew = wanted !== applied.wanted
    if (!isNew && !isRetry && now() - applied.at < DRIFT_CHECK) return
    if (isNew || isRetry || endpoint.current() === undefined) {
      const problem = await endpoint.refresh(wanted.peer.host, isRetry)
      if (problem) log(`endpoint: ${problem}`)
      if (endpoint.current() === undefined)
        throw new Error(`Cannot find the server's end of the tunnel: ${problem}`)
    }
    const address = endpoint.current() ?? ''
    outside = await listOutside()
    isUp = true
    notes = await tunnel.apply({ wanted, address, outside, dns: isBroken() ? [] : wanted.dns })
    notes.push(...(await dns.apply(wanted)))
    if (isNew) log(`applied the configuration of node ${wanted.node.name}`)
    applied = { wanted, at: now(), changedAt: isNew ? now() : applied.changedAt }
  }

  async function observe(wanted: Wanted): Promise<View> {
    const answers = await options.isAnswering(wanted.edgeAddress)
    const peer = await options.observePeer()
    // The interface or wireguard-go is gone: repair it now, not at the next check for drift.
    if (!peer) applied = { ...applied, at: 0 }
    const health = judgeHealth(wanted, peer, answers, endpoint.current() ?? '', now())
    misses = health.state === 'online' ? 0 : misses + 1
    if (misses === 0) retryBackoff.reset()
    const { state } = health
    return { state, outcome: state === 'online' ? 'ok' : state, problem: health.problem }
  }

  async function converge(): Promise<View> {
    const { wanted, refused, problem } = held
    if (refused || !wanted?.node.enabled) {
      await takeDown()
      if (refused) return { state: 'refused', outcome: 'token-refused', problem: refused }
      if (wanted) return { state: 'disabled', outcome: 'node-disabled', problem: DISABLED }
      return { state: problem ? 'failed' : 'connecting', outcome: held.outcome, problem }
    }
    const isRetry = isBroken() && now() >= retryAt
    if (isRetry) retryAt = now() + retryBackoff.next()
    // The server's side may have changed without a hint.
    if (isRetry) configuration.hint()
    await apply(wanted, isRetry)
    return await observe(wanted)
  }

  return {
    converge: () => converge().catch(failureOf),
    /** Applies all of it at the next round. */
    look(): void {
      applied = { ...applied, at: 0 }
    },
    /** The same, with the peer treated as new. */
    renew(): void {
      tunnel.renew()
      applied = { ...applied, at: 0 }
    },
    /** What does not work although the tunnel is up, in words. */
    notes: () => notes,
    pauseLength(state: AgentState): number {
      if (state === 'online') return ONLINE_PAUSE
      if (misses > 0 && !isBroken()) return UNSURE_PAUSE
      return now() - applied.changedAt < RECENTLY ? RECENT_PAUSE : BROKEN_PAUSE
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

  return async function publish({ state, outcome, problem }: View): Promise<void> {
    const { wanted, serverReachable } = held
    if (state !== 'refused') options.report({ ...options.tunnel.taken(), beyond: held.leftOut })
    const all = [...held.beyond, ...notes(), ...options.sources.problems()]
    const next: DaemonStatus = {
      version: options.version,
      state,
      outcome,
      problem,
      notes: held.problem === null || held.problem === problem ? all : [...all, held.problem],
      node: wanted ? { id: wanted.node.id, name: wanted.node.name } : null,
      addresses: wanted?.addresses ?? [],
      edgeAddress: wanted?.edgeAddress ?? null,
      serverReachable,
      published: options.sources.services(),
    }
    if (JSON.stringify(next) === JSON.stringify(status)) return
    for (const note of held.beyond) if (!status?.notes.includes(note)) options.log(note)
    if (next.state !== status?.state || next.problem !== status.problem)
      options.log(next.problem ? `${state}: ${next.problem}` : state)
    status = next
    await options.writeStatus(next)
  }
}

/** One loop: read the configuration, apply it, check that traffic passes, wait. Nothing runs in parallel. */
export function createDaemon(options: DaemonOptions) {
  const { configuration, dns, now, log } = options
  const reconciler = createReconciler(options)
  const publish = createReporter(options, reconciler.notes)
  const bell = createBell()
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
