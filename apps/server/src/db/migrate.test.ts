import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { rebuildTable } from './migrations/rebuild.ts'

let dir: string
let database: DatabaseSync

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pt-migrate-'))
  database = open()
})
afterEach(() => {
  database.close()
  rmSync(dir, { recursive: true })
})

const open = () => new DatabaseSync(join(dir, 'a.db'), { enableForeignKeyConstraints: true })
const tablesOf = (db: DatabaseSync) =>
  db
    .prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
    .map(({ name, sql }) => ({ name: String(name), sql: String(sql) }))
const rowsOf = (db: DatabaseSync) =>
  Object.fromEntries(tablesOf(db).map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all()]))

/** Two rows in each table, the second referring to the second of every other. */
function fill(db: DatabaseSync): void {
  db.exec('PRAGMA foreign_keys = OFF')
  for (const { name } of tablesOf(db)) {
    db.exec(`DELETE FROM ${name}`)
    for (const row of [1, 2]) {
      const columns = db.prepare(`PRAGMA table_info(${name})`).all()
      const values = columns.map(({ name: column, type, pk }) =>
        sampleOf(String(column), String(type), pk === 1, row),
      )
      db.prepare(`INSERT INTO ${name} VALUES (${columns.map(() => '?').join()})`).run(...values)
    }
  }
  db.exec('PRAGMA foreign_keys = ON')
}

const ALLOWED: Record<string, string> = {
  role: 'admin',
  ssl: 'self-signed',
  status: 'valid',
  type: 'http',
  backend_proto: 'http',
  proto: 'tcp',
}

function sampleOf(column: string, type: string, isKey: boolean, row: number): string | number {
  if (
    /^(is_|system$|ssl$|authentication$|require_auth$|enabled$|held$|revoked$|skip_|allow_internet$|advanced$|agent_may_publish$)/.test(
      column,
    )
  )
    return row - 1
  if (type === 'INTEGER' || isKey) return type === 'TEXT' ? `key ${row}` : row
  return ALLOWED[column] ?? `${column} ${row}`
}

test('every table can be rebuilt, and no row of any table is lost', () => {
  migrate(database, MIGRATIONS)
  fill(database)
  expect(database.prepare('PRAGMA foreign_key_check').all()).toEqual([])
  const before = rowsOf(database)
  expect(Object.values(before).every((rows) => rows.length === 2)).toBe(true)
  const rebuilds = tablesOf(database).map(({ name, sql }) => {
    const definition = sql.slice(sql.indexOf('(') + 1, sql.lastIndexOf(')'))
    return rebuildTable(name, definition)
  })
  migrate(database, [...MIGRATIONS, ...rebuilds])
  expect(rowsOf(database)).toEqual(before)
  expect(database.prepare('PRAGMA foreign_keys').get()).toEqual({ foreign_keys: 1 })
})

test('a rebuilt table never gives an id again', () => {
  const table = 'id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT'
  const begun = [`CREATE TABLE a (${table}) STRICT; INSERT INTO a (x) VALUES ('1'), ('2')`]
  migrate(database, begun)
  database.exec('DELETE FROM a')
  migrate(database, [...begun, rebuildTable('a', `${table}, y TEXT`, 'SELECT id, x, NULL FROM a')])
  expect(database.prepare(`INSERT INTO a (x) VALUES ('3') RETURNING id`).get()).toEqual({ id: 3 })
})

test('an upgrade that would leave rows without what they refer to is not made', () => {
  migrate(database, MIGRATIONS)
  fill(database)
  const before = rowsOf(database)
  expect(() => migrate(database, [...MIGRATIONS, 'DELETE FROM nodes'])).toThrow('refer to nodes rows')
  expect(rowsOf(database)).toEqual(before)
  expect(database.prepare('PRAGMA foreign_keys').get()).toEqual({ foreign_keys: 1 })
})

test('tables check their flags only: to grow, every other value needs no rebuilt table', () => {
  migrate(database, MIGRATIONS)
  const checks = tablesOf(database).flatMap(({ sql }) => sql.match(/CHECK \(.*?\)\)/g) ?? [])
  expect(checks.length).toBeGreaterThan(0)
  for (const check of checks) expect(check).toMatch(/^CHECK \(\w+ IN \(0, 1\)\)$/)
})

test('before an upgrade the database is copied, for its owner only', () => {
  const copies: string[] = []
  const onCopy = (file: string) => void copies.push(file)
  migrate(database, ['CREATE TABLE a (x)'], { onCopy })
  expect(copies).toEqual([])
  database.exec('INSERT INTO a VALUES (7)')
  const broken = ['CREATE TABLE a (x)', 'DELETE FROM a', 'no sql']
  expect(() => migrate(database, broken, { onCopy })).toThrow('syntax error')
  migrate(database, broken.slice(0, 2), { onCopy })
  const file = join(dir, 'a.db.version-1')
  expect(copies).toEqual([file, file])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(existsSync(`${file}.partial`)).toBe(false)
  const copy = new DatabaseSync(file)
  expect(copy.prepare('SELECT x FROM a').all()).toEqual([{ x: 7 }])
  copy.close()
  migrate(database, broken.slice(0, 2), { onCopy })
  expect(copies).toHaveLength(2)
})
