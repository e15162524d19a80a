import { createBackoff } from '@postern/host/backoff'
import { messageOf } from '@postern/host/errors'
import { createBell } from '@postern/host/tasks'
import type { Log } from '../io.ts'
import type { Offer, Offers } from './offer.ts'
import { describe, type Published } from './published.ts'

export interface PublisherOptions {
  /** `docker` or `file`: the server stores the set under this name. */
  source: string
  /**
   * Sends the server the whole set.
   * @throws Error in words
   */
  send(source: string, services: readonly Offer[]): Promise<Published[]>
  /** `state` has changed. */
  onChange(): void
  log: Log
  random(): number
}

/** Sends one source's services to the server, and retries until it succeeds. */
export interface Publisher {
  offer(offers: Offers): void
  /** The source cannot be read: its last offer stays valid. */
  fail(problem: string): void
  /** The server may have lost the set, or may now accept what it refused. */
  sendAgain(): void
  /** Something changed on the server, so a failed attempt is worth repeating. */
  hint(): void
  services(): readonly Published[]
  /** The problems, in words. */
  problems(): string[]
  run(signal: AbortSignal): Promise<void>
}

const FOREVER = 2 ** 31 - 1
/** A refused service is tried again: its name may now lead to the server, or another service may be gone. */
const REFUSED = { first: 30_000, most: 600_000 }
/** Hints come in groups, and one of them is caused by the set just sent. */
const SENT_LATELY = 10_000

export function createPublisher(options: PublisherOptions): Publisher {
  const { source, log } = options
  const bell = createBell()
  const retry = createBackoff({ first: 1000, most: 300_000, random: options.random })
  const refused = createBackoff({ ...REFUSED, random: options.random })
  let sentAt = Number.NEGATIVE_INFINITY
  let wanted: Offers | undefined
  /** The set that the server has, as text. */
  let held: string | undefined
  let published: readonly Published[] = []
  let unread: string | undefined
  let unsent: string | undefined

  const isDue = () => wanted !== undefined && JSON.stringify(wanted.services) !== held

  const isAnyRefused = () => published.some(({ state }) => state === 'refused')

  async function send(services: readonly Offer[]): Promise<void> {
    sentAt = performance.now()
    try {
      const answer = await options.send(source, services)
      for (const line of describeChanges(published, answer)) log(`${source}: ${line}`)
      published = answer
      held = JSON.stringify(services)
      unsent = undefined
      retry.reset()
    } catch (error) {
      const problem = `the services could not be published: ${messageOf(error)}`
      if (problem !== unsent) log(`${source}: ${problem}`)
      unsent = problem
    }
    options.onChange()
  }

  function waitFor(): number {
    if (isDue()) return retry.next()
    return isAnyRefused() ? refused.next() : FOREVER
  }

  const note = (problem: string) => log(`${source}: ${problem}`)

  return {
    offer(offers) {
      for (const problem of offers.problems) if (!wanted?.problems.includes(problem)) note(problem)
      const before = JSON.stringify([wanted?.problems, unread])
      wanted = offers
      unread = undefined
      if (JSON.stringify([wanted.problems, unread]) !== before) options.onChange()
      if (isDue()) bell.ring()
    },
    fail(problem) {
      if (problem === unread) return
      unread = problem
      note(problem)
      options.onChange()
    },
    sendAgain() {
      held = undefined
      retry.reset()
      bell.ring()
    },
    hint() {
      const isWorthIt = isAnyRefused() && performance.now() - sentAt > SENT_LATELY
      if (unsent === undefined && !isWorthIt) return
      held = undefined
      retry.reset()
      bell.ring()
    },
    services: () => published,
    problems: () =>
      [unread, unsent, ...(wanted?.problems ?? [])]
        .flatMap((problem) => problem ?? [])
        .map((text) => `${source}: ${text}`),
    async run(signal) {
      while (!signal.aborted) {
        if (wanted && isDue()) await send(wanted.services)
        if (!isAnyRefused()) refused.reset()
        const isQuiet = await bell.next(waitFor(), signal)
        if (isQuiet && isAnyRefused()) held = undefined
      }
    },
  }
}

/** The outcomes that are new, in words. */
function describeChanges(before: readonly Published[], after: readonly Published[]): string[] {
  const known = new Map(before.map((one) => [one.key, describe(one)]))
  const news = after.map(describe).filter((line, index) => known.get(after[index]?.key ?? '') !== line)
  const keys = new Set(after.map(({ key }) => key))
  const gone = before.filter(({ key, state }) => state !== 'refused' && !keys.has(key))
  return [...news, ...gone.map(({ key }) => `${key} is no longer published`)]
}
