import type { Problem } from '@postern/contract/edge/edge'
import type { Settings } from '@postern/contract/settings/settings'
import { createBackoff } from '@postern/host/backoff'
import { messageOf } from '@postern/host/errors'
import { createSingleFlight } from '@postern/host/tasks'
import type { Logger } from 'pino'
import { assertKnown, type Known } from '../link/known-server.ts'
import type { Machine } from '../machine.ts'
import { type HeldState, readAnswer, StateError } from './held-state.ts'
import { createLastGood, type LastGood } from './last-good.ts'

export interface StateSourceOptions {
  /** The edge's own settings, which every state must fit. */
  settings: Pick<Settings, 'POSTERN_TUNNEL_NETWORK' | 'POSTERN_PUBLIC_HOST'>
  /** The installation that an edge elsewhere joined. */
  joined?(): Known['joined']
  observeMachine(): Machine
  /** The body of a StateAnswer; throws when the server does not give one. */
  fetchState(known: Record<string, string>): Promise<unknown>
  /** A state from the last run, or from the server, perhaps the same as before. */
  onState(state: HeldState): void
  /** There is one more problem, or one less. */
  onProblem(): void
  lastGoodFile: string
  random: () => number
  log: Logger
}

const RETRY = { first: 250, most: 5000 }
/** How soon a state that could not be saved is saved again, in ms. */
const SAVE_AGAIN = 10_000

/** Holds the wanted state: first that of the last run, then the newest from the server. */
export class StateSource {
  readonly #options: StateSourceOptions
  readonly #lastGood: LastGood
  readonly #fetching = createSingleFlight(() => this.#fetch())
  readonly #saving = createSingleFlight(() => this.#save())
  readonly #backoff
  #retry: NodeJS.Timeout | undefined
  #saveRetry: NodeJS.Timeout | undefined
  state: HeldState | undefined
  /** The newest revision in a hint. */
  revision = 0
  /** Why the server's last answer was refused as a whole. */
  refusal: string | undefined
  #applied: HeldState | undefined
  /** Why the state on disk is older than what is in force. */
  #unsaved: string | undefined
  /** Rows in the server's answer that could not be read. */
  #unread: Problem[] = []
  /** Our sections may differ from those that the server thinks we have. */
  #needsFullState = false

  constructor(options: StateSourceOptions) {
    this.#options = options
    this.#lastGood = createLastGood(options.lastGoodFile)
    this.#backoff = createBackoff({ ...RETRY, random: options.random })
  }

  problems(): Problem[] {
    const own = [this.refusal, this.#unsaved].filter((message) => message !== undefined)
    return [...own.map((message): Problem => ({ scope: { kind: 'edge' }, message })), ...this.#unread]
  }

  /** Loads the state of the last run. */
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

  /** Saves an applied state for the next run. When this fails, the previous one stays on disk, and is whole. */
  save(state: HeldState): void {
    this.#applied = state
    this.#saving.trigger()
  }

  stop(): void {
    clearTimeout(this.#retry)
    clearTimeout(this.#saveRetry)
    this.#fetching.close()
  }

  /** Resolves when nothing is being written. */
  saved(): Promise<void> {
    return this.#saving.idle()
  }

  async #save(): Promise<void> {
    const { log, lastGoodFile, onProblem } = this.#options
    if (!this.#applied) return
    const before = this.#unsaved
    clearTimeout(this.#saveRetry)
    try {
      await this.#lastGood.save(this.#applied)
      this.#unsaved = undefined
    } catch (err) {
      log.error({ err }, 'the state cannot be saved')
      this.#unsaved = `${lastGoodFile} cannot be written (${messageOf(err)}): an edge that starts again before the server answers would undo the latest changes.`
      this.#saveRetry = setTimeout(this.#saving.trigger, SAVE_AGAIN).unref()
    }
    if (this.#unsaved !== before) onProblem()
  }

  #assertOurs(state: HeldState): void {
    const { settings, observeMachine, joined } = this.#options
    assertKnown(state, { settings, joined: joined?.(), ownNetworks: observeMachine().ownNetworks })
  }

  /** Tries until it succeeds, with growing waits; the traffic does not depend on it. */
  async #fetch(): Promise<void> {
    clearTimeout(this.#retry)
    try {
      await this.#fetchOnce()
      this.#backoff.reset()
    } catch (err) {
      this.#options.log.debug({ err }, 'the state cannot be fetched')
      // A refused answer is reported to people; a server that is down is not.
      if (err instanceof StateError) this.#refuse(err)
      this.#retry = setTimeout(this.#fetching.trigger, this.#backoff.next())
    }
  }

  /** @throws when the server does not answer, or not with a whole state */
  async #fetchOnce(): Promise<void> {
    const known = this.#needsFullState ? {} : (this.state?.hashes ?? {})
    const body = await this.#options.fetchState(known)
    // Until the answer has proved right: after one that does not fit, the edge asks for the whole state.
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
    this.#options.log.warn({ err }, "the server's state cannot be used")
    this.refusal = err.message
    this.#options.onProblem()
  }
}
