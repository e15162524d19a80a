import type { AcceptForm, OpenInvite } from '@postern/contract/people/people'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import type { Kysely, Transaction } from 'kysely'
import type { z } from 'zod/mini'
import { personOf } from '../../changes/actor.ts'
import { change, nextTime } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { type BegunSession, beginSession, type SignInPlace } from '../accounts/begin-session.ts'
import { removePasskeys } from '../accounts/factors/factors.ts'
import { findSecondStep } from '../accounts/factors/second-step.ts'
import { mayUsePassword, refusePassword } from '../accounts/password-rule.ts'
import { hashPassword } from '../accounts/passwords.ts'
import { takeSessions, tellEnded } from '../accounts/sessions.ts'
import { sourceOf } from '../accounts/sources.ts'
import { stampOf } from '../accounts/stamp.ts'
import { disconnectAll } from '../console-sign-in/disconnect.ts'
import { NotFoundError } from '../errors.ts'
import { keepAllOf } from '../history/keep-all.ts'
import { revokeTokensOf } from '../programs/of-person.ts'
import { hashToken } from '../secrets/secrets.ts'
import type { MadeLink } from './mail-link.ts'

/** How long a link can be used. */
export const INVITE_MS = 48 * 3600 * 1000

/** Attempts with unknown links count under this name, which no person has. */
const NOBODY = ''

/** Makes a link, which ends the one before. Only a hash of its token is stored. */
export async function putInvite(
  { clock, randomBytes }: Context,
  tx: Transaction<Database>,
  userId: number,
  isReset: boolean,
): Promise<MadeLink> {
  const token = TOKEN_PREFIXES.invite + randomBytes(32).toString('base64url')
  const expiresAt = clock() + INVITE_MS
  const values = { token_hash: hashToken(token), is_reset: flag(isReset), expires_at: expiresAt }
  await tx
    .insertInto('invites')
    .values({ user_id: userId, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute()
  return { token, isReset, expiresAt }
}

/** @throws NotFoundError when it was used, has ended or never was; TooManyError after many of these */
export async function readInvite(context: Context, token: string, place: SignInPlace): Promise<OpenInvite> {
  const invite = await checkInvite(context, token, place)
  return {
    ...{ username: invite.username, role: invite.role, isReset: invite.is_reset === 1 },
    mayUsePassword: await mayUsePassword(context.db, invite.user_id),
    endsAt: new Date(invite.expires_at).toISOString(),
  }
}

/**
 * Sets the password, ends all that let the person in before, and signs in, unless the account has a second factor.
 * @param key binds the new session, see `sessions.ts`
 * @throws NotFoundError, TooManyError, UnavailableError, ForbiddenError where the account may not use a password
 */
export async function acceptInvite(
  context: Context,
  { token, password }: z.infer<typeof AcceptForm>,
  place: SignInPlace,
  key: string | undefined,
): Promise<{ username: string; session: BegunSession | null }> {
  const { user_id: userId, username, is_reset } = await checkInvite(context, token, place)
  await refusePassword(context.db, userId)
  const password_hash = await context.passwordGate.pass(() => hashPassword(password, context.passwordCost))
  const what = is_reset === 1 ? 'chose a new password by a link' : 'accepted the invitation'
  const actor = personOf({ id: userId, name: username }, place.address)
  const ended = await change(context, { actor, what }, async (tx) => {
    await refusePassword(tx, userId)
    const value = await useInvite(context, tx, hashToken(token), { password_hash })
    return { value, touched: { people: [userId] }, name: username }
  })
  tellEnded(context, ended)
  // Who has a second factor signs in with it: a link replaces the password alone.
  const checked = { id: userId, stamp: await stampOf(context.db, { id: userId, password_hash }) }
  if (await findSecondStep(context, checked, place, key)) return { username, session: null }
  return { username, session: await beginSession(context, { ...checked, username }, place, key) }
}

/**
 * Ends the link and all that lets its person in: sessions, API tokens, passkeys, connections with providers; then sets
 * what is new. An app stays, which opens nothing alone. Of two that use it at once, one comes too late.
 * @returns the sessions, whose streams the caller ends
 * @throws NotFoundError
 */
export async function useInvite(
  context: Context,
  tx: Transaction<Database>,
  hash: string,
  values: { password_hash?: string | null },
): Promise<number[]> {
  const { user_id: userId, updated_at } = await getInvite(tx, hash, context.clock())
  await tx.deleteFrom('invites').where('user_id', '=', userId).execute()
  await tx
    .updateTable('users')
    .set({ ...values, is_made: 0, updated_at: nextTime(context.clock(), updated_at) })
    .where('id', '=', userId)
    .execute()
  await removePasskeys(tx, userId)
  await disconnectAll(tx, { user_id: userId }, context.clock())
  await revokeTokensOf(tx, userId, context.clock())
  await keepAllOf(tx, userId)
  return await takeSessions(tx, userId)
}

/**
 * Nobody can guess one; the limits keep the attempts from costing much.
 * @throws NotFoundError, TooManyError
 */
export async function checkInvite(context: Context, token: string, place: SignInPlace) {
  const attempt = context.loginLimits.take(NOBODY, sourceOf(place), false)
  const invite = await getInvite(context.db, hashToken(token), context.clock())
  attempt.succeed()
  return invite
}

/** @throws NotFoundError */
export async function getInvite(db: Kysely<Database>, hash: string, now: number) {
  const invite = await db
    .selectFrom('invites')
    .innerJoin('users', 'users.id', 'invites.user_id')
    .selectAll('invites')
    .select(['users.username', 'users.role', 'users.updated_at'])
    .where('invites.token_hash', '=', hash)
    .where('invites.expires_at', '>', now)
    .where('users.is_disabled', '=', 0)
    .executeTakeFirst()
  if (!invite) throw new NotFoundError('Invite')
  return invite
}
