/** Connections (requests, flows), bytes from visitors and bytes to visitors. */
export type Count = readonly [connections: number, received: number, sent: number]

export const NONE: Count = [0, 0, 0]

/** What something has counted since it began, by service. */
export interface Reading {
  /** Who has counted, like one process of HAProxy: what begins anew has another name. */
  source: string
  counts: ReadonlyMap<number, Count>
}

/** Reads it now, or finds nobody who has counted. */
export type Read = () => Promise<Reading | undefined>

export function addCounts(a: Count, b: Count): Count {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/** HAProxy's counter of connections has 32 bits. */
const ROUND = 2 ** 32

/**
 * What was added. A counter that is lower than before has begun anew: HAProxy makes room for busier services.
 * @param before the same counter earlier
 */
export function growth(before: Count, now: Count): Count {
  const [connections, received, sent] = [0, 1, 2].map((at) => (now[at] ?? 0) - (before[at] ?? 0)) as [
    number,
    number,
    number,
  ] // Made from three.
  if (received < 0 || sent < 0) return now
  if (connections >= 0) return [connections, received, sent]
  return received + sent > 0 ? [connections + ROUND, received, sent] : now
}
