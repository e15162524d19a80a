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
