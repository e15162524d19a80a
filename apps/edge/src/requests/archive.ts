import type { Problem } from '@postern/contract/edge/edge'
import type { EdgeMessage } from '@postern/contract/edge/edge-messages'
import type { KeptRequest, KeptSearch } from '@postern/contract/requests/kept'
import { messageOf } from '@postern/host/errors'
import { createQueue } from '@postern/host/tasks'
import type { Logger } from 'pino'
import { searchRequests } from './search.ts'
import { DiskFullError, type RequestStore } from './store.ts'

interface ArchiveOptions {
  store: RequestStore
  now: () => number
  log: Logger
  /** @returns false when there is no connection */
  send(message: EdgeMessage): boolean
  /** What `problems` says is another now. */
  onProblem(): void
}

/** Keeps requests on disk in batches, and looks for them when the server asks. What it cannot keep it counts. */
export interface RequestArchive {
  start(): Promise<void>
  keep(request: KeptRequest): void
  /** Requests of which nothing came here. */
  noteLost(count: number): void
  /** Removes what is not to be kept. */
  tidy(): void
  search(search: KeptSearch): void
  forget(ask: number): void
  problems(): Problem[]
  close(): Promise<void>
}

/** A batch is written when it has so many, or is so old. */
const BATCH = 8192
const FLUSH_EVERY = 2000
/** Batches that wait for the disk; what comes more is not kept. */
const MOST_WAITING = 4
const TIDY_EVERY = 60_000
/** What was lost is said for so long after the last of it. */
const TOLD_FOR = 10 * 60_000
/** The server waits a little longer. */
const SEARCH_PATIENCE = 2000
const MOST_SEARCHES = 32
/** Searches at the same time; the others wait. */
const SEARCH_LANES = 4

export function createRequestArchive({ store, now, log, send, onProblem }: ArchiveOptions): RequestArchive {
  /** What writes: one after the other. */
  const writing = createQueue()
  const tidying = createQueue()
  const lanes = Array.from({ length: SEARCH_LANES }, createQueue)
  const searches = new Map<number, AbortController>()
  const losses = createLosses(now, onProblem)
  let batch: KeptRequest[] = []
  let waiting = 0
  let isOpen = false
  let timers: NodeJS.Timeout[] = []

  async function write(requests: readonly KeptRequest[]): Promise<void> {
    try {
      await store.append(requests)
      losses.setDisk(null)
    } catch (error) {
      losses.setDisk(error)
      losses.add(requests.length)
      if (!(error instanceof DiskFullError)) log.warn({ err: error }, 'requests could not be kept')
    }
  }
  function flush(): Promise<void> {
    const requests = batch
    if (!isOpen || requests.length === 0 || waiting >= MOST_WAITING) return Promise.resolve()
    batch = []
    waiting++
    return writing.run(() => write(requests)).finally(() => waiting--)
  }
  /** Packing takes a while, in which others are written. */
  async function tidy(isAsked = false): Promise<void> {
    if (!(await writing.run(store.closeDue)) && !isAsked) return
    await tidying.run(store.tidy).catch((err: unknown) => {
      // The journals stay as they are, and the next look tries again.
      if (!(err instanceof DiskFullError)) log.warn({ err }, 'kept requests could not be packed')
    })
  }
  /** At the start the directory may be unusable for a while, like that of a full disk. */
  async function open(): Promise<void> {
    try {
      await writing.run(store.open)
      isOpen = true
      losses.setDisk(null)
    } catch (error) {
      losses.setDisk(error)
    }
  }
  async function look(): Promise<void> {
    if (!isOpen) await open()
    if (isOpen) await tidy(true)
    losses.look()
  }
  async function answer({ ask, ...search }: KeptSearch, signal: AbortSignal): Promise<void> {
    await flush()
    if (signal.aborted) return
    const found = await searchRequests({ store, now, log }, search, SEARCH_PATIENCE, signal)
    if (!signal.aborted) send({ type: 'found', ask, ...found })
  }

  return {
    async start() {
      await open()
      timers = [setInterval(() => void flush(), FLUSH_EVERY), setInterval(() => void look(), TIDY_EVERY)]
      void look()
    },
    keep(request) {
      if (batch.length >= BATCH) return losses.add(1)
      batch.push(request)
      if (batch.length === BATCH) void flush().then(() => tidy())
    },
    noteLost: losses.add,
    tidy: () => void flush().then(() => (isOpen ? tidy(true) : undefined)),
    search(search) {
      const { ask } = search
      // The server asks again with what it has not heard of.
      if (searches.size >= MOST_SEARCHES) return
      const controller = new AbortController()
      searches.set(ask, controller)
      lanes[ask % SEARCH_LANES]
        ?.run(() => answer(search, controller.signal))
        .catch((err: unknown) => log.warn({ err }, 'kept requests could not be searched'))
        .finally(() => searches.delete(ask))
    },
    forget: (ask) => searches.get(ask)?.abort(),
    problems: losses.problems,
    async close() {
      for (const timer of timers) clearInterval(timer)
      for (const controller of searches.values()) controller.abort()
      await flush()
      await tidying.run(async () => undefined)
      await writing.run(store.close)
    },
  }
}

/** What could not be kept, and why, as people hear it. */
function createLosses(now: () => number, onProblem: () => void) {
  let disk: unknown = null
  let lost = 0
  let since = 0
  let last = 0
  let told = ''
  const words = () => {
    if (lost === 0) return ''
    const count = `${lost.toLocaleString('en-US')} ${lost === 1 ? 'request' : 'requests'}`
    const from = `${new Date(since).toISOString().slice(0, 16)}Z`
    if (disk instanceof DiskFullError)
      return `The disk of the edge is full: ${count} were not kept since ${from}. Keeping goes on by itself when there is room`
    return disk === null
      ? `Not all requests could be kept: ${count} since ${from}, as the edge was too busy`
      : `Requests cannot be kept: ${messageOf(disk)} (${count} since ${from})`
  }
  const tell = () => {
    const isNew = (words() === '') !== (told === '')
    told = words()
    if (isNew) onProblem()
  }
  return {
    setDisk(error: unknown) {
      disk = error
      tell()
    },
    add(count: number) {
      last = now()
      lost += count
      if (lost > count) return
      since = last
      tell()
    },
    look() {
      if (disk === null && now() - last > TOLD_FOR) lost = 0
      tell()
    },
    problems: (): Problem[] => (words() === '' ? [] : [{ scope: { kind: 'edge' }, message: words() }]),
  }
}
