import { join } from 'node:path'
import { UsageError } from '@postern/host/flags'
import { launchHolder, must, show } from '@postern/host/processes/exec'
import { SUITES } from './bootstrap/haproxy/apt.mjs'
import { installHaproxy } from './bootstrap/haproxy/install.mjs'
import { runCommand } from './lib/command.ts'
import { ROOT } from './lib/environment.ts'
import { untilEntered } from './lib/programs/program-view.ts'

type Suite = keyof typeof SUITES

const HOUR = 3_600_000
/** The tests that involve HAProxy itself: its driver, how it hands over, and what strangers send to it. */
const NET = [
  'apps/edge/src/drivers/haproxy',
  'tests/net/reconcile',
  'tests/net/certificates',
  'tests/net/sign-in',
]
const SELECTIONS = [
  ['--project', 'net', ...NET],
  ['--project', 'attacks'],
]

/**
 * `npm run test:haproxy [3.0 …]`: the tests of the data plane with HAProxy versions of other Debian releases. Each
 * runs in a mount namespace where that version replaces the machine's own.
 */
async function testVersions(versions: readonly string[]): Promise<number> {
  const suites = versions.length === 0 ? (Object.keys(SUITES) as Suite[]) : versions.map(suiteOf)
  const failed: string[] = []
  for (const suite of suites) if (!(await testSuite(suite))) failed.push(SUITES[suite])
  if (failed.length > 0) process.stdout.write(`Failed with HAProxy ${failed.join(', ')}\n`)
  return failed.length === 0 ? 0 : 1
}

function suiteOf(version: string): Suite {
  const known = Object.entries(SUITES).find(([, each]) => each === version)
  if (!known) throw new UsageError(`${version} is not one of ${Object.values(SUITES).join(', ')}`)
  // The keys of SUITES are the suites.
  return known[0] as Suite
}

async function testSuite(suite: Suite): Promise<boolean> {
  const place = join(ROOT, '.postern', `haproxy-${SUITES[suite]}`)
  await installHaproxy(place, join(place, 'cache'), suite)
  const holder = launchHolder(['unshare', '--mount', '--propagation=private', 'cat'])
  try {
    const namespace = await untilEntered(holder)
    const own = (await must('sh', ['-c', 'command -v haproxy'])).trim()
    await must('mount', ['--namespace', namespace, '--bind', join(place, 'bin/haproxy'), own])
    const enter = ['nsenter', `--mount=${namespace}`, `--wd=${ROOT}`]
    await show([...enter, own, '-v'], 10_000)
    let passed = true
    for (const selection of SELECTIONS) {
      const argv = [...enter, join(ROOT, 'node_modules/.bin/vitest'), 'run', ...selection]
      if ((await show(argv, HOUR)) !== 0) passed = false
    }
    return passed
  } finally {
    holder.stdin?.end()
  }
}

await runCommand(testVersions)
