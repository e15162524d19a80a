import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'

const RUN = join(import.meta.dirname, '../.ci/run')

const dir = tempDir()

/**
 * Runs `.ci/run` with an npm that prints this text and exits with this code, one for each of its runs.
 * @returns the last line, and the exit code
 */
function runWith(test: string, long: string): [line: string | undefined, code: number | null] {
  const cases = `test) ${test} ;; "run test:long") ${long} ;; *) exit 99 ;;`
  writeFileSync(join(dir, 'npm'), `#!/bin/sh\ncase "$*" in ${cases} esac\n`)
  chmodSync(join(dir, 'npm'), 0o755)
  const env = { ...process.env, PATH: `${dir}:${process.env.PATH}` }
  const { stdout, status } = spawnSync(RUN, { env, encoding: 'utf8', timeout: 60_000 })
  return [stdout.trimEnd().split('\n').at(-1), status]
}

const FINE = 'echo "5 passed, 0 failed"'

test.each([
  ['all passed', 'echo "unit   3 passed, 0 failed"; echo "7 passed, 0 failed"', '12 passed, 0 failed', 0],
  ['some failed', 'echo "7 passed, 2 failed"; exit 1', '12 passed, 2 failed', 1],
  ['it goes on after the summary', 'echo "7 passed, 0 failed"; echo npm notice', '12 passed, 0 failed', 0],
  ['it fails after the summary', 'echo "7 passed, 0 failed"; exit 3', '12 passed, 0 failed', 3],
  ['nothing ran', 'true', '5 passed, 1 failed', 1],
  ['the tests could not begin', 'echo "postern: no disk" >&2; exit 1', '5 passed, 1 failed', 1],
])('%s, in either of its runs', (_, npm, line, code) => {
  expect(runWith(npm, FINE)).toEqual([line, code])
  expect(runWith(FINE, npm)).toEqual([line, code])
})

test('nothing ran at all', () => {
  expect(runWith('true', 'true')).toEqual(['0 passed, 2 failed', 1])
})
