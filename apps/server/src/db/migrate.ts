import type { DatabaseSync } from 'node:sqlite'

/** The database was written by a newer Postern. */
export class DatabaseTooNewError extends Error {
  readonly code = 'database_too_new'
}

/**
 * Brings a database to the newest form, all missing steps in one transaction.
 * @throws DatabaseTooNewError when it already has more steps than this program knows.
 */
export function migrate(database: DatabaseSync, migrations: readonly string[]): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    const done = versionOf(database)
    if (done > migrations.length) {
      throw new DatabaseTooNewError(
        `the database has version ${done}, this program knows ${migrations.length}: start the newer Postern again`,
      )
    }
    for (const migration of migrations.slice(done)) database.exec(migration)
    database.exec(`PRAGMA user_version = ${migrations.length}`)
    database.exec('COMMIT')
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}

/** How many steps a database has; 0 when there is nothing in it. */
export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0)
}
