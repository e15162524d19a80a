import { type Kysely, sql } from 'kysely'
import type { Database } from '../../db/schema.ts'

/**
 * From now on entries get ids that none ever had. A database that was restored from a backup has forgotten some, and the
 * sessions of those people would let them in as soon as somebody else got their ids.
 */
export async function skipGivenIds(db: Kysely<Database>, now: number): Promise<void> {
  await sql`INSERT INTO sqlite_sequence (name, seq) SELECT 'domain_members', 0
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'domain_members')`.execute(db)
  await sql`UPDATE sqlite_sequence SET seq = max(seq, ${now}) WHERE name = 'domain_members'`.execute(db)
}
