import type { Running } from './exec.ts'
import { until } from './until.ts'

/** From the start of a program to its first answer, in ms: also on a machine that has much else to do. */
const START_TIMEOUT = 120_000

const ENDED = Symbol('ended')

/**
 * Waits until a program that was just started is there.
 * @param ask answers like that of `until`
 * @throws Error when it ends or stays silent, with what it said last; it is stopped then
 */
export async function whenStarted<T>(program: Running, what: string, ask: () => T | Promise<T>) {
  const askRunning = () => (program.isRunning() ? ask() : ENDED)
  try {
    const answer = await until<T | typeof ENDED>(what, askRunning, { timeoutMs: START_TIMEOUT })
    if (answer === ENDED) throw new Error('it ended')
    return answer
  } catch (cause) {
    await program.stop()
    throw new Error(`${what}: ${cause}; the program said: ${program.output().slice(-2000)}`, { cause })
  }
}
