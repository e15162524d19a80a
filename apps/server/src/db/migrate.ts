import { chmodSync, renameSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** The database was written by a newer Postern. */
export class DatabaseTooNewError extends Error {
  readonly code = 'database_too_new'
  readonly version: number
  constructor(message: string, version: number) {
    super(message)
    this.version = version
  }
}

/** An upgrade would have left dangling references; nothing was changed. */
export class BrokenReferencesError extends Error {
  readonly code = 'broken_references'
}

export interface MigrateOptions {
  /** Called with the file of a copy that was made before anything changed. */
  onCopy?: (file: string) => void
}

/**
 * Brings a database up to date, all missing migrations in one transaction. Before it touches rows, it copies the
 * database to a file beside it. In SQL, `fold(text)` is lower case in Unicode, which SQLite has only for ASCII.
 * @throws DatabaseTooNewError when it has more migrations than this program knows; BrokenReferencesError
 */
export function migrate(
  database: DatabaseSync,
  migrations: readonly string[],
  { onCopy }: MigrateOptions = {},
): void {
  const done = versionOf(database)
  if (done > migrations.length) {
    throw new DatabaseTooNewError(
      `${database.location()} has version ${done}, this program knows ${migrations.length}: start the newer Postern again, or restore the copy from before the upgrade`,
      done,
    )
  }
  if (done === migrations.length) return
  if (done > 0 && onCopy) onCopy(copyDatabase(database, done))
  database.function('fold', (text) => String(text).toLowerCase())
  // A table is rebuilt by dropping it; with foreign keys on, that would delete every row that refers to it.
  database.exec('PRAGMA foreign_keys = OFF')
  try {
    migrateWhole(database, migrations)
  } finally {
    database.exec('PRAGMA foreign_keys = ON')
  }
}

function migrateWhole(database: DatabaseSync, migrations: readonly string[]): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    for (const migration of migrations.slice(versionOf(database))) database.exec(migration)
    const [broken] = database.prepare('PRAGMA foreign_key_check').all()
    if (broken) {
      throw new BrokenReferencesError(
        `rows of ${broken.table} would refer to ${broken.parent} rows that do not exist: go back to the previous version, and report this`,
      )
    }
    database.exec(`PRAGMA user_version = ${migrations.length}`)
    database.exec('COMMIT')
  } catch (error) {
    // SQLite ends a transaction by itself when the disk is full.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/** @returns the file, which only its owner can read; it replaces that of an earlier try */
function copyDatabase(database: DatabaseSync, version: number): string {
  const file = `${database.location()}.version-${version}`
  const partial = `${file}.partial`
  rmSync(partial, { force: true })
  database.prepare('VACUUM INTO ?').run(partial)
  chmodSync(partial, 0o600)
  renameSync(partial, file)
  return file
}

/** How many migrations a database has; 0 when it is empty. */
export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0)
}
