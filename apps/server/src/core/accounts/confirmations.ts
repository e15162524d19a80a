import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { ForbiddenError } from '../errors.ts'

/** How long a sign-in, or a password given once more, counts. */
export const RECENT_MS = 10 * 60_000
/** Sessions to remember; the oldest go, and are asked anew. */
const MOST = 1000

/** Sessions in which the person has just given the password once more, in memory: after a restart it is asked anew. */
export interface Confirmations {
  note(sessionId: number): void
  isRecent(sessionId: number): boolean
}

export function createConfirmations(clock: () => number): Confirmations {
  const noted = new Map<number, number>()
  return {
    note(sessionId) {
      noted.delete(sessionId)
      noted.set(sessionId, clock())
      for (const oldest of noted.keys()) {
        if (noted.size <= MOST) break
        noted.delete(oldest)
      }
    },
    isRecent: (sessionId) => clock() - (noted.get(sessionId) ?? Number.NEGATIVE_INFINITY) <= RECENT_MS,
  }
}

interface Parts {
  db: Kysely<Database>
  clock(): number
}

/**
 * Whether a session began a short while ago, by what only the person has: a provider may have answered by itself, so
 * that counts for those alone who have no password here.
 */
export async function isNewSession({ db, clock }: Parts, sessionId: number): Promise<boolean> {
  const session = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['sessions.created_at', 'provider_id', 'password_hash'])
    .where('sessions.id', '=', sessionId)
    .executeTakeFirst()
  if (!session || clock() - Date.parse(session.created_at) > RECENT_MS) return false
  return session.provider_id === null || session.password_hash === null
}

/**
 * An open screen must not become a way in for somebody else.
 * @throws ForbiddenError when the sign-in was a while ago, and the password was not given since
 */
export async function requireRecent(
  parts: Parts & { confirmations: Confirmations },
  sessionId: number,
): Promise<void> {
  if (parts.confirmations.isRecent(sessionId) || (await isNewSession(parts, sessionId))) return
  throw new ForbiddenError('Give your password once more: this decides who may come in.', 'confirm')
}
