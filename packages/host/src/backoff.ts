export interface Backoff {
  /** ms. */
  next(): number
  reset(): void
}

/** The waits between attempts, in ms: doubling from `first` to `most`, each cut by up to a half at random. */
export function createBackoff(options: { first: number; most: number; random: () => number }): Backoff {
  let next = options.first
  return {
    next(): number {
      const wait = next * (1 - options.random() / 2)
      next = Math.min(next * 2, options.most)
      return wait
    },
    reset(): void {
      next = options.first
    },
  }
}
