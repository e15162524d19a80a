import type { LogLine } from '@postern/contract/edge/edge-messages'
import { LIMITS } from '@postern/contract/limits'

export interface LogRingsOptions {
  /** Sends the lines to the server; false when they could not be sent. */
  send(lines: LogLine[]): boolean
  /** Lines that are kept of all services together. */
  capacity?: number
}

export interface LogRings {
  /** `text` is read only when somebody watches the service. */
  push(line: Pick<LogLine, 'service' | 'text'>): void
  /** The services to watch from now on; for new ones the kept lines are sent first. */
  watch(services: readonly number[]): void
  close(): void
}

const CAPACITY = 100_000
const BATCH_EVERY = 100
/** Most lines that wait to be sent; more are dropped, and their numbers show the gap. */
const MAX_WAITING = 20_000

/** Keeps the last lines of each service, and sends those of watched services. */
export function createLogRings({ send, capacity = CAPACITY }: LogRingsOptions): LogRings {
  /** The service that wrote last is at the end, so that the one that has been silent longest makes room. */
  const rings = new Map<number, KeptLine[]>()
  const numbers = new Map<number, number>()
  let watched = new Set<number>()
  let waiting: LogLine[] = []
  let timer: NodeJS.Timeout | undefined
  let seq = 0
  let total = 0

  const flush = () => {
    timer = undefined
    const lines = waiting
    waiting = []
    for (let start = 0; start < lines.length; start += LIMITS.logLines)
      if (!send(lines.slice(start, start + LIMITS.logLines))) return
  }
  const enqueue = (lines: readonly KeptLine[]) => {
    const room = MAX_WAITING - waiting.length
    waiting.push(...lines.slice(0, Math.max(room, 0)).map(tell))
    timer ??= setTimeout(flush, BATCH_EVERY)
  }
  const keep = (kept: KeptLine) => {
    const { service } = kept.line
    const ring = rings.get(service) ?? []
    rings.delete(service)
    rings.set(service, ring)
    ring.push(kept)
    total++
    if (ring.length > LIMITS.logLines) {
      ring.shift()
      total--
    }
    const [oldest] = rings
    if (total <= capacity || !oldest) return
    rings.delete(oldest[0])
    total -= oldest[1].length
  }

  return {
    push(line) {
      const { service } = line
      const number = (numbers.get(service) ?? 0) + 1
      numbers.delete(service)
      numbers.set(service, number)
      // A HAProxy that was taken over may name services without end.
      const [oldest] = numbers.keys()
      if (numbers.size > capacity && oldest !== undefined) numbers.delete(oldest)
      const kept = { line, seq: ++seq, number }
      keep(kept)
      if (watched.has(service)) enqueue([kept])
    },
    watch(services) {
      const before = watched
      watched = new Set(services)
      for (const service of watched) if (!before.has(service)) enqueue(rings.get(service) ?? [])
    },
    close: () => clearTimeout(timer),
  }
}

interface KeptLine {
  line: Pick<LogLine, 'service' | 'text'>
  seq: number
  number: number
}

function tell({ line, seq, number }: KeptLine): LogLine {
  return { service: line.service, seq, number, text: cleanLine(line.text) }
}

/** Visitors write parts of these lines. */
function cleanLine(text: string): string {
  return text.replace(/\p{Cc}/gu, '?').slice(0, LIMITS.logLineLength)
}
