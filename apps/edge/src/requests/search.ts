import type { FoundRequest, FoundRequests, KeptSearch } from '@postern/contract/requests/kept'
import type { Logger } from 'pino'
import { createMatcher, type Matcher } from './filter.ts'
import { readRows } from './rows.ts'
import { type BlockPlace, fieldsOf } from './segment-file.ts'
import type { RequestStore, Segment } from './store.ts'

interface SearchParts {
  store: Pick<RequestStore, 'segments' | 'read'>
  /** ms since the epoch. */
  now: () => number
  log: Logger
}

type Found = Omit<FoundRequests, 'ask'>

/** Bytes of requests in one answer; a request has a few thousand at most. */
const MAX_ANSWER = 1024 * 1024

/**
 * Looks from the newest back until the page is full, everything was looked at, the time is up or nobody waits any more.
 * @param patience in ms
 */
export async function searchRequests(
  parts: SearchParts,
  { filter, limit, before, after }: Omit<KeptSearch, 'ask'>,
  patience: number,
  signal: AbortSignal,
): Promise<Found> {
  const deadline = parts.now() + patience
  const matcher = createMatcher(filter)
  const segments = parts.store.segments().filter(({ rows }) => rows > 0)
  const newest = segments.at(-1)
  const answer: Found = {
    found: [],
    next: null,
    reached: null,
    newest: newest ? `${newest.seq}-${newest.rows}` : after,
  }
  const [start, stop] = [before ? parsePlace(before) : null, after ? parsePlace(after) : null]
  let bytes = 0
  for (const segment of segments.toReversed()) {
    if (start && segment.seq > start.seq) continue
    if (stop && segment.seq < stop.seq) break
    const end = start?.seq === segment.seq ? Math.min(start.row, segment.rows) : segment.rows
    const first = stop?.seq === segment.seq ? stop.row : 0
    if (!matcher.overlaps(segment)) {
      answer.reached = segment.from
      continue
    }
    for await (const step of stepsOf(parts, matcher, segment, first, end)) {
      for (const request of step.found) {
        answer.found.push(request)
        bytes += JSON.stringify(request).length
        if (answer.found.length < limit && bytes < MAX_ANSWER) continue
        return { ...answer, next: request.place, reached: request.at }
      }
      answer.reached = step.from
      const isUp = parts.now() >= deadline || signal.aborted
      if (isUp) return { ...answer, next: `${segment.seq}-${step.firstRow}` }
    }
  }
  return answer
}

/** A place as its parts: what is before it are the rows below. */
function parsePlace(place: string): { seq: number; row: number } {
  const [seq = 0, row = 0] = place.split('-').map(Number)
  return { seq, row }
}

/** What was found in one block, the newest first, and where it begins. */
interface Step {
  found: FoundRequest[]
  firstRow: number
  from: number
}

/** Block by block from the newest back. A block that cannot be read is passed over. */
async function* stepsOf(
  { store, log }: SearchParts,
  matcher: Matcher,
  segment: Segment,
  first: number,
  end: number,
): AsyncGenerator<Step> {
  const reading = await store.read(segment.seq)
  if (!reading) return
  try {
    for (const place of reading.places.toReversed()) {
      const { firstRow, head } = place
      if (firstRow >= end || firstRow + head.rows <= first) continue
      const found =
        matcher.overlaps(head) && matcher.mayHave(head)
          ? await findIn(reading.file, place, matcher, segment.seq, first, end).catch((err: unknown) => {
              log.warn({ err }, 'a block of kept requests cannot be read')
              return []
            })
          : []
      yield { found, firstRow, from: head.from }
    }
  } finally {
    await reading.file.close()
  }
}

async function findIn(
  file: Parameters<typeof fieldsOf>[0],
  place: BlockPlace,
  matcher: Matcher,
  seq: number,
  first: number,
  end: number,
): Promise<FoundRequest[]> {
  const { firstRow, head } = place
  const fields = fieldsOf(file, place)
  const [from, to] = [Math.max(0, first - firstRow), Math.min(head.rows, end - firstRow)]
  const rows = (await matcher.match(fields, head, from, to)).toReversed().slice(0, MOST_AT_ONCE)
  if (rows.length === 0) return []
  const requests = await readRows(fields, rows)
  return requests.map((request, index) => ({ ...request, place: `${seq}-${firstRow + (rows[index] ?? 0)}` }))
}

/** As many as an answer can hold. */
const MOST_AT_ONCE = 1000
