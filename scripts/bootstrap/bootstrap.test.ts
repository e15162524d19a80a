import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { hashOf } from './build.mjs'
import { isInstalled } from './npm-packages.mjs'
import { attempt, reasonIn } from './step.mjs'
import { hasProgram } from './system-packages.mjs'

const dir = tempDir()

const lock = (packages: object) => ({ packages: { '': {}, 'apps/edge': {}, ...packages } })

test('npm packages are installed when each has the version of the lock file', () => {
  const wanted = lock({ 'node_modules/a': { version: '1.0.0' } })
  expect(isInstalled(wanted, { packages: { 'node_modules/a': { version: '1.0.0' } } })).toBe(true)
  expect(isInstalled(wanted, { packages: { 'node_modules/a': { version: '1.0.1' } } })).toBe(false)
  expect(isInstalled(wanted, { packages: {} })).toBe(false)
  expect(isInstalled(wanted, undefined)).toBe(false)
})

test('a new package of this repository is installed too', () => {
  const wanted = lock({ 'node_modules/x': { link: true } })
  const found: string[] = []
  const isThere = (path: string) => found.push(path) > 1
  expect(isInstalled(wanted, { packages: {} }, isThere)).toBe(false)
  expect(isInstalled(wanted, { packages: {} }, isThere)).toBe(true)
  expect(found).toEqual(['node_modules/x', 'node_modules/x'])
})

test('a package for another system may be missing', () => {
  const wanted = lock({ 'node_modules/a-darwin': { version: '1.0.0', optional: true } })
  expect(isInstalled(wanted, { packages: {} })).toBe(true)
})

test('the Node for this processor is required, though npm may leave it out', () => {
  const name = `node_modules/node-linux-${process.arch}`
  const wanted = lock({ [name]: { version: '1.0.1', optional: true } })
  expect(isInstalled(wanted, { packages: {} })).toBe(false)
  expect(isInstalled(wanted, { packages: { [name]: { version: '1.0.0' } } })).toBe(false)
  expect(isInstalled(wanted, { packages: { [name]: { version: '1.0.1' } } })).toBe(true)
})

test('the hash changes with contents and names, and not with tests and results', () => {
  mkdirSync(join(dir, 'app/src'), { recursive: true })
  mkdirSync(join(dir, 'app/dist'))
  writeFileSync(join(dir, 'app/src/main.ts'), 'one')
  const first = hashOf(dir, ['app'])
  writeFileSync(join(dir, 'app/dist/out.js'), 'built')
  writeFileSync(join(dir, 'app/src/main.test.ts'), 'a test')
  expect(hashOf(dir, ['app'])).toBe(first)
  writeFileSync(join(dir, 'app/src/main.ts'), 'two')
  const second = hashOf(dir, ['app'])
  expect(second).not.toBe(first)
  writeFileSync(join(dir, 'app/src/other.ts'), '')
  expect(hashOf(dir, ['app'])).not.toBe(second)
})

test('the reason of a failure is the last line that names one', () => {
  const log = 'Reading package lists...\nE: Unable to locate package haproxx\nsome more\n'
  expect(reasonIn(log)).toBe('E: Unable to locate package haproxx')
  expect(reasonIn('only this\n\n')).toBe('only this')
  expect(reasonIn('')).toBe('no output')
})

test('a program killed by the kernel ran out of memory, and one that we end took too long', async () => {
  const killed = await attempt('sh', ['-c', 'echo working; kill -KILL $$'], { seconds: 20 })
  expect(reasonIn(killed ?? '')).toContain('memory ran out')
  const slow = await attempt('sleep', ['60'], { seconds: 0.2 })
  expect(reasonIn(slow ?? '')).toBe('failed: it took longer than 0.2 s')
})

test('a program is found by its executable file', () => {
  expect(hasProgram('node', join(process.execPath, '..'))).toBe(true)
  expect(hasProgram('node', dir)).toBe(false)
  expect(hasProgram('no-such-program')).toBe(false)
})
