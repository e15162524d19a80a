/**
 * The first program of every npm script here. It runs on any Node from 20 on, before anything is installed, prepares
 * the machine for the verb, and hands over to the verb's own program under this repository's Node.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildWhatIsStale } from './bootstrap/build.mjs'
import { handOver } from './bootstrap/hand-over.mjs'
import { installNpmPackages } from './bootstrap/npm-packages.mjs'
import { takeFromEnvironment } from './bootstrap/own-environment.mjs'
import { checkTree } from './bootstrap/own-tree.mjs'
import { ROOT, StepError } from './bootstrap/step.mjs'
import { installSystemPackages, sayWhichUpdatesWait } from './bootstrap/system-packages.mjs'

/**
 * What each verb needs: sets of system programs, whether to build our programs, and whether it gets the
 * administrator's password. `asRoot` marks verbs that leave programs running as root. Its program is
 * `scripts/<verb>.ts` unless `script` names another, and `args` come first.
 */
const VERBS = {
  start: {
    asRoot: true,
    programs: ['runtime'],
    build: true,
    password: true,
    script: 'scripts/dist/start.mjs',
  },
  stop: { programs: [], build: false },
  'install-service': { asRoot: true, programs: ['runtime'], build: true, password: true },
  'rotate-key': { programs: [], build: true },
  password: { programs: [], build: true, password: true },
  history: { programs: [], build: true },
  why: { programs: [], build: false },
  package: { programs: ['package'], build: true },
  demo: { programs: ['runtime', 'demo'], build: true },
  test: { programs: ['runtime', 'demo', 'test'], build: true },
  'test-long': {
    programs: ['runtime', 'demo', 'bench', 'test', 'package', 'deploy'],
    build: true,
    script: 'scripts/test.ts',
    args: ['deploy', 'bench'],
  },
  'test-haproxy': { programs: ['runtime', 'demo', 'test'], build: true },
  attacks: { programs: ['runtime', 'test'], build: false },
  fuzz: { programs: ['runtime', 'test'], build: false },
  bench: { programs: ['runtime', 'bench'], build: true, script: 'bench/main.ts' },
}

async function main() {
  const POSTERN_ADMIN_PASSWORD = takeFromEnvironment('POSTERN_ADMIN_PASSWORD')
  const [verb = '', ...rest] = process.argv.slice(2)
  const needs = VERBS[verb]
  if (!needs) throw new StepError(`"${verb}" is not one of ${Object.keys(VERBS).join(', ')}`)
  const down = verb === 'start' && rest.includes('--down')
  if (needs.asRoot && !down) checkTree()
  mkdirSync(join(ROOT, '.postern'), { recursive: true })
  if (!down) await installSystemPackages(needs.programs)
  if (verb === 'start' && !down) await sayWhichUpdatesWait()
  await installNpmPackages()
  if (needs.build && !down) await buildWhatIsStale()
  if (down)
    return await handOver(
      'scripts/stop.ts',
      rest.filter((flag) => flag !== '--down'),
    )
  const secret = needs.password && POSTERN_ADMIN_PASSWORD ? { POSTERN_ADMIN_PASSWORD } : {}
  return await handOver(needs.script ?? `scripts/${verb}.ts`, [...(needs.args ?? []), ...rest], secret)
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`postern: ${error instanceof StepError ? error.message : error.stack}\n`)
  process.exitCode = 1
}
