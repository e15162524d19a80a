import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { tempDir } from '@postern/testkit/temp-dir'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { rebuildTable } from './migrations/rebuild.ts'

let dir: string
let database: DatabaseSync

beforeEach(() => {
  dir = tempDir()
  database = open()
})
afterEach(() => database.close())

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
    /^(is_|system$|ssl$|authentication$|require_auth$|strip_path$|enabled$|held$|revoked$|skip_|allow_internet$|advanced$|agent_may_publish$)/.test(
      column,
    )
  )
    return row - 1
  if (type === 'INTEGER' || isKey) return type === 'TEXT' ? `key ${row}` : row
  return ALLOWED[column] ?? `${column} ${row}`
}

type Values = Record<string, string | number | null>

/** A row with these values; the rest is whatever its columns allow. */
function insert(table: string, values: Values): void {
  const needed = database.prepare(`PRAGMA table_info(${table})`).all()
  const rest = needed
    .filter(
      ({ name, notnull, dflt_value }) => notnull === 1 && dflt_value === null && !(String(name) in values),
    )
    .map(({ name, type }) => [String(name), fillerOf(String(name), String(type))] as const)
  const row = { ...Object.fromEntries(rest), ...values }
  const columns = Object.keys(row)
  database
    .prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`)
    .run(...Object.values(row))
}

const fillerOf = (column: string, type: string) =>
  /_(ips|networks|domains)$/.test(column) ? '[]' : sampleOf(column, type, false, 1)

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

test('a rebuilt table never uses an id again', () => {
  const table = 'id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT'
  const begun = [`CREATE TABLE a (${table}) STRICT; INSERT INTO a (x) VALUES ('1'), ('2')`]
  migrate(database, begun)
  database.exec('DELETE FROM a')
  migrate(database, [...begun, rebuildTable('a', `${table}, y TEXT`, 'SELECT id, x, NULL FROM a')])
  expect(database.prepare(`INSERT INTO a (x) VALUES ('3') RETURNING id`).get()).toEqual({ id: 3 })
})

test('an upgrade that would leave dangling references is not made', () => {
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

test('an upgrade leaves each agent its services, and keeps disabled what a person disabled', () => {
  migrate(database, MIGRATIONS.slice(0, 13))
  const published = (id: number, over: Values, held = 0) => {
    insert('services', { id, node_id: 1, domain_id: null, path: null, port: null, revision: 1, ...over })
    insert('publications', { node_id: 1, source: 'docker', key: `k${id}`, service_id: id, enabled: 1, held })
  }
  insert('nodes', { id: 1, address: '10.64.0.2' })
  insert('nodes', { id: 2, address: '10.64.0.3' })
  insert('domains', { id: 1, domain: 'a.example.com' })
  for (let id = 1; id <= 31; id++)
    published(
      id,
      { type: 'tcp', proto: 'tcp', port: 1000 + id, allowed_ips: '["10.0.0.0/8"]' },
      id === 1 ? 1 : 0,
    )
  published(32, { domain_id: 1, path: '/held' }, 1)
  published(33, { domain_id: 1, path: '/open' })
  migrate(database, MIGRATIONS)
  const shares = (id: number) =>
    database
      .prepare(
        'SELECT agent_max_services, agent_max_domains, agent_max_ports, agent_max_entries FROM nodes WHERE id = ?',
      )
      .get(id)
  const usual = {
    agent_max_services: 200,
    agent_max_domains: 50,
    agent_max_ports: 20,
    agent_max_entries: 5000,
  }
  expect([shares(1), shares(2)]).toEqual([{ ...usual, agent_max_ports: 31 }, usual])
  expect(database.prepare('SELECT * FROM held_addresses').all()).toEqual([
    { node_id: 1, address: 'a.example.com/held' },
    { node_id: 1, address: 'tcp:1001' },
  ])
})

test('an upgrade finds the token that registered a key if the node has only one', () => {
  migrate(database, MIGRATIONS.slice(0, 13))
  const keys = { private_key: null, enabled: 1 }
  insert('nodes', { id: 1, address: '10.64.0.2', public_key: 'a', ...keys })
  insert('nodes', { id: 2, address: '10.64.0.3', public_key: 'b', ...keys })
  insert('nodes', { id: 3, address: '10.64.0.4', public_key: 'c', ...keys, private_key: 'ours' })
  for (const [id, node_id] of [4, 5, 6, 7].map((id, index) => [id, [1, 2, 2, 3][index]] as const))
    insert('node_tokens', { id, node_id: node_id ?? 0, token_hash: `hash ${id}` })
  migrate(database, MIGRATIONS)
  expect(database.prepare('SELECT id, key_token_id FROM nodes ORDER BY id').all()).toEqual([
    { id: 1, key_token_id: 4 },
    { id: 2, key_token_id: null },
    { id: 3, key_token_id: null },
  ])
})

test('an upgrade finds the token that published a service if its node has only one', () => {
  migrate(database, MIGRATIONS.slice(0, 16))
  for (const node_id of [1, 2]) {
    insert('nodes', { id: node_id, address: `10.64.0.${node_id}` })
    insert('publications', { node_id, source: 'docker', key: 'a', service_id: null, enabled: 1, held: 1 })
  }
  for (const [id, node_id] of [
    [4, 1],
    [5, 2],
    [6, 2],
  ] as const)
    insert('node_tokens', { id, node_id, token_hash: `hash ${id}` })
  migrate(database, MIGRATIONS)
  expect(database.prepare('SELECT node_id, token_id FROM publications ORDER BY node_id').all()).toEqual([
    { node_id: 1, token_id: 4 },
    { node_id: 2, token_id: null },
  ])
})

test('a port is recorded as freed whichever way a service leaves it', () => {
  migrate(database, MIGRATIONS)
  insert('nodes', { id: 1, address: '10.64.0.2' })
  const ports = { 2001: 'tcp', 2002: 'tcp', 2003: 'tcp', 2004: 'udp', 2005: 'tcp' }
  for (const [port, proto] of Object.entries(ports)) {
    const at = { id: Number(port), port: Number(port), proto }
    insert('services', { type: 'tcp', node_id: 1, domain_id: null, revision: 1, ...at })
  }
  database.exec('DELETE FROM services WHERE id = 2001')
  database.exec('UPDATE services SET port = NULL WHERE id = 2002')
  database.exec('UPDATE services SET port = 3000 WHERE id = 2003')
  database.exec(`UPDATE services SET proto = 'tcp' WHERE id = 2004`)
  database.exec(`UPDATE services SET name = 'other', port = 2005 WHERE id = 2005`)
  const freed = database.prepare('SELECT proto, port, node_id FROM freed_ports ORDER BY port').all()
  expect(freed).toEqual([
    { proto: 'tcp', port: 2001, node_id: 1 },
    { proto: 'tcp', port: 2002, node_id: 1 },
    { proto: 'tcp', port: 2003, node_id: 1 },
    { proto: 'udp', port: 2004, node_id: 1 },
  ])
})

test('a domain is recorded as freed for a day when its last service leaves it', () => {
  migrate(database, MIGRATIONS)
  insert('nodes', { id: 1, address: '10.64.0.2' })
  for (const id of [1, 2, 3, 4]) insert('domains', { id, domain: `${id}.example.com` })
  const services = { 1: 1, 2: 1, 3: 2, 4: 3, 5: 4 }
  for (const [id, domain_id] of Object.entries(services))
    insert('services', { id: Number(id), type: 'http', node_id: 1, domain_id, port: null, revision: 1 })
  database.exec(`INSERT INTO freed_domains VALUES ('old.example.com', 1, 1)`)
  database.exec('DELETE FROM services WHERE id = 1')
  database.exec('DELETE FROM services WHERE id = 3')
  database.exec('UPDATE services SET domain_id = NULL WHERE id = 4')
  database.exec(`UPDATE services SET name = 'other', domain_id = 4 WHERE id = 5`)
  expect(database.prepare('SELECT domain, node_id FROM freed_domains').all()).toEqual([
    { domain: '2.example.com', node_id: 1 },
    { domain: '3.example.com', node_id: 1 },
  ])
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
