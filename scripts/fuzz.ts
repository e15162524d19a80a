import { join } from 'node:path'
import { show } from '@postern/host/processes/exec'
import { runCommand } from './lib/command.ts'
import { ROOT } from './lib/environment.ts'
import { readSeededRun } from './lib/seeded.ts'

const FILE = 'apps/server/src/http/fuzz.api.test.ts'
/** Time for the short run before it. */
const SPARE_MS = 10 * 60_000

/** `npm run fuzz [minutes] [seed]`: hostile values in every field of the API. */
async function fuzz(argv: readonly string[]): Promise<number> {
  const { minutes, seed } = readSeededRun('npm run fuzz', argv)
  process.env.POSTERN_FUZZ_SECONDS = String(minutes * 60)
  process.env.POSTERN_FUZZ_SEED = String(seed)
  const patience = minutes * 60_000 + SPARE_MS
  const vitest = join(ROOT, 'node_modules/.bin/vitest')
  return await show([vitest, 'run', '--project', 'api', '--testTimeout', String(patience), FILE], patience)
}

await runCommand(fuzz)
