export interface SingleFlight {
  /** Asks for a run that begins after this call: at once, or when the one under way has ended. */
  trigger(): void
  isBusy(): boolean
  /** Resolves when nothing runs and nothing is asked for. */
  idle(): Promise<void>
  /** No run begins after this; one under way ends by itself. */
  close(): void
}

/** Runs `work` one at a time; any number of triggers during a run make one more run. `work` must not throw. */
export function createSingleFlight(work: () => Promise<void>): SingleFlight {
  let asked = false
  let closed = false
  let flight: Promise<void> | undefined

  const fly = async () => {
    while (asked && !closed) {
      asked = false
      await work()
    }
    flight = undefined
  }
  return {
    trigger() {
      asked = !closed
      if (asked) flight ??= fly()
    },
    isBusy: () => flight !== undefined,
    idle: async () => flight,
    close() {
      closed = true
    },
  }
}
