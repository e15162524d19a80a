/** One at a time, in the order of the calls. */
export interface Queue {
  run<T>(task: () => Promise<T>): Promise<T>
  isBusy(): boolean
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return {
    run(task) {
      waiting++
      const turn = last.then(task).finally(() => waiting--)
      // The caller gets the error; the next in line only waits for the end.
      last = turn.catch(() => undefined)
      return turn
    },
    isBusy: () => waiting > 0,
  }
}

export interface SingleFlight {
  /** Asks for a run that begins after this call: at once, or when the one under way and the gap are over. */
  trigger(): void
  isBusy(): boolean
  /** Resolves when nothing runs and nothing is asked for that could run now. */
  idle(): Promise<void>
  /** No run begins after this; one under way runs to its end. */
  close(): void
}

/**
 * Runs `work` one at a time; any number of triggers during a run make one more run. `work` must not throw.
 * @param gap ms between the beginnings of two runs, at least
 */
export function createSingleFlight(work: () => Promise<void>, gap = 0): SingleFlight {
  let isAsked = false
  let isClosed = false
  let flight: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let notBefore = Number.NEGATIVE_INFINITY

  const begin = () => {
    if (!isAsked || isClosed || flight || timer) return
    const wait = notBefore - performance.now()
    if (wait <= 0) flight = fly()
    else
      timer = setTimeout(() => {
        timer = undefined
        begin()
      }, wait)
  }
  const fly = async () => {
    isAsked = false
    notBefore = performance.now() + gap
    await work()
    flight = undefined
    begin()
  }
  return {
    trigger() {
      isAsked = true
      begin()
    },
    isBusy: () => flight !== undefined,
    async idle() {
      while (flight) await flight
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** Ends the waiting of a loop early. */
export interface Bell {
  ring(): void
  /**
   * Waits until it rings, at most `patience` ms. A ring since the last wait counts.
   * @returns false when it rang
   */
  next(patience: number, signal: AbortSignal): Promise<boolean>
}

/**
 * Turns a burst of rings into one, when it has been quiet for a while or the burst lasts too long.
 * @param limits in ms: how long it must be quiet, and how long a burst may last
 */
export function createBell({ quiet, most } = { quiet: 0, most: 0 }): Bell {
  let burst: { began: number; timer: NodeJS.Timeout } | undefined
  let isDue = false
  let wake: () => void = () => undefined

  function end(): void {
    burst = undefined
    isDue = true
    wake()
  }

  return {
    ring() {
      const now = performance.now()
      const began = burst?.began ?? now
      clearTimeout(burst?.timer)
      burst = { began, timer: setTimeout(end, Math.min(quiet, Math.max(0, began + most - now))) }
    },
    async next(patience, signal) {
      if (!isDue && !signal.aborted)
        await new Promise<void>((resolve) => {
          const done = () => {
            clearTimeout(timer)
            signal.removeEventListener('abort', done)
            wake = () => undefined
            resolve()
          }
          const timer = setTimeout(done, patience)
          signal.addEventListener('abort', done)
          wake = done
        })
      const isQuiet = !isDue
      isDue = false
      if (signal.aborted) clearTimeout(burst?.timer)
      return isQuiet
    },
  }
}
