import { UnavailableError } from './errors.ts'

/** Lets only so many do something costly at a time; the others wait in line, and the line is not endless. */
export interface Gate {
  /** @throws UnavailableError when the line is full, or whatever `work` throws */
  pass<T>(work: () => Promise<T>): Promise<T>
}

export function createGate(atOnce: number, waiting: number): Gate {
  const line: (() => void)[] = []
  let inside = 0
  return {
    async pass(work) {
      if (inside >= atOnce) {
        if (line.length >= waiting) throw new UnavailableError('The server is busy, try again later')
        // Whoever leaves hands over the place, so that it is never counted twice.
        await new Promise<void>((resolve) => line.push(resolve))
      } else inside++
      try {
        return await work()
      } finally {
        const next = line.shift()
        if (next) next()
        else inside--
      }
    },
  }
}
