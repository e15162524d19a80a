import { createBackoff } from '@postern/host/backoff'
import { messageOf } from '@postern/host/errors'
import { createBell } from '@postern/host/tasks'
import type { Log } from '../io.ts'
import type { Offer, Offers } from './offer.ts'
import { describe, type Published } from './published.ts'

export interface PublisherOptions {
  /** `docker` or `file`: under this name the server keeps the set. */
  source: string
  /** Tells the server the whole set. @throws Error in words */
  send(source: string, services: readonly Offer[]): Promise<Published[]>
  /** What `state` says has changed. */
  onChange(): void
  log: Log
  random(): number
}

/** Brings what one source wants to the server, as often as that takes. */
export interface Publisher {
  offer(offers: Offers): void
  /** The source cannot be read: what it offered last still holds. */
  fail(problem: string): void
  /** The server may have forgotten, or may take now what it refused. */
  sendAgain(): void
  /** Something changed on the server: worth another try, if the last one failed. */
  hint(): void
  services(): readonly Published[]
  /** What does not work, in words. */
  problems(): string[]
  run(signal: AbortSignal): Promise<void>
}

const FOREVER = 2 ** 31 - 1
/** A refused service is judged again: a name may lead to the server meanwhile, or another service may have gone. */
const REFUSED = { first: 30_000, most: 600_000 }
/** Hints come in groups, one of them because of what was just sent. */
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

/** What became of the services, in words, where that is news. */
function describeChanges(before: readonly Published[], after: readonly Published[]): string[] {
  const known = new Map(before.map((one) => [one.key, describe(one)]))
  const news = after.map(describe).filter((line, index) => known.get(after[index]?.key ?? '') !== line)
  const keys = new Set(after.map(({ key }) => key))
  const gone = before.filter(({ key, state }) => state !== 'refused' && !keys.has(key))
  return [...news, ...gone.map(({ key }) => `${key} is no longer published`)]
}
