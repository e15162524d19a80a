import { ServiceCount } from '@postern/contract/edge'
import { LIMITS } from '@postern/contract/limits'
import * as z from 'zod/mini'
import { addCounts, type Count, growth, NONE, type Reading } from './reading.ts'

const Batch = z.object({ seq: z.number(), minute: z.number(), counts: z.array(ServiceCount) })
/** Counts on their way to the server; their number is never given again. */
export type Batch = z.infer<typeof Batch>

/** What must not be lost when the edge dies: how far each counter was read, and what the server does not have yet. */
export const LedgerState = z.object({
  ledger: z.string(),
  /** The number of the last batch. */
  seq: z.number(),
  /** Source → what its counters said, by service. */
  sources: z.record(z.string(), z.array(ServiceCount)),
  waiting: z.array(Batch),
  /** Too much waits already: what was counted since, together. */
  pending: z.array(ServiceCount),
})
export type LedgerState = z.infer<typeof LedgerState>

/** Turns counters that only grow into counts that are each sent once. */
export interface Ledger {
  readonly name: string
  /** Notes where the counters stand, without counting it: nobody knows what of it was counted before. */
  begin(readings: readonly Reading[]): void
  /**
   * Counts what was added since the last time.
   * @param readings one that is missing this time may come again
   * @param minute since the epoch, for what was added
   * @returns whether anything was, or somebody counts who did not before
   */
  take(readings: readonly Reading[], minute: number): boolean
  /** The oldest that the server does not have. */
  next(): Batch | undefined
  /** The server has all up to this number. */
  stored(seq: number, newName: string): void
  state(): LedgerState
}

/** So many times a source may be missing before it is forgotten; one that came back would be counted from its start. */
const MOST_MISSED = 100

/** As much as 20,000 busy services have in five minutes. */
const MOST_WAITING = 200

type Counts = Map<number, Count>

export function createLedger(kept: LedgerState): Ledger {
  let { ledger: name, seq, waiting } = kept
  let pending = toMap(kept.pending)
  const sources = new Map(Object.entries(kept.sources).map(([source, rows]) => [source, toMap(rows)]))

  const missed = new Map<string, number>()

  const note = ({ source, counts }: Reading) => {
    const before = sources.get(source)
    sources.set(source, new Map(counts))
    let isNew = before === undefined
    for (const [service, now] of counts) {
      const added = growth(before?.get(service) ?? NONE, now)
      if (!added.some((value) => value > 0)) continue
      pending.set(service, addCounts(pending.get(service) ?? NONE, added))
      isNew = true
    }
    return isNew
  }
  const batch = (minute: number) => {
    if (waiting.length >= MOST_WAITING) return
    const counts = toRows(pending)
    for (let start = 0; start < counts.length; start += LIMITS.serviceCounts)
      waiting.push({ seq: ++seq, minute, counts: counts.slice(start, start + LIMITS.serviceCounts) })
    pending = new Map()
  }
  return {
    get name() {
      return name
    },
    begin(readings) {
      for (const { source, counts } of readings) sources.set(source, new Map(counts))
    },
    take(readings, minute) {
      for (const source of sources.keys()) missed.set(source, (missed.get(source) ?? 0) + 1)
      let isNew = false
      for (const reading of readings) {
        if (note(reading)) isNew = true
        missed.set(reading.source, 0)
      }
      for (const [source, times] of missed)
        if (times > MOST_MISSED && sources.delete(source)) missed.delete(source)
      batch(minute)
      return isNew
    },
    next: () => waiting[0],
    stored(stored, newName) {
      waiting = waiting.filter((each) => each.seq > stored)
      if (stored <= seq) return
      // This ledger is an older copy of one that has gone on: its numbers mean something else by now.
      name = newName
      seq = 0
      waiting = waiting.map((each) => ({ ...each, seq: ++seq }))
    },
    state: () => ({
      ledger: name,
      seq,
      sources: Object.fromEntries([...sources].map(([source, counts]) => [source, toRows(counts)])),
      waiting,
      pending: toRows(pending),
    }),
  }
}

export function emptyLedger(ledger: string): LedgerState {
  return { ledger, seq: 0, sources: {}, waiting: [], pending: [] }
}

function toMap(rows: readonly ServiceCount[]): Counts {
  return new Map(rows.map(([service, ...count]) => [service, count]))
}

function toRows(counts: Counts): ServiceCount[] {
  return [...counts].map(([service, count]): ServiceCount => [service, ...count])
}
