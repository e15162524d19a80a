import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { createExec } from './exec.ts'

const dir = tempDir()

/** As on a machine that systemd runs: its directory is there, and what `systemd-run` is asked for is written down. */
test('where systemd runs, a program that outlives the edge gets a scope outside of its unit', async () => {
  const asked = join(dir, 'asked')
  const recorder = join(dir, 'systemd-run')
  writeFileSync(recorder, `#!/bin/sh\nprintf '%s\\n' "$@" > ${asked}\n`)
  chmodSync(recorder, 0o755)
  const files = { stdoutFile: '/dev/null', stderrFile: '/dev/null', unit: 'postern-haproxy-1' }
  const script = join(dir, 'start.ts')
  const module = new URL('./exec.ts', import.meta.url).href
  writeFileSync(
    script,
    `import { createExec } from '${module}'\nawait createExec().startDetached('haproxy', ['-D'], ${JSON.stringify(files)})\n`,
  )
  const machine =
    'mount -t tmpfs none /run && mkdir -p /run/systemd/system && mount --bind "$1" /usr/bin/systemd-run'
  const argv = ['-m', 'sh', '-c', `${machine} && exec "$2" "$3"`, 'sh', recorder, process.execPath, script]
  const { code, stderr } = await createExec().run('unshare', argv, { timeoutMs: 60_000 })
  expect([code, stderr]).toEqual([0, ''])
  await expect.poll(() => readFileSync(asked, 'utf8').split('\n')).toContain('haproxy')
  const [...words] = readFileSync(asked, 'utf8').trim().split('\n')
  expect(words).toEqual([
    '--scope',
    '--quiet',
    '--collect',
    '--unit=postern-haproxy-1',
    '--',
    'haproxy',
    '-D',
  ])
})
