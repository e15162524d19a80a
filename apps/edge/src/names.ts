import { lookup, Resolver } from 'node:dns/promises'
import { codeOf } from '@postern/host/errors'

/** A name to look up. `server` null: with this machine's own resolver. */
export interface DnsQuery {
  name: string
  server: string | null
  /** Only addresses that the gateway has networks for: others could not be dialled anyway. */
  families: readonly (4 | 6)[]
}

/** Looks names up; returns the addresses as the resolver gave them. Both throw when there is no answer. */
export interface Lookups {
  /** Like any program of this machine, with /etc/hosts. */
  system(name: string): Promise<string[]>
  /** By asking a name server, `address` or `address:port`. */
  at(server: string, name: string, families: readonly (4 | 6)[]): Promise<string[]>
}

/** A query with the addresses of its answer. */
export interface Answered {
  query: DnsQuery
  addresses: string[]
}

/** What is now known about a name; without addresses, `reason` says why, in words. */
export interface Known {
  addresses: string[]
  reason: string | null
}

export interface NamesOptions {
  lookups: Lookups
  /** ms. */
  now: () => number
  /** Called when an answer differs from the previous one. */
  onChange: () => void
}

export interface Names {
  /**
   * Uses the answers of an earlier run as if they had just come, so that a silent name server takes no service down.
   */
  begin(earlier: readonly Answered[]): void
  /** The answers that a restarted edge would need. */
  answers(): Answered[]
  /** Returns what is known now, and looks up an unknown name in the background. */
  find(query: DnsQuery): Known
  /** Changes whenever `find` may return something else. */
  revision(): number
  /** Looks up again what is due, and forgets unused names. */
  refresh(inUse: readonly DnsQuery[]): void
  isBusy(): boolean
  /** Resolves when no look-up is under way, or after `ms`. */
  settled(ms: number): Promise<void>
  close(): void
}

const REFRESH_EVERY = 30_000
const RETRY_EVERY = 5000
/** How long the last answer is used while its name server is silent. */
const KEEP_FOR = 120_000
/**
 * At the same time for each server: the system's look-ups hold one of Node's four threads for as long as the resolver
 * takes.
 */
const AT_ONCE = { system: 2, server: 8 }

/** Each server has its own queue, so that a silent one does not delay others. */
interface Line {
  /** The longest-waiting first, because names without an answer are soon due again. */
  waiting: Entry[]
  running: number
}

interface Entry {
  query: DnsQuery
  known: Known
  /** When it was asked and answered, in ms; equal when the last look-up was answered. */
  asked: number
  answered: number
  state: 'idle' | 'waiting' | 'running'
}

export function createNames(options: NamesOptions): Names {
  const entries = new Map<string, Entry>()
  const earlier = new Map<string, string[]>()
  const lines = new Map<string | null, Line>()
  const waiters = new Set<() => void>()
  let revision = 0
  let closed = false

  const isBusy = () => [...entries.values()].some((entry) => entry.state !== 'idle')
  const enqueue = (entry: Entry) => {
    const { server } = entry.query
    const line = lines.get(server) ?? { waiting: [], running: 0 }
    lines.set(server, line)
    entry.state = 'waiting'
    line.waiting.push(entry)
    pump(server, line)
  }
  const pump = (server: string | null, line: Line) => {
    while (!closed && line.running < (server === null ? AT_ONCE.system : AT_ONCE.server)) {
      const entry = line.waiting.shift()
      if (!entry) break
      void run(entry, line)
    }
    if (line.running === 0) lines.delete(server)
  }
  const run = async (entry: Entry, line: Line) => {
    line.running++
    entry.state = 'running'
    const { isChanged, done } = await update(options, entry)
    if (isChanged) revision++
    entry.state = 'idle'
    if (!isBusy()) for (const wake of waiters) wake()
    if (isChanged && !closed) options.onChange()
    // The place is free only after the look-up has really ended, not when we stop waiting for it.
    await done
    line.running--
    pump(entry.query.server, line)
  }

  return {
    begin(answers) {
      for (const { query, addresses } of answers) earlier.set(keyOf(query), addresses)
    },
    answers: () =>
      [...entries.values()].flatMap(({ query, known: { addresses } }) =>
        addresses.length > 0 ? { query, addresses } : [],
      ),
    isBusy,
    revision: () => revision,
    find(query) {
      const key = keyOf(query)
      const entry = entries.get(key) ?? makeEntry(query, earlier.get(key), options.now())
      if (!entries.has(key)) {
        entries.set(key, entry)
        earlier.delete(key)
        enqueue(entry)
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
        } else if (isDue(entry, options.now())) enqueue(entry)
      }
    },
    settled: (ms) => (isBusy() ? waitIn(waiters, ms) : Promise.resolve()),
    close() {
      closed = true
    },
  }
}

function makeEntry(query: DnsQuery, earlier: string[] | undefined, now: number): Entry {
  return {
    query,
    known: earlier
      ? { addresses: earlier, reason: null }
      : { addresses: [], reason: `Looking up ${query.name}.` },
    asked: 0,
    answered: earlier ? now : Number.NEGATIVE_INFINITY,
    state: 'idle',
  }
}

function keyOf(query: DnsQuery): string {
  return [query.server, query.name, ...query.families].join('|')
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
  const { answer, done } = lookUp(lookups, entry.query)
  try {
    entry.known = { addresses: await answer, reason: null }
    entry.answered = entry.asked
  } catch (error) {
    const isUsable = entry.known.addresses.length > 0 && now() - entry.answered < KEEP_FOR
    if (!isUsable) entry.known = { addresses: [], reason: explainFailure(entry.query, error) }
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

interface LookUp {
  /** The addresses; rejects after the deadline, or with the resolver's error. */
  answer: Promise<string[]>
  /** Ends with the look-up itself, which may outlive the deadline. Never rejects. */
  done: Promise<unknown>
}

/** ms. */
const DEADLINE = 2000

function lookUp(lookups: Lookups, { name, server, families }: DnsQuery): LookUp {
  const asked = server === null ? lookups.system(name) : lookups.at(server, name, families)
  return { answer: withDeadline(asked).then(refuseNone), done: asked.catch(() => undefined) }
}

function refuseNone(addresses: string[]): string[] {
  if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENODATA' })
  return addresses
}

function withDeadline<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('late'), { code: 'ETIMEOUT' })), DEADLINE)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Why a name has no address, as a message. */
function explainFailure({ name, server }: DnsQuery, error: unknown): string {
  const resolver = server === null ? 'The edge' : 'The name server of the gateway'
  const code = codeOf(error)
  if (code === 'ENOTFOUND' || code === 'ENODATA') return `${resolver} knows no host ${name}.`
  return server === null
    ? `DNS lookup for ${name} failed on the edge.`
    : `${resolver} gave no answer for ${name}.`
}

/** The real look-ups: getaddrinfo, and c-ares with the query's server. */
export function createLookups(): Lookups {
  return {
    system: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
    async at(server, name, families) {
      const resolver = new Resolver({ timeout: DEADLINE - 200, tries: 1 })
      resolver.setServers([server])
      const asked = families.map((family) =>
        family === 4 ? resolver.resolve4(name) : resolver.resolve6(name),
      )
      const results = await Promise.allSettled(asked)
      const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      const failed = results.find((result) => result.status === 'rejected')
      if (found.length === 0 && failed) throw failed.reason
      return found
    },
  }
}
