import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { copyDatabase } from './copy.ts'

/** Some 20 MB: more than is copied at once. */
function makeDatabase(dir: string) {
  const file = join(dir, 'a.db')
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE pairs (id INTEGER PRIMARY KEY, filler BLOB);
    CREATE TABLE totals (count INTEGER);
    INSERT INTO totals VALUES (5000);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO pairs SELECT i, randomblob(4000) FROM n`)
  return { file, database }
}

function emptyFile(dir: string): string {
  const to = join(dir, 'copy.db')
  writeFileSync(to, '', { mode: 0o600 })
  return to
}

test('a copy is of one moment, and finishes, however much is written meanwhile', async () => {
  const dir = tempDir()
  const { file, database } = makeDatabase(dir)
  const to = emptyFile(dir)
  let written = 0
  const writing = setInterval(() => {
    database.exec(
      'BEGIN; INSERT INTO pairs (filler) VALUES (randomblob(4000)); UPDATE totals SET count = count + 1; COMMIT',
    )
    written++
  }, 1)
  const sizes: number[] = []
  const onSize = async (size: number) => void sizes.push(size)
  await copyDatabase(file, to, { signal: new AbortController().signal, onSize })
  clearInterval(writing)
  expect(written).toBeGreaterThan(1)
  expect(sizes).toEqual([statSync(to).size])
  expect(statSync(to).mode & 0o777).toBe(0o600)
  const copy = new DatabaseSync(to)
  expect(copy.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  expect(copy.prepare('SELECT count(*) = (SELECT count FROM totals) AS whole FROM pairs').get()).toEqual({
    whole: 1,
  })
  copy.close()
  database.close()
})

test('it can be stopped in between', async () => {
  const dir = tempDir()
  const { file, database } = makeDatabase(dir)
  const ending = new AbortController()
  const copying = copyDatabase(file, emptyFile(dir), {
    signal: ending.signal,
    onSize: async () => void setImmediate(() => ending.abort(new Error('the server ends'))),
  })
  await expect(copying).rejects.toThrow('the server ends')
  database.close()
})
