import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { ConflictError } from '../errors.ts'
import { hashToken } from '../secrets/secrets.ts'
import { signInOver } from './factors/limits.ts'

/** An account as a sign-in has checked it. */
export interface Checked {
  id: number
  /** See `stampOf`. */
  stamp: string
}

/** An account whose person has just confirmed something, by its password or a recent sign-in. */
export interface Confirmed extends Checked {
  sessionId: number
}

/**
 * Stands for all that a sign-in is checked against: another password, another second factor, or another account at a
 * provider makes another stamp.
 * @param account with the password that was compared, even if it has changed meanwhile
 */
export async function stampOf(
  db: Kysely<Database>,
  { id, password_hash }: { id: number; password_hash: string | null },
): Promise<string> {
  const apps = await db.selectFrom('authenticators').select('secret').where('user_id', '=', id).execute()
  const passkeys = await db
    .selectFrom('passkeys')
    .select('credential')
    .where('user_id', '=', id)
    .orderBy('id')
    .execute()
  const identities = await db
    .selectFrom('user_identities')
    .select('id')
    .where('user_id', '=', id)
    .orderBy('id')
    .execute()
  return hashToken(JSON.stringify([password_hash, apps, passkeys, identities]))
}

/** As the account is now; undefined when it may not sign in. */
export async function findStamp(db: Kysely<Database>, id: number): Promise<string | undefined> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where('id', '=', id)
    .where('is_disabled', '=', 0)
    .executeTakeFirst()
  return user && (await stampOf(db, user))
}

/**
 * Begins the transaction of all that a confirmation allows, since time has passed since then: another password, a
 * disabled account or an ended session must leave nothing behind that could be made before.
 * @throws UnauthenticatedError when the session or the account has ended; ConflictError when the account has another
 * password, other factors or other connected accounts now; both have the code `sign_in_over`
 */
export async function requireConfirmed(
  tx: Kysely<Database>,
  { id, stamp, sessionId }: Confirmed,
): Promise<void> {
  const session = await tx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .where('user_id', '=', id)
    .executeTakeFirst()
  const present = await findStamp(tx, id)
  if (!session || present === undefined) throw signInOver()
  if (present !== stamp)
    throw new ConflictError('This account has changed meanwhile. Begin again.', [], 'sign_in_over')
}
