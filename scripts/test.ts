import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { show } from '@postern/host/exec'
import { runCommand } from './lib/command.ts'
import { ROOT } from './lib/environment.ts'
import { listFailures, sum, type Tally, tallyExit, tallyVitest, type VitestReport } from './lib/summary.ts'

const MINUTE = 60_000
const BIN = join(ROOT, 'node_modules/.bin')

const CHECKERS = [
  { name: 'types', argv: [join(BIN, 'tsc'), '--noEmit'] },
  { name: 'lint', argv: [join(BIN, 'biome'), 'check', '--error-on-warnings', '.'] },
]
const RUNNERS = [
  { name: 'unit', limit: 8 * MINUTE },
  { name: 'api', limit: 8 * MINUTE },
  { name: 'attacks', limit: 8 * MINUTE },
  { name: 'e2e', limit: 20 * MINUTE },
  { name: 'net', limit: 30 * MINUTE },
]

/** `npm test`: all checks and tests; the last line says how many passed and failed over all of them. */
async function testAll(only: readonly string[]): Promise<number> {
  const reports = mkdtempSync(join(tmpdir(), 'postern-test-'))
  const isWanted = ({ name }: { name: string }) => only.length === 0 || only.includes(name)
  const tallies: [string, Tally][] = []
  const failures: string[] = []
  try {
    for (const { name, argv } of CHECKERS.filter(isWanted))
      tallies.push([name, tallyExit(await show(title(name, argv), 2 * MINUTE))])
    for (const { name, limit } of RUNNERS.filter(isWanted)) {
      const { tally, failed } = await runVitest(name, limit, join(reports, `${name}.json`))
      tallies.push([name, tally])
      failures.push(...failed)
    }
  } finally {
    rmSync(reports, { recursive: true, force: true })
  }
  if (failures.length > 0) print(`\n── failed ${'─'.repeat(54)}\n${failures.join('\n')}\n`)
  const { passed, failed } = sum(tallies.map(([, tally]) => tally))
  for (const [name, tally] of tallies)
    print(`${name.padEnd(7)} ${tally.passed} passed, ${tally.failed} failed`)
  print(`${passed} passed, ${failed} failed`)
  return failed === 0 && passed > 0 ? 0 : 1
}

async function runVitest(
  name: string,
  limit: number,
  path: string,
): Promise<{ tally: Tally; failed: string[] }> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`]
  const argv = [join(BIN, 'vitest'), 'run', '--project', name, '--passWithNoTests=false', ...reporters]
  const code = await show(title(name, argv), limit)
  const report = findReport(path)
  return { tally: tallyExit(code, tallyVitest(report)), failed: listFailures(report) }
}

function findReport(path: string): VitestReport | undefined {
  try {
    // Vitest's own format; what it lacks shows as a count that is not a number, and so as a failure.
    return JSON.parse(readFileSync(path, 'utf8')) as VitestReport
  } catch {
    // No report: the runner ended before it wrote one, which counts as a failure.
    return undefined
  }
}

function title(name: string, argv: readonly string[]): readonly string[] {
  print(`\n── ${name} ${'─'.repeat(60 - name.length)}`)
  return argv
}

const print = (line: string) => void process.stdout.write(`${line}\n`)

await runCommand(() => testAll(process.argv.slice(2)))
