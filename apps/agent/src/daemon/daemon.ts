import { createBackoff } from '@postern/host/backoff'
import type { WgPeer } from '@postern/host/wg-dump'
import { isIp } from '@postern/net/ip'
import type { DnsService } from '../dns/service.ts'
import { AgentError, messageOf } from '../errors.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import type { Wanted } from '../wanted.ts'
import type { ConfigurationReader } from './configuration.ts'
import type { Endpoint } from './endpoint.ts'
import { judgeHealth } from './health.ts'
import type { Log } from './log.ts'
import type { AgentState, DaemonStatus } from './status-file.ts'

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
  /** After a sleep: connections that look alive are not. */
  restartSocket(): void
  writeStatus(status: DaemonStatus): Promise<void>
  now(): number
  random(): number
  log: Log
}

const HEALTHY_PAUSE = 20_000
const SICK_PAUSE = 5000
const FIRST_PAUSE = 500
/** Between the first missed answer and the verdict. */
const DOUBT_PAUSE = 1000
/** So long after a change the tunnel is looked at often, because somebody may be waiting. */
const FIRST_WHILE = 30_000
const DRIFT_CHECK = 20_000
/** Missed answers in a row before the tunnel counts as sick: one lost packet is no illness. */
const MISSES = 3
const SLEPT = 30_000
const DISABLED = 'The node is disabled in the console'

type View = Pick<DaemonStatus, 'state' | 'outcome' | 'problem'>

function failureOf(error: unknown): View {
  const outcome = error instanceof AgentError ? error.code : 'failed'
  return { state: 'failed', outcome, problem: messageOf(error) }
}

/** One loop that reads what is wanted, makes it so, looks whether traffic passes, and waits; nothing runs beside it. */
export function createDaemon(options: DaemonOptions) {
  const { configuration, tunnel, endpoint, dns, now, log } = options
  const { held } = configuration
  const cure = createBackoff({ first: 1000, most: 60_000, random: options.random })
  let wake: () => void = () => undefined
  let status: DaemonStatus | undefined
  let notes: string[] = []
  let applied = { wanted: undefined as Wanted | undefined, at: 0, changedAt: 0 }
  let besides: string[] = []
  let misses = 0
  let cureAt = 0
  let isStanding = true

  const isSick = () => misses >= MISSES

  async function takeDown(): Promise<void> {
    if (!isStanding) return
    dns.close()
    await tunnel.remove()
    isStanding = false
    applied = { wanted: undefined, at: 0, changedAt: 0 }
    misses = 0
  }

  /** What the tunnel needs itself. While it is sick the name servers too, or a moved server is never found. */
  async function listBesides(): Promise<string[]> {
    const { hostname } = options.server
    const host = hostname.replace(/^\[|\]$/g, '')
    const server = isIp(host) ? [host] : await options.listAddresses(host).catch(() => besides)
    return [...endpoint.all(), ...server, ...(isSick() ? await options.listNameServers() : [])]
  }

  async function apply(wanted: Wanted, isCure: boolean): Promise<void> {
    const isNew = wanted !== applied.wanted
    if (!isNew && !isCure && now() - applied.at < DRIFT_CHECK) return
    if (isNew || isCure || endpoint.current() === undefined) {
      const problem = await endpoint.refresh(wanted.peer.host, isCure)
      if (problem) log(`endpoint: ${problem}`)
      if (endpoint.current() === undefined) throw new Error(`Cannot find the tunnel's other end: ${problem}`)
    }
    const address = endpoint.current() ?? ''
    besides = await listBesides()
    isStanding = true
    notes = await tunnel.apply({ wanted, address, beside: besides, dns: isSick() ? [] : wanted.dns })
    notes.push(...(await dns.apply(wanted)))
    if (isNew) log(`applied the configuration of node ${wanted.node.name}`)
    applied = { wanted, at: now(), changedAt: isNew ? now() : applied.changedAt }
  }

  async function observe(wanted: Wanted): Promise<View> {
    const answers = await options.isAnswering(wanted.edgeAddress)
    const peer = await options.observePeer()
    // Somebody removed the interface or ended wireguard-go: put right at once, not at the next look for drift.
    if (!peer) applied = { ...applied, at: 0 }
    const health = judgeHealth(wanted, peer, answers, endpoint.current() ?? '', now())
    misses = health.state === 'online' ? 0 : misses + 1
    if (misses === 0) cure.reset()
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
    const isCure = isSick() && now() >= cureAt
    if (isCure) cureAt = now() + cure.next()
    // A tunnel that does not answer may have been changed on the other side without a hint.
    if (isCure) configuration.hint()
    await apply(wanted, isCure)
    return await observe(wanted)
  }

  async function publish({ state, outcome, problem }: View): Promise<void> {
    const { wanted, serverReachable } = held
    const next: DaemonStatus = {
      version: options.version,
      state,
      outcome,
      problem,
      notes: held.problem === null || held.problem === problem ? notes : [...notes, held.problem],
      node: wanted ? { id: wanted.node.id, name: wanted.node.name } : null,
      addresses: wanted?.addresses ?? [],
      edgeAddress: wanted?.edgeAddress ?? null,
      serverReachable,
    }
    if (JSON.stringify(next) === JSON.stringify(status)) return
    if (next.state !== status?.state || next.problem !== status.problem)
      log(next.problem ? `${state}: ${next.problem}` : state)
    status = next
    await options.writeStatus(next)
  }

  function pauseLength(state: AgentState): number {
    if (state === 'online') return HEALTHY_PAUSE
    if (misses > 0 && !isSick()) return DOUBT_PAUSE
    return now() - applied.changedAt < FIRST_WHILE ? FIRST_PAUSE : SICK_PAUSE
  }

  async function round(): Promise<AgentState> {
    await configuration.readWhenDue()
    const view = await converge().catch(failureOf)
    await publish(view)
    return view.state
  }

  return {
    /** Somebody said that something changed. */
    hint() {
      configuration.hint()
      wake()
    },
    /** Runs until the signal; the tunnel stays as it is, for traffic outlives this program. */
    async run(signal: AbortSignal): Promise<void> {
      signal.addEventListener('abort', () => wake())
      while (!signal.aborted) {
        const state = await round()
        if (signal.aborted) break
        // From here to the pause nothing is awaited, so that no hint falls in between.
        const length = Math.min(configuration.dueIn(), pauseLength(state))
        const before = now()
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, length)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        if (now() - before < length + SLEPT) continue
        log('the machine slept')
        configuration.hint()
        options.restartSocket()
      }
      dns.close()
    },
  }
}
