import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'

/** The API tokens that are good for something. @param now ms since the epoch */
export function selectLiveTokens(db: Kysely<Database>, now: number) {
  return db
    .selectFrom('api_tokens')
    .where('revoked', '=', 0)
    .where('expire_at', '>', new Date(now).toISOString())
}
