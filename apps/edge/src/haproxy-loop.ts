import type { Challenge, EdgeCertificate, TunnelSettings } from '@postern/contract/desired-state'
import type { PartState, Problem } from '@postern/contract/edge'
import { rowsOf } from '@postern/contract/sections'
import { messageOf } from '@postern/host/errors'
import { createSingleFlight } from '@postern/host/tasks'
import type { SignInSections } from '@postern/render/haproxy/maps/sign-in'
import type { RouteSections } from '@postern/render/resolved-route'
import type { Logger } from 'pino'
import { applyPart, logPart, type PartResult } from './drivers/part.ts'
import type { HeldState } from './held-state.ts'
import type { Wanted } from './wanted.ts'

/** What the loop asks of HAProxy's driver. */
export interface HaproxyPart {
  apply(wanted: {
    routes: RouteSections
    signIns: SignInSections
    certificates: readonly EdgeCertificate[]
    challenges: readonly Challenge[]
    settings: TunnelSettings
    isQuick: boolean
  }): Promise<Problem[]>
  /** The last apply left something for the next one, which should follow at once. */
  needsAnotherApply(): boolean
  heldPorts(): number[]
  /** As the last apply or check left it. */
  state(): PartState
  check(): Promise<PartState>
}

export interface HaproxyLoopOptions {
  haproxy: HaproxyPart
  log: Logger
  /** What is to be made now; undefined before the first state. */
  wanted(): Wanted | undefined
  /** The routes that HAProxy uses from now on. */
  onRoutes(routes: RouteSections): void
  /** An apply has ended. @param isFull it compared everything */
  onApplied(state: HeldState, isFull: boolean): void
  /** A check found HAProxy otherwise than it was left. */
  onDrift(): void
}

export interface HaproxyOutcome extends PartResult {
  /** It keeps serving what it has, and only what is new waits. */
  isDiskFull?: boolean
}

/** Makes HAProxy as wanted, one apply at a time, whatever tunnel and firewall wait for. */
export class HaproxyLoop {
  readonly #options: HaproxyLoopOptions
  readonly #applying = createSingleFlight(() => this.#apply())
  readonly #checking = createSingleFlight(() => this.#check())
  /** Undefined before the first apply. */
  outcome: HaproxyOutcome | undefined
  /** The newest revision that was read back as wanted. */
  inForce = 0
  /** `onApplied` is still to come. */
  isApplying = false
  /** The next apply compares everything, also what should still be as it was left. */
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

  /** Looks whether it still runs, when nothing else does. */
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
    const { haproxy, log, onRoutes } = this.#options
    const { certificates, settings, sections } = state
    const { signIns } = sections
    const unresolved: Problem[] = []
    const result = await applyPart('HAProxy', log, async () => {
      const { sections: routes, problems } = await targets
      unresolved.push(...problems)
      const challenges = rowsOf(sections.challenges)
      const found = await haproxy.apply({ routes, signIns, certificates, challenges, settings, isQuick })
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

  /** @returns whether its state differs from before */
  #take(outcome: HaproxyOutcome): boolean {
    const differs = logPart(this.#options.log, 'haproxy', this.outcome?.part, outcome.part)
    this.outcome = outcome
    return differs
  }
}

function failed(error: unknown): PartState {
  return { state: 'failed', detail: messageOf(error) }
}
