import { kill } from '@postern/host/processes/processes'
import { listOwnAmong, type RunningHaproxy } from './running.ts'

/** Makes HAProxy give memory back to the machine that its past visitors needed. */
export interface MemoryReclaimer {
  /** Call it each time that HAProxy has answered. */
  look(running: Pick<RunningHaproxy, 'pid' | 'held'>): Promise<void>
}

/** HAProxy stops for some milliseconds while it searches its memory. */
const PAUSE_MS = 10_000
/** Less than this is not worth it. */
const LEAST_MB = 3

/**
 * Once visitors use at most half of what they used, and no less than at the last check, HAProxy is asked to free what
 * its allocator keeps; otherwise it would keep it until it ends.
 * @param clock in ms
 */
export function createMemoryReclaimer(
  ask: (pid: number) => Promise<void>,
  clock: () => number = Date.now,
): MemoryReclaimer {
  let most = { pid: 0, held: 0 }
  let last = 0
  let next = 0
  return {
    async look({ pid, held }) {
      if (pid !== most.pid || held > most.held) most = { pid, held }
      // While visitors are still leaving, there will be more to give back.
      const isFalling = held < last
      last = held
      if (isFalling || most.held - held < LEAST_MB || 2 * held > most.held || clock() < next) return
      next = clock() + PAUSE_MS
      most = { pid, held }
      await ask(pid)
    },
  }
}

/** SIGQUIT makes HAProxy do this. A process that is not ours is left alone. */
export async function askForMemory(pid: number, config: string): Promise<void> {
  if ((await listOwnAmong([pid], config)).length > 0) kill(pid, 'SIGQUIT')
}
