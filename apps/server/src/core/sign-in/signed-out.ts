import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import type { VisitorClaims } from './sessions.ts'

/** A session and all its renewals. */
type SignIn = Pick<VisitorClaims, 'email' | 'auth_time'>

/** For each domain: only people on its list could exceed it. */
const KEPT_ROWS = 1000

/**
 * Ends the renewal of a session, even if copies of it exist.
 * @param oldest sessions before this are not renewed anyway, in s
 */
export async function keepSignedOut(
  db: Kysely<Database>,
  domainId: number,
  { email, auth_time }: SignIn,
  oldest: number,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('signed_out')
      .values({ domain_id: domainId, email, auth_time })
      .onConflict((again) => again.doNothing())
      .execute()
    const own = tx.selectFrom('signed_out').where('domain_id', '=', domainId)
    const last = own.select('auth_time').orderBy('auth_time', 'desc').limit(1).offset(KEPT_ROWS)
    await tx
      .deleteFrom('signed_out')
      .where('domain_id', '=', domainId)
      .where((eb) => eb.or([eb('auth_time', '<', oldest), eb('auth_time', '<=', last)]))
      .execute()
  })
}

export async function isSignedOut(
  db: Kysely<Database>,
  domainId: number,
  { email, auth_time }: SignIn,
): Promise<boolean> {
  const found = await db
    .selectFrom('signed_out')
    .select('auth_time')
    .where('domain_id', '=', domainId)
    .where('email', '=', email)
    .where('auth_time', '=', auth_time)
    .executeTakeFirst()
  return found !== undefined
}
