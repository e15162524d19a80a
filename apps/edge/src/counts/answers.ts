import type { ServiceAnswers } from '@postern/contract/edge/edge-messages'
import { bucketOf, RESPONSE_BUCKETS } from '@postern/contract/edge/response-times'
import type { KeptRequest } from '@postern/contract/requests/kept'

/** How HTTP services answered since this was last taken. */
export interface Answers {
  /** Counts a request that has ended; what is no HTTP request, or got no answer, is left out. */
  note(request: Pick<KeptRequest, 'type' | 'service' | 'status' | 'response'>): void
  /** @returns whether there are any */
  add(rows: readonly ServiceAnswers[]): boolean
  services(): Iterable<number>
  takeAll(): ServiceAnswers[]
  /** Takes those of these services. */
  takeOf(services: readonly number[]): ServiceAnswers[]
  rows(): ServiceAnswers[]
}

interface Tally {
  errors: number
  buckets: number[]
}

const UPGRADED = 101
const FIRST_ERROR = 500

export function createAnswers(kept: readonly ServiceAnswers[] = []): Answers {
  let tallies = new Map<number, Tally>()
  const tallyOf = (service: number) =>
    tallies.getOrInsertComputed(service, () => ({ errors: 0, buckets: Array(RESPONSE_BUCKETS).fill(0) }))
  const add = (rows: readonly ServiceAnswers[]) => {
    for (const [service, errors, buckets] of rows) {
      const tally = tallyOf(service)
      tally.errors += errors
      for (const [bucket, count] of buckets.entries())
        tally.buckets[bucket] = (tally.buckets[bucket] ?? 0) + count
    }
    return rows.length > 0
  }
  const rows = () => [...tallies].map(([service, tally]) => rowOf(service, tally))
  add(kept)
  return {
    note({ type, service, status, response }) {
      // A WebSocket says nothing of how fast its service answers.
      if (type !== 'http' || status === null || status === UPGRADED) return
      const isError = status >= FIRST_ERROR
      if (!isError && response === null) return
      const tally = tallyOf(service)
      if (isError) tally.errors++
      if (response === null) return
      const bucket = bucketOf(response)
      tally.buckets[bucket] = (tally.buckets[bucket] ?? 0) + 1
    },
    add,
    services: () => tallies.keys(),
    takeAll() {
      const all = rows()
      tallies = new Map()
      return all
    },
    takeOf: (services) =>
      services.flatMap((service) => {
        const tally = tallies.get(service)
        tallies.delete(service)
        return tally ? [rowOf(service, tally)] : []
      }),
    rows,
  }
}

/** Without zeros at the end, which most of the buckets are. */
function rowOf(service: number, { errors, buckets }: Tally): ServiceAnswers {
  return [service, errors, buckets.slice(0, buckets.findLastIndex((count) => count > 0) + 1)]
}
