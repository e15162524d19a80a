import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'

/**
 * Inside the change by which an account is taken back: nothing that somebody else has done in its name, or by its API
 * tokens, comes back by itself later.
 * @returns how many of their changes stay
 */
export async function keepAllOf(tx: Kysely<Database>, userId: number): Promise<number> {
  const tokens = tx.selectFrom('api_tokens').select('id').where('user_id', '=', userId)
  const theirs = tx
    .selectFrom('changes')
    .select('revision')
    .where((eb) =>
      eb.or([
        eb.and([eb('actor_kind', '=', 'person'), eb('actor_id', '=', userId)]),
        eb.and([eb('actor_kind', '=', 'token'), eb('actor_id', 'in', tokens)]),
      ]),
    )
  const kept = await tx
    .deleteFrom('pending_changes')
    .where('revision', 'in', theirs)
    .returning('revision')
    .execute()
  return kept.length
}
