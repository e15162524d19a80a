import type { DataPlane, PartState, Problem } from '@postern/contract/edge/edge'
import type { EdgeReport, InForce, PortFacts } from '@postern/contract/edge/edge-messages'
import { LIMITS } from '@postern/contract/limits'
import type { NftablesDriver } from './drivers/nftables/driver.ts'
import { isClosedDoor } from './drivers/nftables/foreign-chains.ts'
import type { WireGuardDriver } from './drivers/tunnel/driver.ts'
import { createFronts, type Fronts } from './fronts.ts'
import { HaproxyLoop, type HaproxyLoopOptions } from './haproxy-loop.ts'
import type { Names } from './names.ts'
import type { HeldState } from './state/held-state.ts'
import { StateSource, type StateSourceOptions } from './state/state-source.ts'
import { resolveWanted, type Wanted, type WantedParts } from './state/wanted.ts'
import { TunnelLoop, type TunnelLoopOptions, tunnelProblems } from './tunnel-loop.ts'

export interface LoopOptions
  extends Omit<StateSourceOptions, 'onProblem'>,
    WantedParts,
    Pick<HaproxyLoopOptions, 'haproxy' | 'onRoutes' | 'logsQueries'>,
    Pick<TunnelLoopOptions, 'hasKernelChanged'> {
  wireguard: WireGuardDriver
  nftables: NftablesDriver
  names: Pick<Names, 'find' | 'isBusy' | 'refresh' | 'settled'>
  report(report: EdgeReport): void
  /** Called once, after the first apply, or with null when the server has sent nothing to apply for too long. */
  onReady(dataPlane: DataPlane | null): void
  /** Why this machine cannot be observed. */
  observerProblems(): Problem[]
}

const FULL_CHECK_EVERY = 5000
const HAPROXY_CHECK_EVERY = 500
/** For the very first start, when the server is starting too, which takes a busy machine a while. */
const READY_WITHIN = 30_000

/**
 * Gets the state, has one loop apply it to HAProxy and another one to tunnel and firewall, and reports. The newest
 * state wins, and neither loop waits for the other.
 */
export class Loop {
  readonly #options: LoopOptions
  readonly #source: StateSource
  readonly #haproxy: HaproxyLoop
  readonly #tunnel: TunnelLoop
  readonly #fronts: Fronts
  readonly #timers = new Set<NodeJS.Timeout>()
  /** Undefined when it must be resolved again. */
  #wanted: Wanted | undefined
  #isReady = false

  constructor(options: LoopOptions) {
    this.#options = options
    const wanted = () => this.#want()
    this.#source = new StateSource({
      ...options,
      onState: (state) => {
        options.onState(state)
        this.requestApply()
      },
      onProblem: () => this.#report(),
    })
    this.#haproxy = new HaproxyLoop({
      ...options,
      wanted,
      onApplied: (state, isFull) => this.#onApplied(state, isFull),
      onDrift: () => this.#report(),
    })
    this.#fronts = createFronts(options.names)
    this.#tunnel = new TunnelLoop({
      ...options,
      wanted,
      fronts: this.#fronts,
      haproxyIdle: () => this.#haproxy.idle(),
      // Reported together with HAProxy's apply, which is about to end.
      onMade: () => this.#haproxy.isApplying || this.#report(),
      onOtherNetworks: () => this.requestApply(),
    })
  }

  /** Begins with the state of the last run. */
  async start(): Promise<void> {
    await this.#source.load()
    this.#source.fetch()
    this.#timers.add(setInterval(() => this.#checkEverything(), FULL_CHECK_EVERY))
    this.#timers.add(setInterval(() => this.#haproxy.check(), HAPROXY_CHECK_EVERY))
    this.#timers.add(setTimeout(() => this.#becomeReady(), READY_WITHIN))
  }

  /** The server has a newer revision. */
  hint(revision: number): void {
    this.#source.hint(revision)
  }

  /** The server knows no previous report. */
  onReconnect(): void {
    this.#report()
    this.#source.fetch()
  }

  /** The state, or something that its addresses depend on, has changed. */
  requestApply(): void {
    this.#wanted = undefined
    this.#haproxy.apply()
    this.#tunnel.apply()
  }

  /** The tunnel is no longer in the state it was left in. */
  repairTunnel(): void {
    this.#tunnel.repair()
  }

  /** There is a new problem to report. */
  tell(): void {
    this.#report()
  }

  /** What another program's firewall keeps from all visitors, in words. */
  wall(): string | null {
    return this.#tunnel.made?.nftables.problems.find(isClosedDoor)?.message ?? null
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#source.stop()
    await Promise.all([this.#haproxy.close(), this.#tunnel.close()])
    await this.#source.saved()
  }

  #want(): Wanted | undefined {
    const { state } = this.#source
    if (state) this.#wanted ??= resolveWanted(this.#options, state)
    return this.#wanted
  }

  #onApplied(state: HeldState, isFull: boolean): void {
    this.#report()
    // A newer state comes before the disk; the next full check saves in any case.
    if (isFull || this.#source.state === state) this.#source.save(state)
  }

  /** Hints can get lost, and other programs change this machine too. */
  #checkEverything(): void {
    const { names, targets } = this.#options
    names.refresh([...targets.queries(), ...this.#fronts.queries()])
    this.#wanted = undefined
    this.#haproxy.applyAll()
    this.#tunnel.check()
    this.#source.fetch()
  }

  /** As soon as every part has something to apply. */
  #dataPlane(): DataPlane | undefined {
    const { outcome } = this.#haproxy
    const { made } = this.#tunnel
    if (!outcome || !made) return undefined
    return { haproxy: outcome.part, wireguard: made.wireguard.part, nftables: made.nftables.part }
  }

  /** Before the first apply, the only thing to report is that the server's answer is refused. */
  #report(): void {
    const { refusal, revision } = this.#source
    const dataPlane = this.#dataPlane() ?? (refusal && idle(refusal))
    if (!dataPlane) return
    const inForce: InForce = { haproxy: this.#haproxy.inForce, ...this.#tunnel.inForce }
    this.#options.report({
      wanted: revision,
      applied: Math.min(...Object.values(inForce)),
      inForce,
      problems: this.#problems(),
      isStuck: refusal !== undefined || this.#haproxy.outcome?.isDiskFull === true,
      dataPlane,
      ports: this.#portFacts(),
    })
    this.#becomeReady()
  }

  /** Cut to the contract's limits on each message and on their number. */
  #problems(): Problem[] {
    const { state } = this.#source
    const { wireguard, nftables } = this.#tunnel.made ?? {}
    const found = [this.#haproxy.outcome, wireguard, nftables].flatMap((each) => each?.problems ?? [])
    const down = wireguard && state ? tunnelProblems(state, wireguard.part) : []
    return [...this.#source.problems(), ...this.#options.observerProblems(), ...found, ...down]
      .slice(0, LIMITS.edgeProblems)
      .map(({ scope, message }) => ({ scope, message: message.slice(0, LIMITS.problemLength) }))
  }

  #portFacts(): PortFacts {
    const { haproxy, nftables } = this.#options
    const { ipv4Only, ipv6Only, held } = nftables.facts()
    return {
      ipv4Only: few(ipv4Only),
      ipv6Only: few(ipv6Only),
      held: { tcp: few(haproxy.heldPorts()), udp: few(held) },
    }
  }

  #becomeReady(): void {
    if (this.#isReady) return
    this.#isReady = true
    this.#options.onReady(this.#dataPlane() ?? null)
  }
}

/** No part has anything to apply yet. */
function idle(detail: string): DataPlane {
  const part: PartState = { state: 'failed', detail }
  return { haproxy: part, wireguard: part, nftables: part }
}

/** At most as many as the contract allows. */
const few = (numbers: readonly number[]) => numbers.slice(0, LIMITS.edgePorts)
