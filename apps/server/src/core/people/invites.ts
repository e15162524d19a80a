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
import { findSecondStep } from '../accounts/factors/second-step.ts'
import { hashPassword } from '../accounts/passwords.ts'
import { takeSessions, tellEnded } from '../accounts/sessions.ts'
import { sourceOf } from '../accounts/sources.ts'
import { NotFoundError } from '../errors.ts'
import { hashToken } from '../secrets/secrets.ts'

/** How long a link can be used. */
export const INVITE_MS = 48 * 3600 * 1000

/** Attempts with unknown links count under this name, which no person has. */
const NOBODY = ''

/** Makes a link, which ends the one before. @returns its token, of which only a hash is stored */
export async function putInvite(
  { clock, randomBytes }: Context,
  tx: Transaction<Database>,
  userId: number,
  isReset: boolean,
): Promise<string> {
  const token = TOKEN_PREFIXES.invite + randomBytes(32).toString('base64url')
  const values = {
    token_hash: hashToken(token),
    is_reset: flag(isReset),
    expires_at: clock() + INVITE_MS,
  }
  await tx
    .insertInto('invites')
    .values({ user_id: userId, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute()
  return token
}

/** @throws NotFoundError when it was used, has ended or never was; TooManyError after many of these */
export async function readInvite(context: Context, token: string, place: SignInPlace): Promise<OpenInvite> {
  const invite = await checkInvite(context, token, place)
  return {
    ...{ username: invite.username, role: invite.role, isReset: invite.is_reset === 1 },
    endsAt: new Date(invite.expires_at).toISOString(),
  }
}

/**
 * Sets the password, ends the link and all sessions, and signs in, unless the account has a second factor.
 * @param key binds the new session, see `sessions.ts`
 * @throws NotFoundError, TooManyError, UnavailableError
 */
export async function acceptInvite(
  context: Context,
  { token, password }: z.infer<typeof AcceptForm>,
  place: SignInPlace,
  key: string | undefined,
): Promise<{ username: string; session: BegunSession | null }> {
  const { user_id: userId, username, is_reset } = await checkInvite(context, token, place)
  const password_hash = await context.passwordGate.pass(() => hashPassword(password, context.passwordCost))
  const what = is_reset === 1 ? 'chose a new password by a link' : 'accepted the invitation'
  const ended = await change(
    context,
    { actor: personOf({ id: userId, name: username }, place.address), what },
    async (tx) => {
      // Of two that use it at once, one comes too late.
      const { updated_at } = await getInvite(tx, token, context.clock())
      await tx.deleteFrom('invites').where('user_id', '=', userId).execute()
      await tx
        .updateTable('users')
        .set({ password_hash, updated_at: nextTime(context.clock(), updated_at) })
        .where('id', '=', userId)
        .execute()
      return { value: await takeSessions(tx, userId), touched: { people: [userId] }, name: username }
    },
  )
  tellEnded(context, ended)
  // Who has a second factor signs in with it: a link replaces the password alone.
  if (await findSecondStep(context, userId, place, key)) return { username, session: null }
  return { username, session: await beginSession(context, { id: userId, username }, place, key) }
}

/** Nobody can guess one; the limits keep the attempts from costing much. */
async function checkInvite(context: Context, token: string, place: SignInPlace) {
  const attempt = context.loginLimits.take(NOBODY, sourceOf(place), false)
  const invite = await getInvite(context.db, token, context.clock())
  attempt.succeed()
  return invite
}

/** @throws NotFoundError */
async function getInvite(db: Kysely<Database>, token: string, now: number) {
  const invite = await db
    .selectFrom('invites')
    .innerJoin('users', 'users.id', 'invites.user_id')
    .selectAll('invites')
    .select(['users.username', 'users.role', 'users.updated_at'])
    .where('invites.token_hash', '=', hashToken(token))
    .where('invites.expires_at', '>', now)
    .where('users.is_disabled', '=', 0)
    .executeTakeFirst()
  if (!invite) throw new NotFoundError('Invite')
  return invite
}
