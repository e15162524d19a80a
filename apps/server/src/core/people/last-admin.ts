import type { Transaction } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { ConflictError } from '../errors.ts'

/**
 * Call it inside the transaction that disables, deletes or demotes somebody: of two that do so at once to each other,
 * the second finds nobody left.
 * @throws ConflictError when nobody else could administer the installation then
 */
export async function refuseLastAdmin(tx: Transaction<Database>, id: number): Promise<void> {
  if (await isLastAdmin(tx, id))
    throw new ConflictError(
      'Nobody else could administer the installation. Make another person an administrator first, who has signed in.',
    )
}

export async function isLastAdmin(tx: Transaction<Database>, id: number): Promise<boolean> {
  const admins = await listAdmins(tx)
  return admins.length === 1 && admins[0]?.id === id
}

/**
 * Inside the transaction that takes ways to sign in away from others.
 * @throws ConflictError where nobody could get in who may administer the installation
 */
export async function refuseNoAdmin(tx: Transaction<Database>): Promise<void> {
  if ((await listAdmins(tx)).length > 0) return
  throw new ConflictError(
    'No administrator could sign in any more. Give one a password or a passkey first.',
    [],
    'in_use',
  )
}

/** Two at most, who are enabled and have a way in. */
function listAdmins(tx: Transaction<Database>): Promise<{ id: number }[]> {
  return tx
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('is_disabled', '=', 0)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('password_hash', 'is not', null),
        exists(
          selectFrom('passkeys')
            .select('id')
            .whereRef('passkeys.user_id', '=', 'users.id')
            .where('users.is_made', '=', 0),
        ),
        exists(
          selectFrom('user_identities')
            .select('id')
            .whereRef('user_identities.user_id', '=', 'users.id')
            .whereRef('is_made_by_sign_in', '>=', 'users.is_made'),
        ),
      ]),
    )
    .limit(2)
    .execute()
}
