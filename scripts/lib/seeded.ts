import { randomInt } from 'node:crypto'
import { UsageError } from '@postern/host/flags'

const DEFAULT_MINUTES = 5
const MOST_MINUTES = 600

/** How long to try what chance decides, and with which seed: the same one tries the same in the same order. */
export interface SeededRun {
  minutes: number
  seed: number
}

/**
 * Reads `[minutes] [seed]`, and prints how to repeat the run.
 * @param command like `npm run attacks`
 * @throws UsageError
 */
export function readSeededRun(command: string, argv: readonly string[]): SeededRun {
  const usage = `Usage: ${command} [minutes] [seed]`
  const [minutesText = String(DEFAULT_MINUTES), seedText, ...more] = argv
  if (more.length > 0) throw new UsageError(usage)
  const minutes = numberOf(minutesText, MOST_MINUTES, usage)
  const seed = seedText === undefined ? randomInt(2 ** 31) : numberOf(seedText, 2 ** 31, usage)
  process.stdout.write(`${minutes} minutes with seed ${seed}; again: ${command} ${minutes} ${seed}\n`)
  return { minutes, seed }
}

function numberOf(text: string, most: number, usage: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new UsageError(`"${text}" is not a number from 1 to ${most}. ${usage}`)
  return value
}
