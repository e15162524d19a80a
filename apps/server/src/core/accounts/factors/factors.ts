import type { Settings } from '@postern/contract/settings/settings'
import type { Role } from '@postern/contract/sign-in/auth'
import type { Factors } from '@postern/contract/sign-in/factors'
import type { Kysely } from 'kysely'
import type { Actor } from '../../../changes/actor.ts'
import { change } from '../../../changes/change.ts'
import type { Context } from '../../../context.ts'
import type { Database } from '../../../db/schema.ts'
import { ConflictError, NotFoundError } from '../../errors.ts'
import { type Session, takeSessions, tellEnded } from '../sessions.ts'
import { type Confirmed, requireConfirmed } from '../stamp.ts'
import { countRecoveryCodes, renewRecoveryCodes } from './recovery-codes.ts'
import { findRelyingParty } from './relying-party.ts'

/** Whether the installation requires a second factor of people in this role. */
export function isFactorRequired({ POSTERN_SECOND_FACTOR: rule }: Settings, role: Role): boolean {
  return rule === 'everybody' || (rule === 'administrators' && role === 'admin')
}

/** @param site the host of the request, with its port */
export async function readFactors(
  context: Context,
  { userId, role }: Pick<Session, 'userId' | 'role'>,
  site: string,
): Promise<Factors> {
  const { db } = context
  const { password_hash } = await db
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  const authenticator = await db
    .selectFrom('authenticators')
    .select(['created_at', 'used_at'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
  const passkeys = await db
    .selectFrom('passkeys')
    .select(['id', 'name', 'host', 'created_at', 'used_at'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute()
  return {
    authenticator: authenticator ?? null,
    passkeys,
    recoveryCodes: await countRecoveryCodes(db, userId),
    isRequired: isFactorRequired(context.config.settings, role),
    hasPassword: password_hash !== null,
    passkeyHost: (await findRelyingParty(context, site))?.id ?? null,
  }
}

/** Recovery codes for an account's first factor; null where it has them. */
export async function giveFirstCodes(
  tx: Kysely<Database>,
  userId: number,
  randomBytes: (count: number) => Buffer,
): Promise<string[] | null> {
  return (await hasFactor(tx, userId)) ? null : await renewRecoveryCodes(tx, userId, randomBytes)
}

/** @throws ConflictError when there is no factor that they could stand in for */
export async function makeRecoveryCodes(
  context: Context,
  actor: Actor,
  confirmed: Confirmed,
): Promise<{ recoveryCodes: string[] }> {
  const { id: userId } = confirmed
  return await change(context, { actor, what: 'recovery codes renewed' }, async (tx) => {
    await requireConfirmed(tx, confirmed)
    if (!(await hasFactor(tx, userId)))
      throw new ConflictError('Set up an authenticator app or a passkey first')
    return {
      value: { recoveryCodes: await renewRecoveryCodes(tx, userId, context.randomBytes) },
      touched: {},
    }
  })
}

/** Removes a person's authenticator app. @throws NotFoundError, ConflictError when it is the last required factor */
export async function removeAuthenticator(
  context: Context,
  actor: Actor,
  session: Session,
  confirmed: Confirmed,
): Promise<void> {
  await change(context, { actor, what: 'second factor removed' }, async (tx) => {
    await requireConfirmed(tx, confirmed)
    const { numDeletedRows } = await tx
      .deleteFrom('authenticators')
      .where('user_id', '=', session.userId)
      .executeTakeFirst()
    if (numDeletedRows === 0n) throw new NotFoundError('Authenticator app')
    await settleLast(context, tx, session)
    return { value: undefined, touched: {}, name: 'authenticator app' }
  })
}

/** After a factor is gone: codes that stand in for none go too. @throws ConflictError when one is required */
export async function settleLast(
  { config }: Context,
  tx: Kysely<Database>,
  { userId, role }: Pick<Session, 'userId' | 'role'>,
): Promise<void> {
  if (await hasFactor(tx, userId)) return
  if (isFactorRequired(config.settings, role))
    throw new ConflictError('A second factor is required here: add another one first', [], 'in_use')
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
}

/**
 * Removes all second factors of another person, who has lost them, and ends that person's sessions.
 * @throws NotFoundError, ConflictError for one's own
 */
export async function removeFactorsOf(
  context: Context,
  actor: Actor,
  session: Session,
  userId: number,
): Promise<void> {
  if (userId === session.userId)
    throw new ConflictError('Remove your own second factors on your page Account', [], 'conflict')
  const ended = await change(context, { actor, what: 'second factors removed' }, async (tx) => {
    const user = await tx.selectFrom('users').select('username').where('id', '=', userId).executeTakeFirst()
    if (!user) throw new NotFoundError('Person')
    await deleteFactors(tx, userId)
    return { value: await takeSessions(tx, userId), touched: {}, name: user.username }
  })
  tellEnded(context, ended)
}

export async function deleteFactors(tx: Kysely<Database>, userId: number): Promise<void> {
  for (const table of ['authenticators', 'passkeys', 'recovery_codes'] as const)
    await tx.deleteFrom(table).where('user_id', '=', userId).execute()
}

/** The recovery codes go with the last factor. @returns how many */
export async function removePasskeys(tx: Kysely<Database>, userId: number): Promise<number> {
  const gone = await tx.deleteFrom('passkeys').where('user_id', '=', userId).returning('id').execute()
  if (gone.length > 0 && !(await hasFactor(tx, userId))) await deleteFactors(tx, userId)
  return gone.length
}

export async function hasFactor(db: Kysely<Database>, userId: number): Promise<boolean> {
  const app = db.selectFrom('authenticators').select('user_id').where('user_id', '=', userId)
  const any = await app
    .unionAll(db.selectFrom('passkeys').select('user_id').where('user_id', '=', userId))
    .executeTakeFirst()
  return any !== undefined
}
