import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeEach, expect, test } from 'vitest'
import { prepareDataDir } from '../../../scripts/lib/data-dir.ts'

/** Made-up user ids: only ownership counts here. */
const IDENTITIES = { server: { uid: 64_001, gid: 64_001 }, proxy: { uid: 64_002, gid: 64_002 } }

let outer: string
let dataDir: string
let paths: ReturnType<typeof installationPaths>
beforeEach(() => {
  outer = tempDir()
  chmodSync(outer, 0o755)
  dataDir = join(outer, 'postern')
  paths = installationPaths(dataDir)
})

const prepare = () => prepareDataDir(dataDir, IDENTITIES)
const ownerOf = (path: string) => {
  const { uid, gid, mode } = statSync(path)
  return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`
}

test('each part belongs to the user who needs it', async () => {
  await prepare()
  expect(ownerOf(dataDir)).toBe('0:0 755')
  expect(ownerOf(paths.serverDir)).toBe('64001:64001 700')
  expect(ownerOf(paths.runDir)).toBe('64001:64002 2750')
  expect(ownerOf(paths.edgeDir)).toBe('0:0 700')
  expect(ownerOf(paths.edgeToken)).toBe('0:64001 640')
})

test("a compromised server is given nothing of root's", async () => {
  await prepare()
  // The server may give its directory another of its groups, and replace its contents at any moment.
  chownSync(paths.runDir, 64_001, 64_001)
  mkdirSync(join(paths.runDir, 'swapped'))
  writeFileSync(join(paths.runDir, 'swapped/shadow'), 'of root')
  await prepare()
  expect(ownerOf(paths.runDir)).toBe('64001:64002 2750')
  expect(ownerOf(join(paths.runDir, 'swapped/shadow'))).toMatch(/^0:/)
})

test('files from a backup are handed over, and nothing that they link to', async () => {
  mkdirSync(join(paths.serverDir, 'deep'), { recursive: true })
  writeFileSync(join(paths.serverDir, 'deep/postern.db'), '')
  mkdirSync(join(outer, 'elsewhere'))
  writeFileSync(join(outer, 'elsewhere/shadow'), '')
  symlinkSync(join(outer, 'elsewhere'), join(paths.serverDir, 'directory'))
  symlinkSync(join(outer, 'elsewhere/shadow'), join(paths.serverDir, 'file'))
  await prepare()
  expect(ownerOf(join(paths.serverDir, 'deep/postern.db'))).toMatch(/^64001:64001 /)
  expect(ownerOf(join(outer, 'elsewhere'))).toMatch(/^0:0 /)
  expect(ownerOf(join(outer, 'elsewhere/shadow'))).toMatch(/^0:0 /)
})

test('a file with another hard link is not handed over', async () => {
  mkdirSync(paths.serverDir, { recursive: true })
  writeFileSync(join(outer, 'shadow'), '')
  linkSync(join(outer, 'shadow'), join(paths.serverDir, 'postern.db'))
  await expect(prepare()).rejects.toThrow(/postern\.db is a hard link/)
  expect(ownerOf(join(outer, 'shadow'))).toMatch(/^0:0 /)
})

test('a closed directory of root is opened, unless something else is in it', async () => {
  mkdirSync(dataDir, { mode: 0o700 })
  await prepare()
  expect(ownerOf(dataDir)).toBe('0:0 755')
  chmodSync(dataDir, 0o700)
  await prepare()
  expect(ownerOf(dataDir)).toBe('0:0 755')
  chmodSync(dataDir, 0o700)
  writeFileSync(join(dataDir, 'diary'), '', { mode: 0o644 })
  await expect(prepare()).rejects.toThrow(
    `the server's user cannot enter ${dataDir}: run chmod o+x ${dataDir}, or set POSTERN_DATA_DIR to another directory`,
  )
  expect(ownerOf(dataDir)).toBe('0:0 700')
})

test('a directory below one that the server cannot enter is refused', async () => {
  chmodSync(outer, 0o700)
  await expect(prepare()).rejects.toThrow(`the server's user cannot enter ${outer}: run chmod o+x ${outer}`)
  expect(ownerOf(outer)).toBe('0:0 700')
})

test('a directory that somebody else may write to is refused', async () => {
  await prepare()
  chmodSync(dataDir, 0o775)
  chownSync(dataDir, 0, 64_003)
  await expect(prepare()).rejects.toThrow('POSTERN_DATA_DIR')
  chownSync(dataDir, 64_003, 0)
  await expect(prepare()).rejects.toThrow('POSTERN_DATA_DIR')
})

test('a directory below one that somebody else could replace is refused', async () => {
  const below = join(outer, 'theirs/deep/postern')
  mkdirSync(dirname(below), { recursive: true })
  chownSync(join(outer, 'theirs'), 64_003, 64_003)
  symlinkSync(dirname(below), join(outer, 'link'))
  for (const place of [below, join(outer, 'link/postern')]) {
    await expect(prepareDataDir(place, IDENTITIES)).rejects.toThrow(`${outer}/theirs`)
    expect(existsSync(place)).toBe(false)
  }
  chownSync(join(outer, 'theirs'), 0, 0)
  chmodSync(join(outer, 'theirs'), 0o777)
  await expect(prepareDataDir(below, IDENTITIES)).rejects.toThrow(`${outer}/theirs`)
  chmodSync(join(outer, 'theirs'), 0o1777)
  await prepareDataDir(below, IDENTITIES)
})
