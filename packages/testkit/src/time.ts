import { readFileSync } from 'node:fs'

const TRIES = 5

/**
 * Measures some work repeatedly, in ms: a busy machine is slow once, slow code always.
 * @param enough a time below this is good, and ends the tries
 * @returns the shortest of at most five
 */
export async function repeatableMs(enough: number, work: () => Promise<unknown>): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < TRIES && shortest >= enough; tries++) {
    const start = performance.now()
    await work()
    shortest = Math.min(shortest, performance.now() - start)
  }
  return shortest
}

/** Linux counts the time of processes in hundredths of a second, whatever its own clock. */
const TICK_MS = 10

/** The processor time of a process so far, in ms. */
export function processorMs(pid: number): number {
  const [user = 0, system = 0] = processorTicks(pid)
  return (user + system) * TICK_MS
}

/** The same, with that of the programs that it has run and that have ended. */
export function processorMsWithPrograms(pid: number): number {
  return processorTicks(pid).reduce((sum, ticks) => sum + ticks, 0) * TICK_MS
}

/** Its own, in the user's and the system's time, and that of its children. */
function processorTicks(pid: number): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program, in brackets, may hold blanks; utime, stime, cutime and cstime are fields 14 to 17 of all.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).map(Number)
}

/** The processor time that some work costs this process, in ms. */
export async function costMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
