import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely'
import { migrate } from './migrate.ts'
import { LIVE_MIGRATIONS, MIGRATIONS } from './migrations/index.ts'
import type { Database, LiveDatabase } from './schema.ts'

/** Opens the database and brings it up to date. A commit is on the disk when it returns. */
export function openDatabase(file: string): Kysely<Database> {
  return open<Database>(file, 'FULL', MIGRATIONS)
}

/** Opens the file of figures that may be lost in a crash. */
export function openLiveDatabase(file: string): Kysely<LiveDatabase> {
  return open<LiveDatabase>(file, 'OFF', LIVE_MIGRATIONS)
}

function open<T>(file: string, synchronous: 'FULL' | 'OFF', migrations: readonly string[]): Kysely<T> {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: 5000 })
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
    migrate(database, migrations)
  } catch (error) {
    database.close()
    throw error
  }
  return new Kysely<T>({ dialect: new SqliteDialect({ database: forKysely(database) }) })
}

/** Node's driver in the shape of the one that Kysely knows. */
function forKysely(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql)
      // Kysely passes on what the typed tables admit: texts and numbers.
      const bind = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...bind(parameters)),
        run: (parameters) => statement.run(...bind(parameters)),
        iterate: (parameters) => statement.iterate(...bind(parameters)),
      }
    },
  }
}
