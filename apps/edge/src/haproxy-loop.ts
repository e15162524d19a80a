import type { Challenge, EdgeCertificate, TunnelSettings } from '@postern/contract/edge/desired-state'
import type { PartState, Problem } from '@postern/contract/edge/edge'
import { rowsOf } from '@postern/contract/sections'
import { createSingleFlight } from '@postern/host/tasks'
import type { SignInSections } from '@postern/render/haproxy/maps/sign-in'
import type { RouteSections } from '@postern/render/resolved-route'
import type { Logger } from 'pino'
import { applyPart, logPart, type PartResult, wordsOf } from './drivers/part.ts'
import type { HeldState } from './state/held-state.ts'
import type { Wanted } from './state/wanted.ts'

/** What the loop needs of HAProxy's driver. */
export interface HaproxyPart {
  apply(wanted: {
    routes: RouteSections
    signIns: SignInSections
    certificates: readonly EdgeCertificate[]
    challenges: readonly Challenge[]
    settings: TunnelSettings
    logQuery: boolean
    isQuick: boolean
  }): Promise<Problem[]>
  /** The last apply left some work for the next one, which should follow at once. */
  needsAnotherApply(): boolean
  heldPorts(): number[]
  /** The state after the last apply or check. */
  state(): PartState
  check(): Promise<PartState>
}

export interface HaproxyLoopOptions {
  haproxy: HaproxyPart
  log: Logger
  /** Whether the log has the queries of requests. @param said what the server says of requests */
  logsQueries(said: TunnelSettings['requests']): boolean
  /** The wanted state now; undefined before the first one. */
  wanted(): Wanted | undefined
  /** Called with the routes that HAProxy uses from now on. */
  onRoutes(routes: RouteSections): void
  /** An apply has ended. @param isFull it compared everything */
  onApplied(state: HeldState, isFull: boolean): void
  /** A check found HAProxy in another state than it was left in. */
  onDrift(): void
}

export interface HaproxyOutcome extends PartResult {
  /** It keeps serving, and only changes wait. */
  isDiskFull?: boolean
}

/** Applies the wanted state to HAProxy, one apply at a time, independently of tunnel and firewall. */
export class HaproxyLoop {
  readonly #options: HaproxyLoopOptions
  readonly #applying = createSingleFlight(() => this.#apply())
  readonly #checking = createSingleFlight(() => this.#check())
  /** Undefined before the first apply. */
  outcome: HaproxyOutcome | undefined
  /** The newest revision that was confirmed by reading back. */
  inForce = 0
  /** `onApplied` has not been called yet. */
  isApplying = false
  /** The next apply compares everything, including what should be unchanged. */
  #isFullDue = true

  constructor(options: HaproxyLoopOptions) {
    this.#options = options
  }

  apply(): void {
    this.#applying.trigger()
  }

  applyAll(): void {
    this.#isFullDue = true
    this.#applying.trigger()
  }

  /** Checks whether it still runs, when no apply does. */
  check(): void {
    if (this.outcome && !this.#checking.isBusy() && !this.#applying.isBusy()) this.#checking.trigger()
  }

  /** Resolves when no apply is under way. */
  idle(): Promise<void> {
    return this.#applying.idle()
  }

  async close(): Promise<void> {
    this.#applying.close()
    await this.#applying.idle()
  }

  async #apply(): Promise<void> {
    const wanted = this.#options.wanted()
    if (!wanted) return
    const isFull = this.#isFullDue
    this.#isFullDue = false
    this.isApplying = true
    this.#take(await this.#make(wanted, !isFull))
    const isOk = this.outcome?.part.state === 'ok' && !this.outcome.isDiskFull
    const needsAnother = isOk && this.#options.haproxy.needsAnotherApply()
    if (isOk && !needsAnother) this.inForce = wanted.state.revision
    this.isApplying = false
    this.#options.onApplied(wanted.state, isFull)
    if (needsAnother) this.#applying.trigger()
  }

  async #make({ state, targets }: Wanted, isQuick: boolean): Promise<HaproxyOutcome> {
    const { haproxy, log, onRoutes, logsQueries } = this.#options
    const { certificates, settings, sections } = state
    const { signIns } = sections
    const unresolved: Problem[] = []
    const result = await applyPart('HAProxy', log, async () => {
      const { sections: routes, problems } = await targets
      unresolved.push(...problems)
      const challenges = rowsOf(sections.challenges)
      const logQuery = logsQueries(settings.requests)
      const contents = { routes, signIns, certificates, challenges }
      const found = await haproxy.apply({ ...contents, settings, logQuery, isQuick })
      onRoutes(routes)
      return { part: haproxy.state(), problems: found }
    })
    if (result.isDiskFull) return { ...result, part: haproxy.state() }
    return { ...result, problems: [...unresolved, ...result.problems] }
  }

  async #check(): Promise<void> {
    const before = this.outcome
    const part = await this.#options.haproxy.check().catch(failed)
    if (!before || !this.#take({ ...before, part })) return
    this.#options.onDrift()
    this.#applying.trigger()
  }

  /** @returns whether its state has changed */
  #take(outcome: HaproxyOutcome): boolean {
    const differs = logPart(this.#options.log, 'haproxy', this.outcome?.part, outcome.part)
    this.outcome = outcome
    return differs
  }
}

function failed(error: unknown): PartState {
  return { state: 'failed', detail: wordsOf(error) }
}
