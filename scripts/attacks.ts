import { join } from 'node:path'
import { show } from '@postern/host/processes/exec'
import { runCommand } from './lib/command.ts'
import { ROOT } from './lib/environment.ts'
import { readSeededRun } from './lib/seeded.ts'

/** Time for the tables themselves, and for 4 GiB in each direction. */
const SPARE_MS = 45 * 60_000

/** `npm run attacks [minutes] [seed]`: the tables of tests/attacks, then random combinations of them. */
async function attack(argv: readonly string[]): Promise<number> {
  const { minutes, seed } = readSeededRun('npm run attacks', argv)
  process.env.POSTERN_ATTACK_SECONDS = String(minutes * 60)
  process.env.POSTERN_ATTACK_SEED = String(seed)
  const vitest = join(ROOT, 'node_modules/.bin/vitest')
  return await show([vitest, 'run', '--project', 'attacks'], minutes * 60_000 + SPARE_MS)
}

await runCommand(attack)
