import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../db/schema.ts'
import { ConflictError } from './errors.ts'

type Recorded = 'nodes' | 'services' | 'domains'

/**
 * Reads a form, and names who changed the record since the form was filled from it, where that is known.
 * @throws ConflictError when the form was made from an older record
 */
export async function readForm<T>(
  db: Kysely<Database> | Transaction<Database>,
  table: Recorded,
  id: number | undefined,
  read: () => T,
): Promise<T> {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConflictError) || error.code !== 'stale' || id === undefined) throw error
    const who = await findWhoChanged(db, table, id)
    throw who === undefined
      ? error
      : new ConflictError(`${who} changed this while you were editing`, [], 'stale')
  }
}

/** The person whose change was the last of this row; undefined when a program has changed it since. */
async function findWhoChanged(
  db: Kysely<Database> | Transaction<Database>,
  table: Recorded,
  id: number,
): Promise<string | undefined> {
  const { revision } = await db
    .selectFrom(table)
    .select('revision')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const row = await db
    .selectFrom('changes')
    .innerJoin('users', 'users.username', 'changes.actor')
    .select('actor')
    .where('changes.revision', '=', revision)
    .executeTakeFirst()
  return row?.actor
}
