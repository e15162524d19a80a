import { UnavailableError } from '../errors.ts'

/** Limits how much costly work runs at a time; the rest waits in a queue of limited length. */
export interface Gate {
  /**
   * @param rank smaller goes first; equal ones in order of arrival
   * @throws UnavailableError when the queue is full of work with at most this rank, or whatever `work` throws
   */
  pass<T>(work: () => Promise<T>, rank?: number): Promise<T>
}

interface Waiting {
  rank: number
  enter(): void
  refuse(error: UnavailableError): void
}

export function createGate(atOnce: number, waiting: number): Gate {
  const line: Waiting[] = []
  let inside = 0
  return {
    async pass(work, rank = 0) {
      // Finished work passes its place on, so that it is never counted twice.
      if (inside >= atOnce) await waitIn(line, waiting, rank)
      else inside++
      try {
        return await work()
      } finally {
        const next = line.shift()
        if (next) next.enter()
        else inside--
      }
    },
  }
}

/** Resolves when its turn comes. In a full queue, the last one gives way to one of a smaller rank. */
function waitIn(line: Waiting[], max: number, rank: number): Promise<void> {
  const busy = new UnavailableError('The server is busy, try again later')
  if (line.length >= max) {
    const last = line.at(-1)
    if (!last || last.rank <= rank) throw busy
    line.pop()
    last.refuse(busy)
  }
  return new Promise((enter, refuse) => {
    const behind = line.findIndex((other) => other.rank > rank)
    line.splice(behind === -1 ? line.length : behind, 0, { rank, enter, refuse })
  })
}
