import { existsSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'
import type { LiveDatabase } from './live-schema.ts'
import { DatabaseTooNewError, type MigrateOptions, migrate, versionOf } from './migrate.ts'
import { LIVE_MIGRATIONS, MIGRATIONS } from './migrations/index.ts'
import { recordRows } from './record-triggers.ts'
import type { Database } from './schema.ts'
import { SQLITE, sqliteCodeOf } from './sqlite-codes.ts'

/** The file cannot be used; the message says what to do. */
export class DatabaseError extends Error {
  readonly code = 'database'
}

/**
 * Opens the database and brings it up to date. A commit is on the disk when it returns.
 * @param mayBegin whether an empty database means a new installation, and not a lost one
 * @throws DatabaseError, DatabaseTooNewError, BrokenReferencesError
 */
export function openDatabase(file: string, mayBegin = true, options?: MigrateOptions): Kysely<Database> {
  return open<Database>(file, 'FULL', (database) => {
    if (!mayBegin && versionOf(database) === 0)
      throw new DatabaseError(
        `${file} is missing or empty: restore the database, or remove secret.key to start over`,
      )
    migrate(database, MIGRATIONS, options)
    recordRows(database)
  })
}

/**
 * Opens the database beside a running server, to read only.
 * @throws DatabaseError when it is absent, or of another version
 */
export function openForReading(file: string): Kysely<Database> {
  if (!existsSync(file)) throw new DatabaseError(`${file} is missing: the first start of the server makes it`)
  const database = new DatabaseSync(file, { readOnly: true, timeout: OPEN_WITHIN })
  if (versionOf(database) !== MIGRATIONS.length) {
    database.close()
    throw new DatabaseError(`${file} is of another version: start the server of this version first`)
  }
  return new Kysely<Database>({ dialect: new SqliteDialect({ database: forKysely(database) }) })
}

/**
 * Opens the file of figures, which may be lost in a crash. A damaged one is replaced by an empty one; one of a newer
 * Postern too, which is kept beside it.
 * @param onSetAside called with the file for the newer Postern
 */
export function openLiveDatabase(
  file: string,
  onSetAside: (kept: string) => void = () => undefined,
): Kysely<LiveDatabase> {
  const openWhole = () => open<LiveDatabase>(file, 'OFF', (database) => migrate(database, LIVE_MIGRATIONS))
  try {
    return openWhole()
  } catch (error) {
    if (error instanceof DatabaseTooNewError) onSetAside(setAside(file, error.version))
    else if (!(error instanceof DatabaseError)) throw error
    for (const ending of ['', ...BESIDE]) rmSync(`${file}${ending}`, { force: true })
    return openWhole()
  }
}

const BESIDE = ['-wal', '-shm']

/** It was closed, so that one file holds everything. */
function setAside(file: string, version: number): string {
  const kept = `${file}.version-${version}`
  renameSync(file, kept)
  return kept
}

/** While we open the file, the previous server may still be closing it. */
const OPEN_WITHIN = 5000
/** Short, because every wait for another program blocks the only thread. */
const WAIT_AT_MOST = 500

function open<T>(
  file: string,
  synchronous: 'FULL' | 'OFF',
  prepare: (database: DatabaseSync) => void,
): Kysely<T> {
  const database = openFile(file)
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON; PRAGMA synchronous = ${synchronous}`)
    if (database.prepare('PRAGMA quick_check(1)').get()?.quick_check !== 'ok') throw damageOf(file)
    prepare(database)
    database.exec(`PRAGMA busy_timeout = ${WAIT_AT_MOST}`)
  } catch (error) {
    database.close()
    throw isDamage(error) ? damageOf(file) : explain(error, file)
  }
  return new Kysely<T>({ dialect: new SqliteDialect({ database: forKysely(database) }) })
}

/** @throws DatabaseError */
function openFile(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: OPEN_WITHIN })
  } catch (error) {
    throw explain(error, file)
  }
}

const damageOf = (file: string) =>
  new DatabaseError(`${file} is damaged: restore it together with secret.key`)

function explain(error: unknown, file: string): unknown {
  const code = sqliteCodeOf(error)
  if (code === SQLITE.cannotOpen || code === SQLITE.readOnly)
    return new DatabaseError(`${file} cannot be opened: it must belong to the user that the server runs as`)
  return error
}

function isDamage(error: unknown): boolean {
  const code = sqliteCodeOf(error)
  return code === SQLITE.corrupt || code === SQLITE.notADatabase
}

/** Cached, because preparing a statement takes longer than running most of them, and few different ones are in use. */
const KEPT_STATEMENTS = 200
/** A statement with very many values is unlikely to come again. */
const KEPT_LENGTH = 4000

/** Node's driver with the interface that Kysely expects. */
function forKysely(database: DatabaseSync): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>()
  return {
    close: () => database.close(),
    prepare(sql) {
      // Kysely's reaction to an error. When the disk is full, SQLite has already rolled back by itself, and a second
      // rollback would throw.
      if (sql === 'rollback' && !database.isTransaction) return NOTHING
      const statement = kept.get(sql) ?? toStatement(database.prepare(sql))
      kept.delete(sql)
      if (sql.length <= KEPT_LENGTH) kept.set(sql, statement)
      const [oldest] = kept.keys()
      if (kept.size > KEPT_STATEMENTS && oldest !== undefined) kept.delete(oldest)
      return statement
    },
  }
}

const NOTHING: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
}

function toStatement(statement: StatementSync): SqliteStatement {
  // Kysely passes only what the typed tables allow: texts and numbers.
  const bind = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...bind(parameters)),
    run: (parameters) => statement.run(...bind(parameters)),
    iterate: (parameters) => statement.iterate(...bind(parameters)),
  }
}
