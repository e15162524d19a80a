import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '@postern/host/flags'
import { show } from '@postern/host/processes/exec'
import {
  listFailures,
  sum,
  type Tally,
  tallyExit,
  tallyVitest,
  type VitestReport,
} from './lib/checks/summary.ts'
import { runCommand } from './lib/command.ts'
import { ROOT } from './lib/environment.ts'

const MINUTE = 60_000
const BIN = join(ROOT, 'node_modules/.bin')

type Runner = { name: string; limit: number; argv?: readonly string[] }
interface Result {
  name: string
  tally: Tally
  failed: string[]
}

/**
 * One after the other, except for suites that mostly wait: they run beside those that compute. Each may take three
 * times what it takes on two cores, so that a slow machine tells what failed.
 */
const LANES: readonly (readonly Runner[])[] = [
  [
    { name: 'types', argv: [join(BIN, 'tsc'), '--noEmit'], limit: 5 * MINUTE },
    { name: 'lint', argv: [join(BIN, 'biome'), 'check', '--error-on-warnings', '.'], limit: 5 * MINUTE },
    { name: 'unit', limit: 15 * MINUTE },
    { name: 'api', limit: 15 * MINUTE },
    { name: 'attacks', limit: 15 * MINUTE },
    { name: 'e2e', limit: 40 * MINUTE },
  ],
  [{ name: 'net', limit: 50 * MINUTE }],
]
/**
 * `npm run test:long`: images, charts and packages, built and started; and the short bench, which wants the machine for
 * itself. Too long for `npm test`.
 */
const LONG: readonly Runner[] = [
  { name: 'deploy', limit: 40 * MINUTE },
  { name: 'bench', limit: 40 * MINUTE },
]

/** `npm test`: all checks and tests; the last line says how many passed and failed over all of them. */
async function testAll(only: readonly string[]): Promise<number> {
  const names = [...LANES, LONG].flat().map(({ name }) => name)
  const unknown = only.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new UsageError(`${unknown} is not one of ${names.join(', ')}`)
  const reports = mkdtempSync(join(tmpdir(), 'postern-test-'))
  const wanted =
    only.length === 0 ? LANES : [...LANES, LONG].map((lane) => lane.filter(({ name }) => only.includes(name)))
  try {
    return tell((await Promise.all(wanted.map((lane) => runLane(lane, reports)))).flat())
  } finally {
    rmSync(reports, { recursive: true, force: true })
  }
}

async function runLane(lane: readonly Runner[], reports: string): Promise<Result[]> {
  const results: Result[] = []
  for (const { name, limit, argv } of lane) {
    print(`\n── ${name} ${'─'.repeat(60 - name.length)}`)
    if (argv) results.push({ name, tally: tallyExit(await show(argv, limit)), failed: [] })
    else results.push(await runVitest(name, limit, join(reports, `${name}.json`)))
  }
  return results
}

/** @returns the exit code */
function tell(results: readonly Result[]): number {
  const failures = results.flatMap((result) => result.failed)
  if (failures.length > 0) print(`\n── failed ${'─'.repeat(54)}\n${failures.join('\n')}`)
  print('')
  for (const { name, tally } of results)
    print(`${name.padEnd(7)} ${tally.passed} passed, ${tally.failed} failed`)
  const { passed, failed } = sum(results.map(({ tally }) => tally))
  print(`${passed} passed, ${failed} failed`)
  return failed === 0 && passed > 0 ? 0 : 1
}

async function runVitest(name: string, limit: number, path: string): Promise<Result> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`]
  const argv = [join(BIN, 'vitest'), 'run', '--project', name, '--passWithNoTests=false', ...reporters]
  const code = await show(argv, limit)
  const report = findReport(path)
  return { name, tally: tallyExit(code, tallyVitest(report)), failed: listFailures(report) }
}

function findReport(path: string): VitestReport | undefined {
  try {
    // Vitest's own format; a missing field shows as a count that is not a number, and so as a failure.
    return JSON.parse(readFileSync(path, 'utf8')) as VitestReport
  } catch {
    // No report: the runner ended before it wrote one, which counts as a failure.
    return undefined
  }
}

const print = (line: string) => void process.stdout.write(`${line}\n`)

await runCommand(testAll)
