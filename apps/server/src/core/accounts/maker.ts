import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { ForbiddenError } from '../errors.ts'

type Db = Kysely<Database>

/** Whether a sign-in at a provider made the account, so that only this provider's rules give its role. */
export async function isMade(db: Db, userId: number): Promise<boolean> {
  const user = await db.selectFrom('users').select('is_made').where('id', '=', userId).executeTakeFirst()
  return user?.is_made === 1
}

/**
 * By any other way in, an account that a sign-in made would keep a role that the rules have taken away.
 * @throws ForbiddenError
 */
export async function refuseMade(db: Db, userId: number): Promise<void> {
  if (!(await isMade(db, userId))) return
  const provider = await findMaker(db, userId)
  throw new ForbiddenError(
    provider === undefined
      ? 'The provider that made your account here is not connected any more. Ask an administrator for a link.'
      : `Your account here was made by a sign-in at ${provider}: sign in by that one.`,
    'no_role',
  )
}

async function findMaker(db: Db, userId: number): Promise<string | undefined> {
  const made = await db
    .selectFrom('user_identities')
    .innerJoin('console_providers', 'console_providers.id', 'user_identities.provider_id')
    .select('name')
    .where('user_id', '=', userId)
    .where('is_made_by_sign_in', '=', 1)
    .executeTakeFirst()
  return made?.name
}
