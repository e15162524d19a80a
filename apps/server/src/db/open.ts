import { rmSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'
import { type MigrateOptions, migrate, versionOf } from './migrate.ts'
import { LIVE_MIGRATIONS, MIGRATIONS } from './migrations/index.ts'
import type { Database, LiveDatabase } from './schema.ts'

/** The file cannot be used; the message says what to do. */
export class DatabaseError extends Error {
  readonly code = 'database'
}

/**
 * Opens the database and brings it up to date. A commit is on the disk when it returns.
 * @param mayBegin whether an empty one is the beginning of an installation, and not the loss of one
 * @throws DatabaseError, DatabaseTooNewError, BrokenReferencesError
 */
export function openDatabase(file: string, mayBegin = true, options?: MigrateOptions): Kysely<Database> {
  return open<Database>(file, 'FULL', (database) => {
    if (!mayBegin && versionOf(database) === 0)
      throw new DatabaseError(
        `${file} is missing or empty: restore the database, or remove secret.key to start over`,
      )
    migrate(database, MIGRATIONS, options)
  })
}

/** Opens the file of figures that may be lost in a crash. A damaged one is replaced by an empty one. */
export function openLiveDatabase(file: string): Kysely<LiveDatabase> {
  const openWhole = () =>
    open<LiveDatabase>(file, 'OFF', (database) => {
      migrate(database, LIVE_MIGRATIONS)
      if (database.prepare('PRAGMA quick_check(1)').get()?.quick_check !== 'ok')
        throw new DatabaseError(`${file} is damaged`)
    })
  try {
    return openWhole()
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true })
    return openWhole()
  }
}

function open<T>(
  file: string,
  synchronous: 'FULL' | 'OFF',
  prepare: (database: DatabaseSync) => void,
): Kysely<T> {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: 5000 })
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
    prepare(database)
  } catch (error) {
    database.close()
    throw isDamage(error)
      ? new DatabaseError(`${file} is damaged: restore it together with secret.key`)
      : error
  }
  return new Kysely<T>({ dialect: new SqliteDialect({ database: forKysely(database) }) })
}

/** SQLITE_CORRUPT, and SQLITE_NOTADB. */
function isDamage(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (error.errcode === 11 || error.errcode === 26)
}

/** Preparing a statement takes longer than running most of them, and few different ones are in use. */
const KEPT_STATEMENTS = 200
/** A statement with very many values is not likely to come again. */
const KEPT_LENGTH = 4000

/** Node's driver in the shape of the one that Kysely knows. */
function forKysely(database: DatabaseSync): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>()
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = kept.get(sql) ?? toStatement(database.prepare(sql))
      kept.delete(sql)
      if (sql.length <= KEPT_LENGTH) kept.set(sql, statement)
      const [oldest] = kept.keys()
      if (kept.size > KEPT_STATEMENTS && oldest !== undefined) kept.delete(oldest)
      return statement
    },
  }
}

function toStatement(statement: StatementSync): SqliteStatement {
  // Kysely passes on what the typed tables admit: texts and numbers.
  const bind = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...bind(parameters)),
    run: (parameters) => statement.run(...bind(parameters)),
    iterate: (parameters) => statement.iterate(...bind(parameters)),
  }
}
