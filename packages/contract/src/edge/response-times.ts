/**
 * How long services take to answer is counted in buckets that everything shares, so that counts of services, minutes
 * and edges can be added. These are the upper ends of all but the last, in ms; the upper end itself belongs to its
 * bucket.
 */
export const RESPONSE_BOUNDS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 2000, 3000, 5000, 10_000, 30_000,
] as const

/** The last bucket has all that took longer; it counts as if it ended here, in ms. */
const LONGEST = 60_000

export const RESPONSE_BUCKETS = RESPONSE_BOUNDS.length + 1

/** @param ms from HAProxy's clock, in whole ms */
export function bucketOf(ms: number): number {
  const index = RESPONSE_BOUNDS.findIndex((bound) => ms <= bound)
  return index < 0 ? RESPONSE_BOUNDS.length : index
}

/**
 * The time within which a part of all answers came, in ms: as if those in a bucket were spread evenly over it.
 * @param counts by bucket; absent ones at the end are zeros
 * @param part between 0 and 1
 * @returns null when nothing was answered
 */
export function quantileOf(counts: readonly number[], part: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let left = part * all
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const from = RESPONSE_BOUNDS[bucket - 1] ?? 0
      return from + ((RESPONSE_BOUNDS[bucket] ?? LONGEST) - from) * (left / count)
    }
    left -= count
  }
  // Only by rounding.
  return LONGEST
}
