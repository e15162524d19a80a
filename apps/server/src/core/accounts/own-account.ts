import { MESSAGES } from '@postern/contract/messages'
import type { OwnSession } from '@postern/contract/people/account'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import type { Actor } from '../../changes/actor.ts'
import { change, changeIfAny, nextTime, Unchanged } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { NotFoundError, ValidationError } from '../errors.ts'
import { refuseTakenName } from '../people/names.ts'
import { getPersonRow } from '../people/records.ts'
import { confirmPassword } from './accounts.ts'
import { hashPassword } from './passwords.ts'
import { SESSION_MAX_MS, type Session, takeSessions, tellEnded } from './sessions.ts'
import type { Arrival } from './sources.ts'

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
    await refuseTakenName(tx, username, userId)
    await tx
      .updateTable('users')
      .set({ username, updated_at: nextTime(context.clock(), row.updated_at) })
      .where('id', '=', userId)
      .execute()
    return { value: undefined, touched: { people: [userId] }, name: username }
  })
}

/**
 * All other sessions end, and a link that waits to be used.
 * @param arrival of the request: a wrong present password counts like one at the sign-in
 * @returns how many sessions ended
 * @throws ValidationError, TooManyError, UnavailableError
 */
export async function changePassword(
  context: Context,
  actor: Actor,
  { userId, sessionId, username }: Own,
  form: { password: string; newPassword: string },
  arrival: Arrival,
): Promise<{ ended: number }> {
  const held = await getPersonRow(context.db, userId)
  const refuse = (message: string) => new ValidationError([{ field: 'password', message }])
  if (held.password_hash === null) throw refuse(PEOPLE_MESSAGES.noPassword)
  await confirmPassword(context, userId, form.password, arrival)
  const password_hash = await context.passwordGate.pass(() =>
    hashPassword(form.newPassword, context.passwordCost),
  )
  const ended = await change(context, { actor, what: 'changed the password' }, async (tx) => {
    const row = await getPersonRow(tx, userId)
    // By another session, or a link.
    if (row.password_hash !== held.password_hash) throw refuse(MESSAGES.wrongPassword)
    await tx
      .updateTable('users')
      .set({ password_hash, updated_at: nextTime(context.clock(), row.updated_at) })
      .where('id', '=', userId)
      .execute()
    await tx.deleteFrom('invites').where('user_id', '=', userId).execute()
    const value = await takeSessions(tx, userId, { but: sessionId })
    return { value, touched: { people: [userId] }, name: username }
  })
  tellEnded(context, ended)
  return { ended: ended.length }
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
