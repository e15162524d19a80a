import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { DataPlane, EdgeReport, InForce, PartState, PortFacts, Problem } from '@postern/contract/edge'
import { LIMITS } from '@postern/contract/limits'
import type { Settings } from '@postern/contract/settings'
import { createBackoff } from '@postern/host/backoff'
import { messageOf } from '@postern/host/errors'
import { createSingleFlight } from '@postern/host/tasks'
import { type HeldState, readAnswer, StateError } from './held-state.ts'
import { assertKnown } from './known-server.ts'
import { createLastGood, type LastGood } from './last-good.ts'
import {
  type HaproxyOutcome,
  type ReconcileParts,
  reconcile,
  type TunnelAndFirewall,
  tidy,
  tunnelProblems,
} from './reconcile.ts'

export interface LoopOptions extends ReconcileParts {
  /** The edge's own settings, which every state must fit. */
  settings: Pick<Settings, 'POSTERN_TUNNEL_NETWORK' | 'POSTERN_PUBLIC_HOST'>
  /** The body of a StateAnswer; throws when the server does not give one. */
  fetchState(known: Record<string, string>): Promise<unknown>
  report(report: EdgeReport): void
  /** Called once, after the first apply, or with null when the server has sent nothing to apply for too long. */
  onReady(dataPlane: DataPlane | null): void
  onState(state: HeldState): void
  /** What keeps this machine from being observed. */
  observerProblems(): Problem[]
  /** Whether links, addresses, routes or firewall rules may have changed since the last call. */
  hasKernelChanged(): boolean
  lastGoodFile: string
  random: () => number
}

const FULL_CHECK_EVERY = 5000
const HAPROXY_CHECK_EVERY = 500
/** So many full checks leave tunnel and firewall alone while nothing reports a change of them. */
const UNCHANGED_CHECKS = 12
/** For the very first start, where the server is being started too; a busy machine takes its time for that. */
const READY_WITHIN = 30_000
/** How long an apply waits for tunnel and firewall when HAProxy is done, in ms. */
const HEAD_START = 250
const OTHERS = ['wireguard', 'nftables'] as const
const PARTS = ['haproxy', ...OTHERS] as const
const RETRY = { first: 250, most: 5000 }

/** Fetches the state, makes this machine equal to it, reports, and saves it: one of each at a time, the newest wins. */
export class Loop {
  readonly #options: LoopOptions
  readonly #lastGood: LastGood
  readonly #applying = createSingleFlight(() => this.#apply())
  readonly #fetching = createSingleFlight(() => this.#fetch())
  readonly #checking = createSingleFlight(() => this.#checkHaproxy())
  readonly #retryBackoff
  readonly #timers = new Set<NodeJS.Timeout>()
  #retry: NodeJS.Timeout | undefined
  #state: HeldState | undefined
  /** Rows of the server's answer that could not be read. */
  #unread: Problem[] = []
  /** Why the server's last answer was not taken at all. */
  #refusal: string | undefined
  #wanted = 0
  readonly #inForce: InForce = { haproxy: 0, wireguard: 0, nftables: 0 }
  #haproxy: HaproxyOutcome | undefined
  /** With the state that they were made from: they need not be checked again while its peers are wanted. */
  #others: (TunnelAndFirewall & { madeFrom: Pick<HeldState, 'settings' | 'peers'> }) | undefined
  /** Until tunnel and firewall are made right. */
  #securing: Promise<void> | undefined
  /** Until what came after its apply has been reported. */
  #late: Promise<void> | undefined
  /** The next apply checks every part, also those that should still be as they were left. */
  #fullCheckDue = true
  /** What we hold may differ from what the server thinks we hold. */
  #needsFullState = false
  #unchangedChecks = 0
  #isReady = false

  constructor(options: LoopOptions) {
    this.#options = options
    this.#lastGood = createLastGood(options.lastGoodFile)
    this.#retryBackoff = createBackoff({ ...RETRY, random: options.random })
  }

  /** Begins with the state of the last run. */
  async start(): Promise<void> {
    await this.#loadLastGood()
    this.#applying.trigger()
    this.#fetching.trigger()
    this.#timers.add(setInterval(() => this.#checkEverything(), FULL_CHECK_EVERY))
    this.#timers.add(setInterval(() => this.#checkBetweenApplies(), HAPROXY_CHECK_EVERY))
    this.#timers.add(setTimeout(() => this.#becomeReady(), READY_WITHIN))
  }

  /** The server has a newer revision. */
  hint(revision: number): void {
    this.#wanted = revision
    this.#fetching.trigger()
  }

  /** The server knows nothing of what was reported before. */
  onReconnect(): void {
    this.#report()
    this.#fetching.trigger()
  }

  /** Something that the state is resolved with has changed on this machine. */
  requestApply(): void {
    this.#applying.trigger()
  }

  /** The tunnel is not as it was left. */
  requestFullCheck(): void {
    this.#fullCheckDue = true
    this.#unchangedChecks = UNCHANGED_CHECKS
    this.#applying.trigger()
  }

  /** There is another problem to tell of. */
  tell(): void {
    this.#report()
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    clearTimeout(this.#retry)
    this.#fetching.close()
    this.#applying.close()
    await this.#applying.idle()
    await this.#late
  }

  async #loadLastGood(): Promise<void> {
    const { log, onState } = this.#options
    try {
      const state = await this.#lastGood.find()
      if (state) this.#assertOurs(state)
      this.#state = state
    } catch (err) {
      log.warn({ err }, 'the state of the last run cannot be used')
    }
    this.#wanted = this.#state?.revision ?? 0
    if (this.#state) onState(this.#state)
  }

  #assertOurs(state: HeldState): void {
    const { settings, observeMachine } = this.#options
    assertKnown(state, { settings, ownNetworks: observeMachine().ownNetworks })
  }

  /** Tries until it succeeds, with growing waits; traffic does not depend on it. */
  async #fetch(): Promise<void> {
    clearTimeout(this.#retry)
    try {
      await this.#fetchOnce()
      this.#retryBackoff.reset()
      this.#applying.trigger()
    } catch (err) {
      this.#options.log.debug({ err }, 'the state cannot be fetched')
      // An answer that was not taken is for people to read; a server that is away is not.
      if (err instanceof StateError) this.#refuse(err)
      this.#retry = setTimeout(this.#fetching.trigger, this.#retryBackoff.next())
    }
  }

  /** @throws when the server does not answer, or not with a whole state */
  async #fetchOnce(): Promise<void> {
    const known = this.#needsFullState ? {} : (this.#state?.hashes ?? {})
    const body = await this.#options.fetchState(known)
    // Until the answer has proved right: after one that does not fit, the whole state is asked for.
    this.#needsFullState = true
    const { state, problems } = readAnswer(body, this.#state, known)
    this.#assertOurs(state)
    this.#needsFullState = false
    this.#state = state
    this.#unread = problems
    this.#refusal = undefined
    this.#wanted = state.revision
    this.#options.onState(state)
  }

  #refuse(err: StateError): void {
    if (this.#refusal === err.message) return
    this.#options.log.warn({ err }, 'the state of the server cannot be used')
    this.#refusal = err.message
    this.#report()
    this.#becomeReady()
  }

  async #apply(): Promise<void> {
    const state = this.#state
    if (!state) return
    const isFull = this.#fullCheckDue
    this.#fullCheckDue = false
    const { haproxy, others } = reconcile(this.#options, state, {
      isQuick: !isFull,
      others: this.#securing
        ? undefined
        : { kept: this.#kept(state), isDue: async () => isFull && this.#areDue() },
    })
    if (others) this.#securing = this.#takeOthers(state, others)
    this.#takeHaproxy(state, await haproxy)
    await this.#secured()
    this.#report()
    this.#becomeReady()
    if (this.#haproxy?.needsAnotherApply) this.#applying.trigger()
    // A newer state does not wait for the disk; the next full check saves in any case.
    if (this.#state === state || isFull) await this.#save(state)
  }

  #takeHaproxy({ revision }: HeldState, outcome: HaproxyOutcome): void {
    this.#logParts({ haproxy: outcome.part })
    this.#haproxy = outcome
    if (outcome.isInForce) this.#inForce.haproxy = revision
  }

  async #takeOthers(state: HeldState, others: Promise<TunnelAndFirewall>): Promise<void> {
    const made = await others
    this.#securing = undefined
    const parts = { wireguard: made.wireguard.part, nftables: made.nftables.part }
    this.#logParts(parts)
    this.#others = { ...made, madeFrom: state }
    for (const part of OTHERS) if (parts[part].state !== 'failed') this.#inForce[part] = state.revision
    if (made.needsAnotherApply) this.#applying.trigger()
  }

  /** What takes its time, like a wireguard-go that does not start, is told of later, and what is new goes ahead. */
  async #secured(): Promise<void> {
    const securing = this.#securing
    if (!securing || this.#late) return
    const isLate = this.#others && delay(HEAD_START, true)
    if (!(await Promise.race([securing, isLate ?? securing]))) return
    this.#late = securing.then(() => {
      this.#late = undefined
      this.#report()
      this.#applying.trigger()
    })
  }

  async #areDue(): Promise<boolean> {
    return this.#haveFailed() || (await this.#mayHaveDrifted())
  }

  /** What fails is tried again with every full check, and not with each change, which would wait for it. */
  #haveFailed(): boolean {
    const { wireguard, nftables } = this.#others ?? {}
    return wireguard?.part.state !== 'ok' || nftables?.part.state !== 'ok'
  }

  /** Whether tunnel or firewall may differ from how the last apply left them. */
  async #mayHaveDrifted(): Promise<boolean> {
    const { hasKernelChanged, wireguard, nftables } = this.#options
    const isUnchanged = !hasKernelChanged() && ++this.#unchangedChecks < UNCHANGED_CHECKS
    const areAsLeft = async () => (await wireguard.isAsLeft()) && (await nftables.isAsLeft())
    if (isUnchanged && (await areAsLeft().catch(() => false))) return false
    this.#unchangedChecks = 0
    return true
  }

  #kept({ settings, peers }: HeldState): TunnelAndFirewall | undefined {
    const { madeFrom } = this.#others ?? {}
    return madeFrom?.settings === settings && madeFrom.peers === peers ? this.#others : undefined
  }

  /** What is on disk stays when this fails, and is still a whole state. */
  async #save(state: HeldState): Promise<void> {
    const { log } = this.#options
    await this.#lastGood.save(state).catch((err: unknown) => log.error({ err }, 'the state cannot be saved'))
  }

  /** Hints get lost, and other programs change this machine too. */
  #checkEverything(): void {
    this.#fullCheckDue = true
    const { names, targets } = this.#options
    names.refresh(targets.queries())
    this.#applying.trigger()
    this.#fetching.trigger()
  }

  #checkBetweenApplies(): void {
    if (!this.#checking.isBusy() && !this.#applying.isBusy()) this.#checking.trigger()
  }

  async #checkHaproxy(): Promise<void> {
    const before = this.#haproxy
    if (!before) return
    const part = await this.#options.haproxy.check().catch(failed)
    if (!this.#logParts({ haproxy: part })) return
    this.#haproxy = { ...before, part }
    this.#report()
    this.#applying.trigger()
  }

  /** As far as every part has been given something to do. */
  #dataPlane(): DataPlane | undefined {
    const [haproxy, others] = [this.#haproxy, this.#others]
    if (!haproxy || !others) return undefined
    return { haproxy: haproxy.part, wireguard: others.wireguard.part, nftables: others.nftables.part }
  }

  /** Before the first apply there is nothing to report but that the server's answer is refused. */
  #report(): void {
    const dataPlane = this.#dataPlane() ?? (this.#refusal && idle(this.#refusal))
    if (!dataPlane) return
    const refused: Problem[] = this.#refusal ? [{ scope: { kind: 'edge' }, message: this.#refusal }] : []
    const observed = this.#options.observerProblems()
    this.#options.report({
      wanted: this.#wanted,
      applied: Math.min(...Object.values(this.#inForce)),
      inForce: { ...this.#inForce },
      problems: tidy([...refused, ...observed, ...this.#unread, ...this.#foundProblems()]),
      isStuck: this.#refusal !== undefined || this.#haproxy?.isDiskFull === true,
      dataPlane,
      ports: this.#portFacts(),
    })
  }

  #foundProblems(): Problem[] {
    const [haproxy, others, state] = [this.#haproxy, this.#others, this.#state]
    const { wireguard, nftables } = others ?? {}
    const down = wireguard && state ? tunnelProblems(state, wireguard.part) : []
    return [haproxy, wireguard, nftables].flatMap((each) => each?.problems ?? []).concat(down)
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

  /** A part that comes and goes is logged once each time, not with every check. @returns whether anything differs */
  #logParts(after: Partial<DataPlane>): boolean {
    const before = this.#dataPlane()
    const changed = PARTS.filter((name) => after[name] && !isDeepStrictEqual(before?.[name], after[name]))
    for (const name of changed) {
      const { state, detail } = after[name] ?? {}
      if (state === 'ok') this.#options.log.info(`${name} is as wanted: ${detail}`)
      else this.#options.log.warn(`${name} is not as wanted: ${detail}`)
    }
    return changed.length > 0
  }
}

/** No part has been given anything to do yet. */
function idle(detail: string): DataPlane {
  const part: PartState = { state: 'failed', detail }
  return { haproxy: part, wireguard: part, nftables: part }
}

function failed(error: unknown): PartState {
  return { state: 'failed', detail: messageOf(error) }
}

/** As many as the contract allows. */
const few = (numbers: readonly number[]) => numbers.slice(0, LIMITS.edgePorts)
