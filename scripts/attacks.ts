import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { UsageError } from '@postern/host/flags'
import { show } from '@postern/host/processes/exec'
import { runCommand } from './lib/command.ts'
import { ROOT } from './lib/environment.ts'

const DEFAULT_MINUTES = 5
const MOST_MINUTES = 600
const USAGE = 'Usage: npm run attacks [minutes] [seed]'
/** Time for the tables themselves, and for 4 GiB in each direction. */
const SPARE_MS = 45 * 60_000

/**
 * `npm run attacks [minutes] [seed]`: the tables of tests/attacks, then random combinations of them. The same seed
 * tries the same combinations in the same order.
 */
async function attack([
  minutesText = String(DEFAULT_MINUTES),
  seedText,
  ...more
]: readonly string[]): Promise<number> {
  if (more.length > 0) throw new UsageError(USAGE)
  const minutes = numberOf(minutesText, MOST_MINUTES)
  const seed = seedText === undefined ? randomInt(2 ** 31) : numberOf(seedText, 2 ** 31)
  process.stdout.write(`${minutes} minutes with seed ${seed}; again: npm run attacks ${minutes} ${seed}\n`)
  process.env.POSTERN_ATTACK_SECONDS = String(minutes * 60)
  process.env.POSTERN_ATTACK_SEED = String(seed)
  const vitest = join(ROOT, 'node_modules/.bin/vitest')
  return await show([vitest, 'run', '--project', 'attacks'], minutes * 60_000 + SPARE_MS)
}

function numberOf(text: string, most: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new UsageError(`"${text}" is not a number from 1 to ${most}. ${USAGE}`)
  return value
}

await runCommand(attack)
