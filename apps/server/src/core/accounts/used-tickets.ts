import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'

interface Parts {
  db: Kysely<Database>
  clock(): number
}

/**
 * Uses a ticket up, also for after a restart. Only what came of a successful sign-in may get here, so that strangers
 * write nothing.
 * @param seconds how long it is good for at most: then nobody needs to know it any more
 * @returns whether it is its first use
 */
export async function takeTicket({ db, clock }: Parts, id: string, seconds: number): Promise<boolean> {
  const now = clock()
  await db.deleteFrom('used_tickets').where('until', '<=', now).execute()
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('used_tickets')
    .values({ id, until: now + seconds * 1000 })
    .onConflict((again) => again.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}
