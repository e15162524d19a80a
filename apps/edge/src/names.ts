import { ask, type Lookups, wordsFor } from './lookups.ts'
import type { Question } from './target-rules.ts'

/** What is known of a name now; without addresses `reason` says why, in words. */
export interface Known {
  addresses: string[]
  reason: string | null
}

export interface NamesOptions {
  lookups: Lookups
  /** ms. */
  now: () => number
  /** Called when an answer differs from the one before. */
  onChange: () => void
}

export interface Names {
  /** What is known now; an unknown name is looked up in the background. */
  find(question: Question): Known
  /** Another number than before when `find` may say something else than before. */
  revision(): number
  /** Looks up again what is due, and forgets the names that are not in use. */
  refresh(inUse: readonly Question[]): void
  isBusy(): boolean
  /** Resolves when no look-up is under way, or after `ms`. */
  settled(ms: number): Promise<void>
  close(): void
}

const REFRESH_EVERY = 30_000
const RETRY_EVERY = 5000
/** How long the last answer is used while its name server is silent. */
const KEEP_FOR = 120_000
/** Look-ups of the system hold a thread of the four that Node has, for as long as its resolver likes. */
const AT_ONCE = { system: 2, server: 8 }

interface Entry {
  question: Question
  kind: 'system' | 'server'
  known: Known
  /** When, in ms; equal when the last look-up was answered. */
  asked: number
  answered: number
  state: 'idle' | 'waiting' | 'running'
}

export function createNames(options: NamesOptions): Names {
  const entries = new Map<string, Entry>()
  const running = { system: 0, server: 0 }
  const waiters = new Set<() => void>()
  let revision = 0
  let closed = false

  const isBusy = () => [...entries.values()].some((entry) => entry.state !== 'idle')
  const pump = () => {
    for (const entry of entries.values())
      if (!closed && entry.state === 'waiting' && running[entry.kind] < AT_ONCE[entry.kind]) void run(entry)
  }
  const run = async (entry: Entry) => {
    running[entry.kind]++
    entry.state = 'running'
    const { isChanged, done } = await update(options, entry)
    if (isChanged) revision++
    entry.state = 'idle'
    if (!isBusy()) for (const wake of waiters) wake()
    if (isChanged && !closed) options.onChange()
    // The place is free only when the look-up is really over, not when we stopped waiting for it.
    await done
    running[entry.kind]--
    pump()
  }

  return {
    isBusy,
    revision: () => revision,
    find(question) {
      const key = keyOf(question)
      const entry = entries.get(key) ?? makeEntry(question)
      if (!entries.has(key)) {
        entries.set(key, entry)
        pump()
      }
      return entry.known
    },
    refresh(inUse) {
      const keys = new Set(inUse.map(keyOf))
      for (const [key, entry] of entries) {
        if (entry.state !== 'idle') continue
        if (!keys.has(key)) {
          entries.delete(key)
          revision++
        } else if (isDue(entry, options.now())) entry.state = 'waiting'
      }
      pump()
    },
    settled: (ms) => (isBusy() ? waitIn(waiters, ms) : Promise.resolve()),
    close() {
      closed = true
    },
  }
}

function makeEntry(question: Question): Entry {
  return {
    question,
    kind: question.server === null ? 'system' : 'server',
    known: { addresses: [], reason: `Looking up ${question.name}.` },
    asked: 0,
    answered: Number.NEGATIVE_INFINITY,
    state: 'waiting',
  }
}

function keyOf(question: Question): string {
  return [question.server, question.name, ...question.families].join('|')
}

function isDue({ asked, answered }: Entry, now: number): boolean {
  return now - asked >= (answered === asked ? REFRESH_EVERY : RETRY_EVERY)
}

async function update(
  { lookups, now }: NamesOptions,
  entry: Entry,
): Promise<{ isChanged: boolean; done: Promise<unknown> }> {
  const before = JSON.stringify(entry.known)
  entry.asked = now()
  const { answer, done } = ask(lookups, entry.question)
  try {
    entry.known = { addresses: await answer, reason: null }
    entry.answered = entry.asked
  } catch (error) {
    const isUsable = entry.known.addresses.length > 0 && now() - entry.answered < KEEP_FOR
    if (!isUsable) entry.known = { addresses: [], reason: wordsFor(entry.question, error) }
  }
  return { isChanged: JSON.stringify(entry.known) !== before, done }
}

function waitIn(waiters: Set<() => void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      waiters.delete(wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    waiters.add(wake)
  })
}
