import type { LogLine } from '@postern/contract/edge/edge-messages'
import { LIMITS } from '@postern/contract/limits'
import {
  advance,
  createLogRing,
  type KeptLine,
  keepLine,
  type LogCursor,
  type LogRing,
  readCursor,
  renderCursor,
} from './ring.ts'

/** Takes lines in order; with `id` the reader can continue after them. */
export type SendLines = (lines: string[], id: string) => void

export interface LogWatcher {
  /** Follows other services from now on; of new ones it first gets the kept lines. */
  setServices(services: readonly number[]): void
  close(): void
}

/** The readers of services' logs, and the last lines of the watched services. Nothing is kept of other services. */
export interface LogHub {
  /** `lastEventId`: up to where the reader has the lines already. */
  watch(services: readonly number[], lastEventId: string | undefined, send: SendLines): LogWatcher
  watched(): number[]
  /** Calls back whenever the set of watched services changes. */
  onWatched(listener: (services: number[]) => void): void
  receive(epoch: string, lines: readonly LogLine[]): void
}

/** For the lines of all watched services together. */
const TOTAL_LINES = 50_000

interface Watcher {
  services: Set<number>
  /** What the reader had at the start; never sent again. */
  had: LogCursor
  /** How far it has got. */
  at: LogCursor
  /** The services of which it got lines. */
  begun: Set<number>
  send: SendLines
}

export function createLogHub(now: () => Date): LogHub {
  const rings = new Map<number, LogRing>()
  const watchers = new Set<Watcher>()
  const listeners: ((services: number[]) => void)[] = []
  let arrived = 0

  const follow = () => {
    const wanted = new Set([...watchers].flatMap((watcher) => [...watcher.services]))
    const gone = [...rings.keys()].filter((service) => !wanted.has(service))
    const fresh = [...wanted].filter((service) => !rings.has(service))
    for (const service of gone) rings.delete(service)
    for (const service of fresh) rings.set(service, createLogRing())
    if (gone.length + fresh.length > 0) for (const listener of listeners) listener([...rings.keys()])
  }

  const begin = (watcher: Watcher, services: readonly number[]) => {
    const kept = services.flatMap((service) =>
      (rings.get(service)?.lines ?? []).map((line) => ({ service, lines: [line] as const })),
    )
    sendTo(watcher, inOrder(kept), now())
  }

  return {
    watch(services, lastEventId, send) {
      const had = readCursor(lastEventId)
      const watcher: Watcher = { services: new Set(services), had, at: new Map(had), begun: new Set(), send }
      begin(watcher, services)
      watchers.add(watcher)
      follow()
      return {
        setServices(next) {
          const added = next.filter((service) => !watcher.services.has(service))
          watcher.services = new Set(next)
          begin(watcher, added)
          follow()
        },
        close() {
          if (watchers.delete(watcher)) follow()
        },
      }
    },
    watched: () => [...rings.keys()],
    onWatched: (listener) => void listeners.push(listener),
    receive(epoch, lines) {
      const capacity = Math.max(50, Math.min(LIMITS.logLines, Math.floor(TOTAL_LINES / rings.size)))
      const counted = lines.map((line) => ({ ...line, arrival: ++arrived }))
      const fresh = keepAll(rings, epoch, counted, capacity, now())
      if (fresh.length > 0) for (const watcher of [...watchers]) sendTo(watcher, fresh, now())
    },
  }
}

interface Kept {
  service: number
  lines: readonly [KeptLine]
}

/** Lines of one edge in the order in which they were written, and those of several as they came. */
function inOrder(kept: readonly Kept[]): Kept[] {
  const byEdge = [...Map.groupBy(kept, ({ lines: [line] }) => line.epoch).values()]
  for (const lines of byEdge) lines.sort((a, b) => a.lines[0].seq - b.lines[0].seq)
  if (byEdge.length < 2) return byEdge.flat()
  const nexts = byEdge.map((lines) => ({ lines, at: 0 }))
  const arrivalOf = ({ lines, at }: (typeof nexts)[number]) =>
    lines[at]?.lines[0].arrival ?? Number.POSITIVE_INFINITY
  return kept.map(() => {
    const first = nexts.reduce((a, b) => (arrivalOf(b) < arrivalOf(a) ? b : a))
    // As many are taken as there are.
    return first.lines[first.at++] as Kept
  })
}

interface Fresh {
  service: number
  lines: readonly KeptLine[]
}

/** @returns the new lines, in order. Lines of unwatched services are not kept */
function keepAll(
  rings: Map<number, LogRing>,
  epoch: string,
  lines: readonly (LogLine & { arrival: number })[],
  capacity: number,
  now: Date,
): Fresh[] {
  return lines.flatMap((line) => {
    const ring = rings.get(line.service)
    return ring ? [{ service: line.service, lines: keepLine(ring, epoch, line, capacity, now) }] : []
  })
}

function sendTo(watcher: Watcher, fresh: readonly Fresh[], now: Date): void {
  const texts: string[] = []
  for (const { service, lines } of fresh) {
    if (!watcher.services.has(service)) continue
    const news = lines.filter((line) => line.seq > (watcher.had.get(line.epoch) ?? 0))
    const [first] = news
    if (!first) {
      if (lines.length > 0) watcher.begun.add(service)
      continue
    }
    // A reader that reconnects too late for the missed lines must know that some are missing.
    const isLate = !watcher.begun.has(service) && watcher.had.has(first.epoch) && news.length === lines.length
    if (isLate && first.number > 1)
      texts.push(`[WARN] ${now.toISOString()} Older lines are no longer available`)
    watcher.begun.add(service)
    for (const line of news) {
      texts.push(line.text)
      advance(watcher.at, line.epoch, line.seq)
    }
  }
  if (texts.length > 0) watcher.send(texts, renderCursor(watcher.at))
}
