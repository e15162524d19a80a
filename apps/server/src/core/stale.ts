import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../db/schema.ts'
import { ConflictError } from './errors.ts'

type Recorded = 'nodes' | 'services' | 'domains'

/**
 * Parses a form.
 * @throws ConflictError when the record has changed since the form was filled; names the person, where known
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

/** @throws ConflictError when the record was changed after it was seen so */
export async function refuseStale(
  db: Kysely<Database> | Transaction<Database>,
  table: Recorded,
  { id, updated_at }: { id: number; updated_at: string },
  seen: string | undefined,
): Promise<void> {
  if (seen === undefined || seen === updated_at) return
  const who = (await findWhoChanged(db, table, id)) ?? 'Someone else'
  throw new ConflictError(`${who} changed this while you were editing`, [], 'stale')
}

/** The person who changed this row last; undefined when a program has changed it since. */
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
