/** Connections (requests, flows), bytes from visitors and bytes to visitors. */
export type Count = readonly [connections: number, received: number, sent: number]

export const NONE: Count = [0, 0, 0]

/** The counters of one source since it began, by service. */
export interface Reading {
  /** Names the source, like one process of HAProxy; one that restarts has another name. */
  source: string
  counts: ReadonlyMap<number, Count>
}

/** Reads the counters now; undefined when there is no source. */
export type Read = () => Promise<Reading | undefined>

/** Capped at the largest exact whole number: the server takes no other, and a HAProxy that was taken over says what it likes. */
export function addCounts(a: Count, b: Count): Count {
  const both = (at: 0 | 1 | 2) => Math.min(a[at] + b[at], Number.MAX_SAFE_INTEGER)
  return [both(0), both(1), both(2)]
}

/** HAProxy's counter of connections has 32 bits. */
const ROUND = 2 ** 32

/**
 * What was added. A counter that is lower than before was restarted: HAProxy makes room for busier services.
 * @param before the same counter earlier
 */
export function growth(before: Count, now: Count): Count {
  const [connections, received, sent] = [0, 1, 2].map((at) => (now[at] ?? 0) - (before[at] ?? 0)) as [
    number,
    number,
    number,
  ] // A triple, built from a triple.
  if (received < 0 || sent < 0) return now
  if (connections >= 0) return [connections, received, sent]
  const isRound = received + sent > 0 && connections + ROUND >= 0
  return isRound ? [connections + ROUND, received, sent] : now
}
