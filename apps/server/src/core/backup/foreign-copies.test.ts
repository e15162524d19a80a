import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { DATABASE, KEY, listCopies, nameOf, removeOld } from './copies.ts'

const NOW = Date.parse('2026-03-02T12:00:00Z')
const DAY = 86_400_000

function addCopy(directory: string, at: number, owner?: number): string {
  const folder = join(directory, nameOf(at))
  mkdirSync(folder)
  for (const file of [DATABASE, KEY]) writeFileSync(join(folder, file), 'x')
  if (owner !== undefined) chownSync(folder, owner, owner)
  return folder
}

test('in a directory that others may write to, only folders of our own user are copies', async () => {
  const directory = tempDir()
  chmodSync(directory, 0o1777)
  const own = [3, 2].map((days) => addCopy(directory, NOW - days * DAY))
  const foreign = [1, 0].map((days) => addCopy(directory, NOW - days * DAY, 65_534))
  expect((await listCopies(directory)).map(({ at }) => at)).toEqual([NOW - 2 * DAY, NOW - 3 * DAY])
  await removeOld(directory, 2, NOW)
  expect([...own, ...foreign].every((folder) => existsSync(folder))).toBe(true)
})

test('elsewhere all are, since some file systems give everything to one user', async () => {
  const directory = tempDir()
  addCopy(directory, NOW, 65_534)
  expect(await listCopies(directory)).toHaveLength(1)
})
