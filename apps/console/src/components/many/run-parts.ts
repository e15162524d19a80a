import { LIMITS } from '@postern/contract/limits'
import type { ManyResult } from '@postern/contract/services/many'
import { errorMessage, isTold } from '../../api/api-error.ts'

export type DoneRecord = ManyResult['done'][number]
export type RefusedRecord = ManyResult['refused'][number]

/** The named records, or all records of a filter. `total`: how many the filter found when it was counted. */
export type Which<R> = { records: readonly R[] } | { filter: object; total: number }

/** What one request names. */
export type Part<R> = { records: R[] } | { filter: object; after: number; limit: number }

export interface Outcome {
  done: DoneRecord[]
  unchanged: number
  refused: RefusedRecord[]
  /** How many were looked at. */
  handled: number
  /** Why it ended before all were; empty for what was told already, or was stopped by the person. */
  failure?: string
}

interface Progress {
  onProgress: (handled: number) => void
  isStopped: () => boolean
}

/**
 * Sends as many requests as it takes, one after the other. No more records than were counted are changed: what comes
 * later was not asked about. It never rejects: what was done before a failure is done.
 */
export async function runParts<R>(
  which: Which<R>,
  send: (part: Part<R>) => Promise<ManyResult>,
  { onProgress, isStopped }: Progress,
): Promise<Outcome> {
  const outcome: Outcome = { done: [], unchanged: 0, refused: [], handled: 0 }
  for (let part = firstPart(which); part; ) {
    try {
      const result = await send(part)
      outcome.done.push(...result.done)
      outcome.unchanged += result.unchanged
      outcome.refused.push(...result.refused)
      outcome.handled += result.done.length + result.unchanged + result.refused.length
      part = nextPart(which, result, outcome.handled)
    } catch (error) {
      return { ...outcome, failure: isTold(error) ? '' : errorMessage(error) }
    }
    onProgress(outcome.handled)
    if (part && isStopped()) return { ...outcome, failure: '' }
  }
  return outcome
}

function firstPart<R>(which: Which<R>): Part<R> | undefined {
  if ('records' in which) return recordsFrom(which.records, 0)
  return filterFrom(which, 0, 0)
}

function nextPart<R>(which: Which<R>, { next }: ManyResult, handled: number): Part<R> | undefined {
  if ('records' in which) return recordsFrom(which.records, handled)
  return next === null ? undefined : filterFrom(which, next, handled)
}

function recordsFrom<R>(all: readonly R[], start: number): Part<R> | undefined {
  const records = all.slice(start, start + LIMITS.manyAtOnce)
  return records.length > 0 ? { records } : undefined
}

function filterFrom<R>(
  { filter, total }: { filter: object; total: number },
  after: number,
  handled: number,
): Part<R> | undefined {
  const limit = Math.min(LIMITS.manyAtOnce, total - handled)
  return limit > 0 ? { filter, after, limit } : undefined
}
