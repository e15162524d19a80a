import type { Problem } from '@postern/contract/edge'
import type { Settings } from '@postern/contract/settings'
import { createBackoff } from '@postern/host/backoff'
import { createSingleFlight } from '@postern/host/tasks'
import type { Logger } from 'pino'
import { type HeldState, readAnswer, StateError } from './held-state.ts'
import { assertKnown } from './known-server.ts'
import { createLastGood, type LastGood } from './last-good.ts'
import type { Machine } from './machine.ts'

export interface StateSourceOptions {
  /** The edge's own settings, which every state must fit. */
  settings: Pick<Settings, 'POSTERN_TUNNEL_NETWORK' | 'POSTERN_PUBLIC_HOST'>
  observeMachine(): Machine
  /** The body of a StateAnswer; throws when the server does not give one. */
  fetchState(known: Record<string, string>): Promise<unknown>
  /** A state of the last run, or of the server, perhaps the same as before. */
  onState(state: HeldState): void
  /** The server's answer is not taken at all; `refusal` says why. */
  onRefused(): void
  lastGoodFile: string
  random: () => number
  log: Logger
}

const RETRY = { first: 250, most: 5000 }

/** Knows what is wanted: the state of the last run, and then the newest that the server gives. */
export class StateSource {
  readonly #options: StateSourceOptions
  readonly #lastGood: LastGood
  readonly #fetching = createSingleFlight(() => this.#fetch())
  readonly #saving = createSingleFlight(() => this.#save())
  readonly #backoff
  #retry: NodeJS.Timeout | undefined
  state: HeldState | undefined
  /** The newest revision that was heard of. */
  revision = 0
  /** Why the server's last answer was not taken at all. */
  refusal: string | undefined
  #applied: HeldState | undefined
  /** Rows of the server's answer that could not be read. */
  #unread: Problem[] = []
  /** What we hold may differ from what the server thinks we hold. */
  #needsFullState = false

  constructor(options: StateSourceOptions) {
    this.#options = options
    this.#lastGood = createLastGood(options.lastGoodFile)
    this.#backoff = createBackoff({ ...RETRY, random: options.random })
  }

  problems(): Problem[] {
    const refused: Problem[] = this.refusal ? [{ scope: { kind: 'edge' }, message: this.refusal }] : []
    return [...refused, ...this.#unread]
  }

  /** Takes the state of the last run. */
  async load(): Promise<void> {
    const { log, onState } = this.#options
    try {
      const state = await this.#lastGood.find()
      if (state) this.#assertOurs(state)
      this.state = state
    } catch (err) {
      log.warn({ err }, 'the state of the last run cannot be used')
    }
    this.revision = this.state?.revision ?? 0
    if (this.state) onState(this.state)
  }

  /** The server has a newer revision. */
  hint(revision: number): void {
    this.revision = revision
    this.fetch()
  }

  fetch(): void {
    this.#fetching.trigger()
  }

  /** Keeps a state that was applied for the next run. What is on disk stays when this fails, and is a whole state. */
  save(state: HeldState): void {
    this.#applied = state
    this.#saving.trigger()
  }

  stop(): void {
    clearTimeout(this.#retry)
    this.#fetching.close()
  }

  /** Resolves when nothing is being written. */
  saved(): Promise<void> {
    return this.#saving.idle()
  }

  async #save(): Promise<void> {
    const { log } = this.#options
    if (!this.#applied) return
    await this.#lastGood
      .save(this.#applied)
      .catch((err: unknown) => log.error({ err }, 'the state cannot be saved'))
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
      this.#backoff.reset()
    } catch (err) {
      this.#options.log.debug({ err }, 'the state cannot be fetched')
      // An answer that was not taken is for people to read; a server that is away is not.
      if (err instanceof StateError) this.#refuse(err)
      this.#retry = setTimeout(this.#fetching.trigger, this.#backoff.next())
    }
  }

  /** @throws when the server does not answer, or not with a whole state */
  async #fetchOnce(): Promise<void> {
    const known = this.#needsFullState ? {} : (this.state?.hashes ?? {})
    const body = await this.#options.fetchState(known)
    // Until the answer has proved right: after one that does not fit, the whole state is asked for.
    this.#needsFullState = true
    const { state, problems } = readAnswer(body, this.state, known)
    this.#assertOurs(state)
    this.#needsFullState = false
    this.state = state
    this.#unread = problems
    this.refusal = undefined
    this.revision = state.revision
    this.#options.onState(state)
  }

  #refuse(err: StateError): void {
    if (this.refusal === err.message) return
    this.#options.log.warn({ err }, 'the state of the server cannot be used')
    this.refusal = err.message
    this.#options.onRefused()
  }
}
