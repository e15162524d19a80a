import type { Context } from '../context.ts'
import { hashToken } from './tokens.ts'

/** Sessions slide: each is good for this long after it was last used. */
export const SESSION_MS = 7 * 24 * 3600 * 1000
/** A use within this time of the last one is not worth a write. */
const SLIDE_MS = 3600 * 1000

export interface Session {
  sessionId: number
  userId: number
  username: string
  /** ms since the epoch. */
  expiresAt: number
}

/** @returns the token, which is only kept as a hash. Expired sessions are swept on the way. */
export async function createSession(
  context: Context,
  userId: number,
): Promise<{ token: string; expiresIn: number }> {
  const now = context.clock()
  const token = context.randomBytes(32).toString('base64url')
  await context.db.deleteFrom('sessions').where('expires_at', '<=', now).execute()
  await context.db
    .insertInto('sessions')
    .values({
      token_hash: hashToken(token),
      user_id: userId,
      expires_at: now + SESSION_MS,
      created_at: new Date(now).toISOString(),
    })
    .execute()
  return { token, expiresIn: SESSION_MS / 1000 }
}

export async function findSession(context: Context, token: string): Promise<Session | undefined> {
  const now = context.clock()
  const row = await context.db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['sessions.id', 'sessions.user_id', 'sessions.expires_at', 'users.username'])
    .where('sessions.token_hash', '=', hashToken(token))
    .where('sessions.expires_at', '>', now)
    .executeTakeFirst()
  if (!row) return undefined
  const expiresAt = await slide(context, row.id, row.expires_at, now)
  return { sessionId: row.id, userId: row.user_id, username: row.username, expiresAt }
}

async function slide(context: Context, id: number, expiresAt: number, now: number): Promise<number> {
  const next = now + SESSION_MS
  if (next - expiresAt < SLIDE_MS) return expiresAt
  await context.db.updateTable('sessions').set({ expires_at: next }).where('id', '=', id).execute()
  return next
}

/** Ends the session and, at once, its streams. */
export async function removeSession(context: Context, sessionId: number): Promise<void> {
  await context.db.deleteFrom('sessions').where('id', '=', sessionId).execute()
  context.bus.emit({ kind: 'session-ended', sessionId })
}
