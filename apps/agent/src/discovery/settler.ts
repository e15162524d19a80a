/** Turns bursts of calls into one, when they have been over for a while or last too long. */
export interface Settler {
  call(): void
  /**
   * Waits for the end of a burst, at most `patience` ms. A burst that ended meanwhile counts.
   * @returns whether there was none
   */
  next(patience: number, signal: AbortSignal): Promise<boolean>
}

/** @param limits in ms: how long it must be quiet, and how long a burst may last */
export function createSettler({ quiet, most }: { quiet: number; most: number }): Settler {
  let burst: { began: number; timer: NodeJS.Timeout } | undefined
  let isDue = false
  let wake: () => void = () => undefined

  function end(): void {
    burst = undefined
    isDue = true
    wake()
  }

  return {
    call() {
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
