import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { prepareDataDir, removeEdgeToken } from './data-dir.ts'

const outer = tempDir()
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)

test('everything is closed to others, and a second run changes nothing', async () => {
  const dataDir = join(outer, 'deep/postern')
  const paths = installationPaths(dataDir)
  await prepareDataDir(dataDir)
  const token = readFileSync(paths.edgeToken, 'utf8')
  expect(modeOf(paths.serverDir)).toBe('700')
  expect(modeOf(paths.edgeDir)).toBe('700')
  expect(modeOf(paths.runDir)).toBe('750')
  expect(modeOf(paths.edgeToken)).toBe('600')
  expect(token.trim()).toHaveLength(43)
  chmodSync(paths.serverDir, 0o755)
  await prepareDataDir(dataDir)
  expect(readFileSync(paths.edgeToken, 'utf8')).toBe(token)
  expect(modeOf(paths.serverDir)).toBe('700')
})

test('a world-writable directory is refused and left alone', async () => {
  const open = join(outer, 'open')
  await prepareDataDir(open)
  chmodSync(open, 0o777)
  await expect(prepareDataDir(open)).rejects.toThrow('POSTERN_DATA_DIR')
  expect(modeOf(open)).toBe('777')
})

test('a place where nothing can be created is reported in one clear line', async () => {
  await expect(prepareDataDir('/proc/postern')).rejects.toThrow(/^cannot create \/proc\/postern: /)
})

test("the edge's token is removed, also behind a link, which stays", async () => {
  const dir = tempDir()
  const [file, link] = [join(dir, 'real'), join(dir, 'link')]
  writeFileSync(file, 'token')
  symlinkSync(file, link)
  removeEdgeToken(link)
  expect([existsSync(file), lstatSync(link).isSymbolicLink()]).toEqual([false, true])
  removeEdgeToken(link)
})
