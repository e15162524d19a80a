import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { ConflictError, ForbiddenError } from '../errors.ts'
import { isMade } from './maker.ts'

type Db = Kysely<Database>

/** The one person who may use a password; null: everybody may. */
export async function readPasswordRule(db: Db): Promise<number | null> {
  const { user_id } = await db.selectFrom('password_rule').select('user_id').executeTakeFirstOrThrow()
  return user_id
}

export async function mayUsePassword(db: Db, userId: number): Promise<boolean> {
  const only = await readPasswordRule(db)
  return only === null || only === userId
}

/**
 * Only for people who have shown that they are this person: what a wrong password gets must not tell of the rule.
 * @throws ForbiddenError
 */
export async function refusePassword(db: Db, userId: number): Promise<void> {
  if (await mayUsePassword(db, userId)) return
  const providers = await db.selectFrom('console_providers').select('name').orderBy('id').execute()
  const names = [...providers.map(({ name }) => name), 'a passkey']
  const words = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
  throw new ForbiddenError(`Passwords are switched off here. Sign in by ${words}.`, 'password_off')
}

/**
 * Inside the transaction that would disable, delete or demote somebody.
 * @throws ConflictError for the one person who may use a password
 */
export async function refusePasswordPerson(tx: Db, userId: number): Promise<void> {
  if ((await readPasswordRule(tx)) !== userId) return
  throw new ConflictError(
    'This is the one person who may use a password. Choose another one under Sign-In of the Console first, or let everybody use theirs.',
    [],
    'in_use',
  )
}

/**
 * Inside the transaction that has taken away a way to sign in.
 * @throws ConflictError when it was the last one
 */
export async function refuseLastWayIn(tx: Db, userId: number): Promise<void> {
  if (!(await hasWayIn(tx, userId)))
    throw new ConflictError('You could not sign in any more. Add another way to sign in first.', [], 'in_use')
}

/**
 * Whether a person can sign in by a passkey, a provider, or a password that may be used; an account that a sign-in
 * made by its own provider alone.
 */
export async function hasWayIn(tx: Db, userId: number): Promise<boolean> {
  const connected = tx.selectFrom('user_identities').select('user_id').where('user_id', '=', userId)
  if (await isMade(tx, userId))
    return (await connected.where('is_made_by_sign_in', '=', 1).executeTakeFirst()) !== undefined
  const passkeys = tx.selectFrom('passkeys').select('user_id').where('user_id', '=', userId)
  if (await passkeys.unionAll(connected).executeTakeFirst()) return true
  const { password_hash } = await tx
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  return password_hash !== null && (await mayUsePassword(tx, userId))
}
