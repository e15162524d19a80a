import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import type { Kysely } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../db/open.ts'
import type { Database } from '../../db/schema.ts'
import { layNextKey, nameKey, openSecretKey } from './key-file.ts'

let dir: string
let file: string
let db: Kysely<Database>
beforeEach(() => {
  dir = tempDir()
  file = join(dir, 'secret.key')
  db = openDatabase(join(dir, 'postern.db'))
})
afterEach(() => db.destroy())

test('the key file is made once, for its owner only', async () => {
  const key = await openSecretKey(db, file, false)
  expect(key).toHaveLength(32)
  chmodSync(file, 0o644)
  expect(await openSecretKey(db, file, true)).toEqual(key)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a key file that is missing beside its database, or broken, is reported', async () => {
  const missing = 'is missing: restore it together with the database'
  await expect(openSecretKey(db, file, true)).rejects.toThrow(missing)
  writeFileSync(file, 'short')
  await expect(openSecretKey(db, file, true)).rejects.toThrow('is not a key of 32 bytes')
})

test('a key of another database is reported', async () => {
  await openSecretKey(db, file, false)
  await nameKey(db, randomBytes(32))
  await expect(openSecretKey(db, file, true)).rejects.toThrow('is not the key of this database')
})

test('a next key is used from the moment that the database names it', async () => {
  const [first, next] = [await openSecretKey(db, file, false), randomBytes(32)]
  await layNextKey(file, next)
  expect(await openSecretKey(db, file, true)).toEqual(first)
  expect(existsSync(`${file}.new`)).toBe(false)
  await layNextKey(file, next)
  await nameKey(db, next)
  expect(await openSecretKey(db, file, true)).toEqual(next)
  expect(existsSync(`${file}.new`)).toBe(false)
  expect(await openSecretKey(db, file, true)).toEqual(next)
})
