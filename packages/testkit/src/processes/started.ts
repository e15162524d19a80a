import { until } from '../until.ts'
import type { Running } from './exec.ts'

/** From the start of a program to its first answer, in ms, even on a busy machine. */
const START_TIMEOUT = 120_000

const ENDED = Symbol('ended')

/**
 * Waits until a program that was just started is up.
 * @param ask answers like that of `until`
 * @throws Error with its last output when it ends or stays silent; it is then stopped
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
