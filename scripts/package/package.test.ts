import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { UNIT_FILES } from '../lib/programs/systemd.ts'
import { type DebOptions, writeDeb } from './deb.ts'
import { assertProcessor } from './runtimes.ts'
import { renderPackageUnit } from './server-package.ts'

const dir = tempDir()

const made = (name: string) => mkdtempSync(join(dir, name))

/** Makes a package with a program and a secret file. */
async function makeDeb(more: Partial<DebOptions> = {}): Promise<string> {
  return await writeDeb(made('deb-'), {
    name: 'agent',
    version: '1.2.3',
    epoch: 1_700_000_000,
    compression: 'xz',
    fill(stage) {
      stage.put('usr/bin/b', '#!/bin/sh\n', 0o755)
      stage.put('etc/a', 'secret', 0o600)
    },
    ...more,
  })
}

const dpkg = (...args: string[]) => spawnSync('dpkg-deb', args, { encoding: 'utf8' }).stdout

test('the same sources make the same package, byte by byte', async () => {
  const [one, two] = [await makeDeb(), await makeDeb()]
  expect(one).not.toBe(two)
  expect(readFileSync(one).equals(readFileSync(two))).toBe(true)
  expect(readFileSync(one).equals(readFileSync(await makeDeb({ epoch: 1_700_000_001 })))).toBe(false)
})

test('its files belong to root, with their modes, and have the timestamp of the sources', async () => {
  const listed = dpkg('--contents', await makeDeb())
  expect(listed).toMatch(/^-rwxr-xr-x root\/root +10 2023-11-14 22:13 \.\/usr\/bin\/b$/m)
  expect(listed).toMatch(/^-rw------- root\/root +6 2023-11-14 22:13 \.\/etc\/a$/m)
  expect(listed).toMatch(/^drwxr-xr-x root\/root +0 2023-11-14 22:13 \.\/usr\/bin\/$/m)
  expect(dpkg('--field', await makeDeb(), 'Version')).toBe('1.2.3\n')
})

test("systemd accepts the package's units", () => {
  const files = UNIT_FILES.map((name) => join(dir, name))
  // The package is not installed here: the shell's programs stand in.
  for (const [index, name] of UNIT_FILES.entries())
    writeFileSync(files[index] ?? '', renderPackageUnit(name).replace(/^(Exec\w+=\+?)\S+/gm, '$1/bin/sh'))
  const verify = ['verify', '--recursive-errors=no', ...files]
  const { status, stdout, stderr } = spawnSync('systemd-analyze', verify, { encoding: 'utf8' })
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' })
})

test('a program for another processor is recognised by its header', () => {
  const file = join(dir, 'program')
  writeFileSync(file, Buffer.from('\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0', 'latin1'))
  expect(() => assertProcessor(file, 'arm64')).not.toThrow()
  expect(() => assertProcessor(file, 'x64')).toThrow('is no program for x64')
  writeFileSync(file, '#!/bin/sh and more than a header\n')
  expect(() => assertProcessor(file, 'x64')).toThrow('is no program')
})
