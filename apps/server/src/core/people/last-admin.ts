import type { Transaction } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { ConflictError } from '../errors.ts'

/**
 * Call it inside the transaction that disables, deletes or demotes somebody: of two that do so at once to each other,
 * the second finds nobody left.
 * @throws ConflictError when nobody else could administer the installation then
 */
export async function refuseLastAdmin(tx: Transaction<Database>, id: number): Promise<void> {
  const admins = await tx
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('is_disabled', '=', 0)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('password_hash', 'is not', null),
        exists(selectFrom('passkeys').select('id').whereRef('passkeys.user_id', '=', 'users.id')),
      ]),
    )
    .limit(2)
    .execute()
  if (admins.length === 1 && admins[0]?.id === id)
    throw new ConflictError(
      'Nobody else could administer the installation. Make another person an administrator first, who has signed in.',
    )
}
