import type { KeptRequest } from '@postern/contract/requests/kept'
import { REASONS, type Reason } from '@postern/contract/requests/reasons'

/**
 * What a line shows about the service's backend: it answered; it did not accept the connection; or it behaved as if
 * it spoke another protocol.
 */
export type BackendSign = 'answered' | 'failed' | 'odd'

/** One line of a service's live log. */
export interface HaproxyLog {
  service: number
  /** Formatted when it is read: nobody reads most lines. */
  readonly text: string
  /** Null: the backend was not asked, or has not answered. */
  sign: BackendSign | null
  /** What is kept of a request or connection that has ended. */
  readonly kept?: KeptRequest | undefined
  /** Lines before this one that were lost. */
  lost?: number
}

export interface ParsedLog {
  /** HAProxy's own count of the lines it wrote; null for lines that it does not count. */
  counter: number | null
  /** Null: it belongs to no service. */
  log: HaproxyLog | null
}

/** Formatted late, because nobody reads most lines. */
export class LazyLog implements HaproxyLog {
  readonly service: number
  readonly sign: BackendSign | null
  readonly #read: () => string
  readonly #keep: (() => KeptRequest) | undefined
  constructor(service: number, sign: BackendSign | null, read: () => string, keep?: () => KeptRequest) {
    this.service = service
    this.sign = sign
    this.#read = read
    this.#keep = keep
  }
  get text() {
    return this.#read()
  }
  get kept() {
    return this.#keep?.()
  }
}

export function wordsOf(reason: Reason | undefined): string | undefined {
  return reason && REASONS[reason]
}

/** HAProxy marks with a K what was ended through its socket; only the edge does that. */
export function endedReason(state: string, node: string | undefined): Reason | undefined {
  if (!state.startsWith('K')) return undefined
  return node === 'down' ? 'tunnel' : 'ended'
}
