import type { DataPlane, EdgeReport, InForce, PartState, PortFacts, Problem } from '@postern/contract/edge'
import { LIMITS } from '@postern/contract/limits'
import type { NftablesDriver } from './drivers/nftables/driver.ts'
import type { WireGuardDriver } from './drivers/tunnel/driver.ts'
import { HaproxyLoop, type HaproxyLoopOptions } from './haproxy-loop.ts'
import type { HeldState } from './held-state.ts'
import type { Names } from './names.ts'
import { StateSource, type StateSourceOptions } from './state-source.ts'
import { TunnelLoop, type TunnelLoopOptions, tunnelProblems } from './tunnel-loop.ts'
import { resolveWanted, type Wanted, type WantedParts } from './wanted.ts'

export interface LoopOptions
  extends Omit<StateSourceOptions, 'onRefused'>,
    WantedParts,
    Pick<HaproxyLoopOptions, 'haproxy' | 'onRoutes'>,
    Pick<TunnelLoopOptions, 'hasKernelChanged'> {
  wireguard: WireGuardDriver
  nftables: NftablesDriver
  names: Pick<Names, 'isBusy' | 'refresh' | 'settled'>
  report(report: EdgeReport): void
  /** Called once, after the first apply, or with null when the server has sent nothing to apply for too long. */
  onReady(dataPlane: DataPlane | null): void
  /** What keeps this machine from being observed. */
  observerProblems(): Problem[]
}

const FULL_CHECK_EVERY = 5000
const HAPROXY_CHECK_EVERY = 500
/** For the very first start, where the server is being started too; a busy machine takes its time for that. */
const READY_WITHIN = 30_000

/**
 * Gets the state, lets one loop make HAProxy as wanted and another one tunnel and firewall, and reports: the newest
 * state wins, and neither loop waits for what the other takes its time with.
 */
export class Loop {
  readonly #options: LoopOptions
  readonly #source: StateSource
  readonly #haproxy: HaproxyLoop
  readonly #tunnel: TunnelLoop
  readonly #timers = new Set<NodeJS.Timeout>()
  /** Undefined when it must be resolved anew. */
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
      onRefused: () => this.#report(),
    })
    this.#haproxy = new HaproxyLoop({
      ...options,
      wanted,
      onApplied: (state, isFull) => this.#onApplied(state, isFull),
      onDrift: () => this.#report(),
    })
    this.#tunnel = new TunnelLoop({
      ...options,
      wanted,
      haproxyIdle: () => this.#haproxy.idle(),
      // HAProxy's apply, which is about to end, is reported together with it.
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

  /** The server knows nothing of what was reported before. */
  onReconnect(): void {
    this.#report()
    this.#source.fetch()
  }

  /** The state has changed, or something that its addresses depend on. */
  requestApply(): void {
    this.#wanted = undefined
    this.#haproxy.apply()
    this.#tunnel.apply()
  }

  /** The tunnel is not as it was left. */
  repairTunnel(): void {
    this.#tunnel.repair()
  }

  /** There is another problem to tell of. */
  tell(): void {
    this.#report()
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

  /** Hints get lost, and other programs change this machine too. */
  #checkEverything(): void {
    const { names, targets } = this.#options
    names.refresh(targets.queries())
    this.#wanted = undefined
    this.#haproxy.applyAll()
    this.#tunnel.check()
    this.#source.fetch()
  }

  /** As far as every part has been given something to do. */
  #dataPlane(): DataPlane | undefined {
    const { outcome } = this.#haproxy
    const { made } = this.#tunnel
    if (!outcome || !made) return undefined
    return { haproxy: outcome.part, wireguard: made.wireguard.part, nftables: made.nftables.part }
  }

  /** Before the first apply there is nothing to report but that the server's answer is refused. */
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

  /** As the contract allows them: each message and their number are limited. */
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

/** No part has been given anything to do yet. */
function idle(detail: string): DataPlane {
  const part: PartState = { state: 'failed', detail }
  return { haproxy: part, wireguard: part, nftables: part }
}

/** As many as the contract allows. */
const few = (numbers: readonly number[]) => numbers.slice(0, LIMITS.edgePorts)
