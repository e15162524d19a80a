import { ServiceAnswers, ServiceCount } from '@postern/contract/edge/edge-messages'
import { LIMITS } from '@postern/contract/limits'
import * as z from 'zod/mini'
import { type Answers, createAnswers } from './answers.ts'
import { addCounts, type Count, growth, NONE, type Reading } from './reading.ts'

const Batch = z.object({
  seq: z.number(),
  minute: z.number(),
  counts: z.array(ServiceCount),
  /** Of services that are among the counts. */
  answers: z.optional(z.array(ServiceAnswers)),
})
/** Counts on their way to the server; their number is never used again. */
export type Batch = z.infer<typeof Batch>

/** What must survive the edge: how far each counter was read, and what the server does not have yet. */
export const LedgerState = z.object({
  ledger: z.string(),
  /** The number of the last batch. */
  seq: z.number(),
  /** Source → its counters as last read, by service. */
  sources: z.record(z.string(), z.array(ServiceCount)),
  waiting: z.array(Batch),
  /** Everything counted since too many batches were waiting, in one batch. */
  pending: z.array(ServiceCount),
  /** The same of answers; a file of an older edge has none. */
  pendingAnswers: z._default(z.array(ServiceAnswers), []),
})
export type LedgerState = z.infer<typeof LedgerState>

/** Turns counters that only grow into counts that are each sent once. */
export interface Ledger {
  readonly name: string
  /** Notes where the counters stand without counting it, because nobody knows how much of it was counted before. */
  begin(readings: readonly Reading[]): void
  /**
   * Counts what was added since the last time.
   * @param readings one that is missing this time may come again
   * @param minute since the epoch, for what was added
   * @param answers since the last time
   * @returns whether anything was added, or a new source counts
   */
  take(readings: readonly Reading[], minute: number, answers?: Answers): boolean
  /** The oldest batch that the server does not have. */
  next(): Batch | undefined
  /** The server has all batches up to this number. */
  stored(seq: number, newName: string): void
  state(): LedgerState
}

/** How many times a source may be missing before it is forgotten; after that it would be counted from its start. */
const MOST_MISSED = 100

/** Enough for 20,000 busy services for five minutes. */
const MOST_WAITING = 200

type Counts = Map<number, Count>

export function createLedger(kept: LedgerState): Ledger {
  let { ledger: name, seq, waiting } = kept
  let pending = toMap(kept.pending)
  const answered = createAnswers(kept.pendingAnswers)
  const sources = new Map(Object.entries(kept.sources).map(([source, rows]) => [source, toMap(rows)]))

  const missed = new Map<string, number>()

  const record = ({ source, counts }: Reading) => {
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
    // A request is counted when it begins, and its answer when it ends.
    for (const service of answered.services()) if (!pending.has(service)) pending.set(service, NONE)
    const counts = toRows(pending)
    for (let start = 0; start < counts.length; start += LIMITS.serviceCounts) {
      const some = counts.slice(start, start + LIMITS.serviceCounts)
      const answers = answered.takeOf(some.map(([service]) => service))
      waiting.push({ seq: ++seq, minute, counts: some, ...(answers.length > 0 && { answers }) })
    }
    pending = new Map()
  }
  return {
    get name() {
      return name
    },
    begin(readings) {
      for (const { source, counts } of readings) sources.set(source, new Map(counts))
    },
    take(readings, minute, answers = createAnswers()) {
      for (const source of sources.keys()) missed.set(source, (missed.get(source) ?? 0) + 1)
      let isNew = answered.add(answers.takeAll())
      for (const reading of readings) {
        if (record(reading)) isNew = true
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
      // This ledger is an old copy, and its numbers have been used again since.
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
      pendingAnswers: answered.rows(),
    }),
  }
}

export function emptyLedger(ledger: string): LedgerState {
  return { ledger, seq: 0, sources: {}, waiting: [], pending: [], pendingAnswers: [] }
}

function toMap(rows: readonly ServiceCount[]): Counts {
  return new Map(rows.map(([service, ...count]) => [service, count]))
}

function toRows(counts: Counts): ServiceCount[] {
  return [...counts].map(([service, count]): ServiceCount => [service, ...count])
}
