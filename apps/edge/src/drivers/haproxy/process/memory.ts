import { kill } from '@postern/host/processes'
import { listOwnAmong, type RunningHaproxy } from './running.ts'

/** Has HAProxy give memory back to the machine that visitors took and left. */
export interface MemoryReclaimer {
  /** Told each time that HAProxy has answered. */
  look(running: Pick<RunningHaproxy, 'pid' | 'held'>): Promise<void>
}

/** HAProxy stops for some milliseconds while it looks through its memory. */
const PAUSE_MS = 10_000
/** Less than this is not worth it. */
const LEAST_MB = 3

/**
 * Once visitors hold at most half of what they held, and no less than at the look before, HAProxy is asked for what its allocator keeps: by itself it would
 * keep it until it ends.
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
      // While visitors still leave, there will be more to give back.
      const isFalling = held < last
      last = held
      if (isFalling || most.held - held < LEAST_MB || 2 * held > most.held || clock() < next) return
      next = clock() + PAUSE_MS
      most = { pid, held }
      await ask(pid)
    },
  }
}

/** What SIGQUIT is for in HAProxy. A process that is not ours is left alone. */
export async function askForMemory(pid: number, config: string): Promise<void> {
  if ((await listOwnAmong([pid], config)).length > 0) kill(pid, 'SIGQUIT')
}
