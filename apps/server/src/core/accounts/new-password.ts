import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import type { GeneratedAdmin } from './accounts.ts'
import { deleteFactors } from './factors/factors.ts'
import { hashPassword, PASSWORD_COST } from './passwords.ts'

/**
 * Gives the first account another password, removes its second factors, and ends its sessions.
 * @param chosen null to generate one
 * @returns the credentials, to be shown this one time; undefined when there is no account yet
 */
export async function setNewPassword(
  db: Kysely<Database>,
  chosen: string | null,
  cost = PASSWORD_COST,
): Promise<GeneratedAdmin | undefined> {
  const first = await db.selectFrom('users').select(['id', 'username']).orderBy('id').executeTakeFirst()
  if (!first) return undefined
  const password = chosen ?? randomBytes(15).toString('base64url')
  const password_hash = await hashPassword(password, cost)
  const updated_at = new Date().toISOString()
  await db.transaction().execute(async (tx) => {
    await tx.updateTable('users').set({ password_hash, updated_at }).where('id', '=', first.id).execute()
    await deleteFactors(tx, first.id)
    await tx.deleteFrom('sessions').where('user_id', '=', first.id).execute()
  })
  return { username: first.username, password }
}
