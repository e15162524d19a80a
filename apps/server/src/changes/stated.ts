import type { Kysely, Transaction } from 'kysely'
import type { Database, StatedTables, StatedUpdate } from '../db/schema.ts'

/** Updates one row that reaches the edges, in the change of this revision. */
export async function updateStated<T extends keyof StatedTables>(
  tx: Transaction<Database>,
  table: T,
  id: number,
  revision: number,
  values: StatedUpdate<T>,
): Promise<void> {
  // Everywhere else these tables are typed as never updated, so that no row changes without its revision.
  const writable = tx as unknown as Kysely<Record<keyof StatedTables, Record<string, unknown>>>
  await writable
    .updateTable<keyof StatedTables>(table)
    .set({ ...values, revision })
    .where('id', '=', id)
    .execute()
}
