/** Waiting times that double from `first` to `last` ms, each cut at random so that agents do not come all at once. */
export interface Backoff {
  next(): number
  reset(): void
}

export function createBackoff(first: number, last: number, random: () => number): Backoff {
  let attempts = 0
  return {
    next() {
      const full = Math.min(last, first * 2 ** Math.min(attempts, 30))
      attempts++
      return Math.round(full * (0.5 + random() / 2))
    },
    reset() {
      attempts = 0
    },
  }
}
