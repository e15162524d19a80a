import { TooManyError } from '../errors.ts'

const WINDOW_MS = 10 * 60 * 1000
export const HOUR_MS = 60 * 60 * 1000
/** Most keys to remember; the oldest are dropped first. */
const MAX_KEYS = 20_000

/** Counts attempts by key, each key for ten minutes, or another time, from its first attempt. */
export interface Attempts {
  /** @throws TooManyError when the key has `max` already. */
  check(key: string, max: number): void
  count(key: string): number
  add(key: string, by: number): void
  forget(key: string): void
}

interface Count {
  count: number
  /** ms since the epoch. */
  until: number
}

export function createAttempts(clock: () => number, windowMs = WINDOW_MS): Attempts {
  const counts = new Map<string, Count>()
  const find = (key: string) => {
    const known = counts.get(key)
    return known && known.until > clock() ? known : undefined
  }
  return {
    check(key, max) {
      const known = find(key)
      if (known && known.count >= max) throw new TooManyError(Math.ceil((known.until - clock()) / 1000))
    },
    count: (key) => find(key)?.count ?? 0,
    add(key, by) {
      const entry = find(key) ?? { count: 0, until: clock() + windowMs }
      entry.count += by
      counts.delete(key)
      if (entry.count > 0) counts.set(key, entry)
      for (const oldest of counts.keys()) {
        if (counts.size <= MAX_KEYS) break
        counts.delete(oldest)
      }
    },
    forget: (key) => void counts.delete(key),
  }
}
