import type { ChangedPassword, OwnSession, PasswordForm } from '@postern/contract/people/account'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import type { Transaction } from 'kysely'
import type { z } from 'zod/mini'
import type { Actor } from '../../changes/actor.ts'
import { change, changeIfAny, nextTime, Unchanged } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { disconnectAll } from '../console-sign-in/disconnect.ts'
import { NotFoundError, ValidationError } from '../errors.ts'
import { keepAllOf } from '../history/keep-all.ts'
import { refuseName } from '../people/names.ts'
import { getPersonRow } from '../people/records.ts'
import { revokeTokensOf } from '../programs/of-person.ts'
import { confirmPassword } from './accounts.ts'
import { removePasskeys } from './factors/factors.ts'
import { hasWayIn } from './password-rule.ts'
import { hashPassword } from './passwords.ts'
import { SESSION_MAX_MS, type Session, takeSessions, tellEnded } from './sessions.ts'
import type { Arrival } from './sources.ts'
import { requireConfirmed } from './stamp.ts'

type Own = Pick<Session, 'userId' | 'sessionId' | 'username'>

/** @throws ConflictError when somebody has this name */
export async function renameAccount(
  context: Context,
  actor: Actor,
  { userId }: Own,
  username: string,
): Promise<void> {
  await changeIfAny<void>(context, { actor, what: 'person renamed' }, async (tx) => {
    const row = await getPersonRow(tx, userId)
    if (row.username === username) throw new Unchanged(undefined)
    await refuseName(tx, username, userId)
    await tx
      .updateTable('users')
      .set({ username, updated_at: nextTime(context.clock(), row.updated_at) })
      .where('id', '=', userId)
      .execute()
    return { value: undefined, touched: { people: [userId] }, name: username }
  })
}

/**
 * All other sessions end, a link that waits to be used, and, unless the form wants to keep them, all API tokens and
 * connections with providers.
 * @param arrival of the request: a wrong present password counts like one at the sign-in
 * @returns how many sessions, tokens and connections ended
 * @throws ValidationError, TooManyError, UnavailableError
 */
export async function changePassword(
  context: Context,
  actor: Actor,
  { userId, sessionId, username }: Own,
  form: z.infer<typeof PasswordForm>,
  arrival: Arrival,
): Promise<z.infer<typeof ChangedPassword>> {
  const held = await getPersonRow(context.db, userId)
  if (held.password_hash === null)
    throw new ValidationError([{ field: 'password', message: PEOPLE_MESSAGES.noPassword }])
  const confirmed = await confirmPassword(context, { userId, sessionId }, form.password, arrival)
  const password_hash = await context.passwordGate.pass(() =>
    hashPassword(form.newPassword, context.passwordCost),
  )
  const { ended, ...counts } = await change(context, { actor, what: 'changed the password' }, async (tx) => {
    await requireConfirmed(tx, confirmed)
    const row = await getPersonRow(tx, userId)
    await tx
      .updateTable('users')
      .set({ password_hash, updated_at: nextTime(context.clock(), row.updated_at) })
      .where('id', '=', userId)
      .execute()
    await tx.deleteFrom('invites').where('user_id', '=', userId).execute()
    const endedTokens = form.endTokens ? await revokeTokensOf(tx, userId, context.clock()) : 0
    const taken = await takeWaysIn(context, tx, userId, form)
    await keepAllOf(tx, userId)
    const ended = await takeSessions(tx, userId, { but: sessionId })
    const value = { ended, endedTokens, ...taken }
    return { value, touched: { people: [userId] }, name: username }
  })
  tellEnded(context, ended)
  return { ended: ended.length, ...counts }
}

/** @throws ValidationError where it would take the last one */
async function takeWaysIn(
  { clock }: Context,
  tx: Transaction<Database>,
  userId: number,
  form: Pick<z.infer<typeof PasswordForm>, 'disconnect' | 'removePasskeys'>,
): Promise<{ removedPasskeys: number; disconnected: number }> {
  const removedPasskeys = form.removePasskeys ? await removePasskeys(tx, userId) : 0
  const disconnected = form.disconnect ? await disconnectAll(tx, { user_id: userId }, clock()) : 0
  if (removedPasskeys + disconnected > 0 && !(await hasWayIn(tx, userId))) {
    const field = disconnected > 0 ? 'disconnect' : 'removePasskeys'
    throw new ValidationError([{ field, message: PEOPLE_MESSAGES.lastWayIn }])
  }
  return { removedPasskeys, disconnected }
}

/** This session first, then by last use. */
export async function listOwnSessions(context: Context, own: Own): Promise<OwnSession[]> {
  const rows = await context.db
    .selectFrom('sessions')
    .select(['id', 'browser', 'address', 'last_used_at', 'created_at', 'expires_at'])
    .where('user_id', '=', own.userId)
    .where('expires_at', '>', context.clock())
    .orderBy((eb) => eb('id', '=', own.sessionId), 'desc')
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_LISTED)
    .execute()
  return rows.map(({ id, browser, address, last_used_at, created_at, expires_at }) => {
    const began = Date.parse(created_at)
    return {
      ...{ id, isThis: id === own.sessionId, browser, address, beganAt: created_at },
      // One from before this was kept is known to have been used when it began.
      lastUsedAt: new Date(Math.max(last_used_at, began)).toISOString(),
      endsAt: new Date(Math.min(expires_at, began + SESSION_MAX_MS)).toISOString(),
    }
  })
}

/** A program that signs in each time leaves many. */
const MAX_LISTED = 200

/** @throws NotFoundError */
export async function endOwnSession(
  context: Context,
  actor: Actor,
  own: Own,
  id: number,
): Promise<{ id: number }> {
  await endOwn(context, actor, own, { only: id }, () => {
    throw new NotFoundError('Session')
  })
  return { id }
}

/** All but the one that asks. @returns how many */
export async function endOtherSessions(context: Context, actor: Actor, own: Own): Promise<{ ended: number }> {
  const ended = await endOwn(context, actor, own, { but: own.sessionId }, () => {
    throw new Unchanged([])
  })
  return { ended: ended.length }
}

async function endOwn(
  context: Context,
  actor: Actor,
  { userId, username }: Own,
  which: { only?: number; but?: number },
  whenNone: () => never,
): Promise<number[]> {
  const note = { actor, what: 'sessions ended' }
  const ended = await changeIfAny<number[]>(context, note, async (tx) => {
    const value = await takeSessions(tx, userId, which)
    if (value.length === 0) whenNone()
    return { value, touched: { people: [userId] }, name: username }
  })
  tellEnded(context, ended)
  return ended
}
