/** Runs at once when it was quiet, and at most once per gap; never twice at the same time. */
export interface Throttle {
  poke(): void
  stop(): void
}

export function createThrottle(
  run: () => Promise<void>,
  gapMs: number,
  onError: (error: unknown) => void,
): Throttle {
  let isWanted = false
  let isRunning = false
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let lastAt = Number.NEGATIVE_INFINITY
  const schedule = () => {
    if (!isWanted || isRunning || isStopped || timer) return
    const wait = lastAt + gapMs - performance.now()
    if (wait <= 0) void start()
    else
      timer = setTimeout(() => {
        timer = undefined
        void start()
      }, wait)
  }
  const start = async () => {
    isWanted = false
    isRunning = true
    lastAt = performance.now()
    await run().catch(onError)
    isRunning = false
    schedule()
  }
  return {
    poke() {
      isWanted = true
      schedule()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
