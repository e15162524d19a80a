import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { tempDir } from '@postern/testkit/temp-dir'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { change } from '../changes/change.ts'
import { createLiveBus, type Hint } from '../changes/live.ts'
import { migrate } from './migrate.ts'
import { openDatabase, openLiveDatabase } from './open.ts'

let dir: string
beforeEach(() => {
  dir = tempDir()
})

const FIGURES = { latest_handshake: 1, rx: 1, tx: 1, client_ip: null, reachable: 1 } as const

test('a commit is on the disk when it returns; figures may wait', async () => {
  const pragma = async (
    db: ReturnType<typeof openDatabase> | ReturnType<typeof openLiveDatabase>,
    name: string,
  ) =>
    Object.values((await sql<Record<string, unknown>>`PRAGMA ${sql.raw(name)}`.execute(db)).rows[0] ?? {})[0]
  const db = openDatabase(join(dir, 'a.db'))
  expect(await pragma(db, 'journal_mode')).toBe('wal')
  // What was deleted is not to be read in the file.
  expect(await pragma(db, 'secure_delete')).toBe(1)
  expect(await pragma(db, 'synchronous')).toBe(2)
  expect(await pragma(db, 'foreign_keys')).toBe(1)
  await db.destroy()
  const live = openLiveDatabase(join(dir, 'b.db'))
  expect(await pragma(live, 'synchronous')).toBe(0)
  await live.destroy()
})

test('opening again changes nothing, and keeps the rows', async () => {
  const file = join(dir, 'a.db')
  const first = openDatabase(file)
  await first.insertInto('settings').values({ key: 'k', value: 'v' }).execute()
  await first.destroy()
  const second = openDatabase(file)
  expect(await second.selectFrom('settings').selectAll().execute()).toEqual([{ key: 'k', value: 'v' }])
  await second.destroy()
})

test('a damaged database is reported, and left as it is', async () => {
  const file = join(dir, 'a.db')
  writeFileSync(file, 'not a database'.repeat(1000))
  expect(() => openDatabase(file)).toThrow(`${file} is damaged: restore it together with secret.key`)
})

test('damaged figures do not keep the server from starting', async () => {
  const file = join(dir, 'live.db')
  const garbage = 'not a database'.repeat(1000)
  const whole = openLiveDatabase(file)
  for (let node_id = 0; node_id < 500; node_id++)
    await whole
      .insertInto('figures')
      .values({ ...FIGURES, node_id })
      .execute()
  await whole.destroy()
  const torn = readFileSync(file)
  for (const content of [garbage, torn.subarray(0, 4096), torn.fill(7, 8192)]) {
    writeFileSync(file, content)
    const live = openLiveDatabase(file)
    expect(await live.selectFrom('figures').selectAll().execute()).toEqual([])
    await live.destroy()
  }
})

test('figures of a newer server are set aside, and a file that cannot be opened is named with the remedy', async () => {
  const file = join(dir, 'live.db')
  const first = openLiveDatabase(file)
  await first
    .insertInto('figures')
    .values({ ...FIGURES, node_id: 2 })
    .execute()
  await first.destroy()
  const newer = new DatabaseSync(file)
  newer.exec('PRAGMA user_version = 99')
  newer.close()
  const aside: string[] = []
  const live = openLiveDatabase(file, (kept) => aside.push(kept))
  expect(await live.selectFrom('figures').selectAll().execute()).toEqual([])
  await live.destroy()
  expect(aside).toEqual([`${file}.version-99`])
  const kept = new DatabaseSync(`${file}.version-99`)
  expect(kept.prepare('SELECT node_id FROM figures').get()).toEqual({ node_id: 2 })
  kept.close()
  const why = `${dir} cannot be opened: it must belong to the user that the server runs as`
  expect(() => openDatabase(dir)).toThrow(why)
})

test('a database with a torn page is found before anything is read from it', async () => {
  const file = join(dir, 'a.db')
  const whole = openDatabase(file)
  for (let key = 0; key < 200; key++)
    await whole
      .insertInto('settings')
      .values({ key: `k${key}`, value: 'v'.repeat(500) })
      .execute()
  await whole.destroy()
  const content = readFileSync(file)
  writeFileSync(file, content.fill(0, content.length - 40_960))
  expect(() => openDatabase(file)).toThrow(`${file} is damaged: restore it together with secret.key`)
  expect(readFileSync(file).equals(content)).toBe(true)
})

test('a full disk is the error of the failed write', async () => {
  const db = openDatabase(join(dir, 'a.db'))
  const pages = (await sql<{ page_count: number }>`PRAGMA page_count`.execute(db)).rows[0]?.page_count ?? 0
  await sql`PRAGMA max_page_count = ${sql.lit(pages)}`.execute(db)
  const write = db.transaction().execute(async (tx) => {
    await tx
      .insertInto('settings')
      .values({ key: 'k', value: 'v'.repeat(100_000) })
      .execute()
  })
  await expect(write).rejects.toThrow('database or disk is full')
  expect(await db.selectFrom('settings').selectAll().execute()).toEqual([])
  await db.destroy()
})

test('an upgrade is made as a whole or not at all', () => {
  const database = new DatabaseSync(join(dir, 'a.db'))
  migrate(database, ['CREATE TABLE a (x)'])
  const broken = ['CREATE TABLE a (x)', 'CREATE TABLE b (x)', 'CREATE TABLE a (x)']
  expect(() => migrate(database, broken)).toThrow('already exists')
  const tables = database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all()
  expect(tables.map((row) => row.name)).toEqual(['a'])
  migrate(database, broken.slice(0, 2))
  expect(() => migrate(database, broken.slice(0, 1))).toThrow(
    `${join(dir, 'a.db')} has version 2, this program knows 1: start the newer Postern again, or restore the copy`,
  )
  database.close()
})

test('a change is recorded together with its rows, and announced only when both are stored', async () => {
  const db = openDatabase(join(dir, 'a.db'))
  const hints: Hint[] = []
  const bus = createLiveBus(() => undefined)
  bus.listen((hint) => hints.push(hint))
  const context = { db, bus, clock: () => 0 }
  const actor = { kind: 'person', id: 1, name: 'admin', address: '203.0.113.9' } as const
  const write = (key: string, fails: boolean) =>
    change(context, { actor, what: key }, async (tx) => {
      await tx.insertInto('settings').values({ key, value: '' }).execute()
      if (fails) throw new Error('no')
      return { value: key, touched: { nodes: [1] } }
    })
  expect(await write('a', false)).toBe('a')
  await expect(write('b', true)).rejects.toThrow('no')
  expect(await db.selectFrom('settings').select('key').execute()).toEqual([{ key: 'a' }])
  const at = '1970-01-01T00:00:00.000Z'
  expect(await db.selectFrom('changes').selectAll().execute()).toMatchObject([
    {
      ...{ revision: 1, at, actor: 'admin', what: 'a', name: null, node_id: 1, domain_id: null },
      ...{ actor_kind: 'person', actor_id: 1, address: '203.0.113.9' },
    },
  ])
  expect(await db.selectFrom('change_records').selectAll().execute()).toEqual([
    {
      ...{ revision: 1, position: 0, kind: 'setting', record_id: null, node_id: null, domain_id: null },
      ...{ name: 'a', before: null, after: '{"key":"a","value":"set"}' },
    },
  ])
  expect(hints).toEqual([{ kind: 'changed', revision: 1, touched: { nodes: [1] } }])
  await db.destroy()
})
