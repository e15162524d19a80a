import type { Role } from '@postern/contract/sign-in/auth'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import type { Selectable, Transaction } from 'kysely'
import type { Context } from '../../context.ts'
import type { Flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { type Access, readReach } from '../access/access.ts'
import { UnauthenticatedError } from '../errors.ts'
import { hashToken, isSameHash } from '../secrets/secrets.ts'
import { signInOver } from './factors/limits.ts'
import { type Checked, findStamp } from './stamp.ts'

/** Sessions slide: each is valid for this long after its last use, */
export const SESSION_MS = 7 * 24 * 3600 * 1000
/** and for this long after the sign-in at the latest. */
export const SESSION_MAX_MS = 30 * 24 * 3600 * 1000
/** A use so soon after the last one, from the same address, is not written to the database. */
const NOTED_EVERY_MS = 60_000

export interface Session extends Access {
  sessionId: number
  userId: number
  username: string
  /** Whether the account has a second factor. */
  hasFactor: boolean
  /** ms since the epoch. */
  expiresAt: number
}

/** The credential of a client; see decision 0018. */
export interface SessionProof {
  token: string
  /** The second half, stored where only pages of the console's origin can read it. */
  key: string | undefined
}

/** Where somebody signs in from, and where. */
export interface SessionPlace {
  /** The source of the request; '' for requests through the socket without one. */
  address: string
  /** The name in the request, or '' for an address; see `session-hosts.ts`. */
  host: string
  /** In plain words; '' when it cannot be told. */
  browser: string
}

/**
 * Also removes expired sessions.
 * @param checked what the person has shown counts for the account as it was then
 * @param key binds the session to it: without it the token is useless. Clients that only use the token have none
 * @param providerId the provider by which the person signed in, with which the session ends
 * @returns the token, of which only a hash is stored
 * @throws UnauthenticatedError when the person or the provider was disabled or deleted meanwhile, or the account has
 * another password or other factors now
 */
export async function createSession(
  context: Context,
  { id: userId, stamp }: Checked,
  { address, host, browser }: SessionPlace,
  key?: string,
  providerId: number | null = null,
): Promise<{ token: string; expiresIn: number }> {
  const now = context.clock()
  const token = TOKEN_PREFIXES.session + context.randomBytes(32).toString('base64url')
  await context.db.transaction().execute(async (tx) => {
    await tx.deleteFrom('sessions').where('expires_at', '<=', now).execute()
    const user = await tx
      .updateTable('users')
      .set({ last_sign_in_at: now })
      .where('id', '=', userId)
      .where('is_disabled', '=', 0)
      .returning('id')
      .executeTakeFirst()
    const provider = tx
      .selectFrom('console_providers')
      .select('id')
      .where('id', '=', providerId ?? 0)
    const isGone = providerId !== null && !(await provider.executeTakeFirst())
    if (!user || isGone) throw new UnauthenticatedError('Invalid Credentials', 'credentials')
    if ((await findStamp(tx, userId)) !== stamp) throw signInOver()
    await tx
      .insertInto('sessions')
      .values({
        token_hash: hashToken(token),
        key_hash: key === undefined ? null : hashToken(key),
        user_id: userId,
        provider_id: providerId,
        ...{ host, browser, address: address || null, last_used_at: now },
        expires_at: now + SESSION_MS,
        created_at: new Date(now).toISOString(),
      })
      .execute()
  })
  return { token, expiresIn: SESSION_MS / 1000 }
}

/** @param address of the request */
export async function findSession(
  context: Context,
  proof: SessionProof,
  address: string | null,
): Promise<Session | undefined> {
  // HAProxy would not cut a token without the prefix from requests to services.
  if (!proof.token.startsWith(TOKEN_PREFIXES.session)) return undefined
  const row = await selectSessions(context)
    .where('sessions.token_hash', '=', hashToken(proof.token))
    .executeTakeFirst()
  return row && isBoundTo(row.key_hash, proof.key) ? use(context, row, address) : undefined
}

/** The session of a ticket. */
export async function findSessionByTicket(
  context: Context,
  ticket: string,
  address: string | null,
): Promise<Session | undefined> {
  const id = context.tickets.findSessionId(ticket)
  if (id === undefined) return undefined
  const row = await selectSessions(context).where('sessions.id', '=', id).executeTakeFirst()
  return row && use(context, row, address)
}

/** A key for an unbound session is refused too: the token is then not that of the session that the page began. */
function isBoundTo(keyHash: string | null, key: string | undefined): boolean {
  if (keyHash === null || key === undefined) return keyHash === null && key === undefined
  return isSameHash(keyHash, hashToken(key))
}

function selectSessions(context: Pick<Context, 'db' | 'clock'>) {
  return context.db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['sessions.id', 'sessions.user_id', 'sessions.expires_at', 'sessions.created_at'])
    .select(['sessions.key_hash', 'sessions.address', 'sessions.last_used_at'])
    .select(['users.username', 'users.role', 'users.is_limited'])
    .select(({ eb, exists, selectFrom }) =>
      eb
        .or([
          exists(selectFrom('authenticators').select('user_id').whereRef('user_id', '=', 'users.id')),
          exists(selectFrom('passkeys').select('user_id').whereRef('user_id', '=', 'users.id')),
        ])
        .as('has_factor'),
    )
    .where('sessions.expires_at', '>', context.clock())
    .where('users.is_disabled', '=', 0)
}

type SessionRow = Selectable<Database['sessions']> & {
  username: string
  role: Role
  is_limited: Flag
  has_factor: unknown
}

type Row = Omit<SessionRow, 'token_hash' | 'host' | 'browser' | 'provider_id'>

async function use(context: Context, row: Row, address: string | null): Promise<Session | undefined> {
  const now = context.clock()
  const end = Date.parse(row.created_at) + SESSION_MAX_MS
  if (end <= now) return undefined
  const expiresAt = Math.min(now + SESSION_MS, end)
  await noteUse(context, row, { expiresAt, address })
  return await toSession(context, row, expiresAt)
}

async function toSession({ db }: Pick<Context, 'db'>, row: Row, expiresAt: number): Promise<Session> {
  const { id: sessionId, user_id: userId, username, role } = row
  const reach = await readReach(db, userId, row)
  return { sessionId, userId, username, role, reach, hasFactor: row.has_factor === 1, expiresAt }
}

/** As it is now. @throws UnauthenticatedError when it has ended */
export async function getSession(
  context: Pick<Context, 'db' | 'clock'>,
  sessionId: number,
): Promise<Session> {
  const row = await selectSessions(context).where('sessions.id', '=', sessionId).executeTakeFirst()
  if (!row) throw new UnauthenticatedError()
  return await toSession(context, row, row.expires_at)
}

async function noteUse(
  context: Context,
  row: Pick<SessionRow, 'id' | 'last_used_at' | 'address' | 'expires_at'>,
  { expiresAt, address }: { expiresAt: number; address: string | null },
): Promise<void> {
  const now = context.clock()
  // A session from a release without a last end may have a later one.
  const isKnown = now - row.last_used_at < NOTED_EVERY_MS && row.address === address
  if (isKnown && expiresAt >= row.expires_at) return
  await context.db
    .updateTable('sessions')
    .set({ expires_at: expiresAt, last_used_at: now, address })
    .where('id', '=', row.id)
    .execute()
    // With a full disk people may still look.
    .catch((err: unknown) => context.log.warn({ err }, 'the use of a session could not be noted'))
}

/** Ends the session and, at once, its streams. */
export async function removeSession(context: Context, sessionId: number): Promise<void> {
  await context.db.deleteFrom('sessions').where('id', '=', sessionId).execute()
  tellEnded(context, [sessionId])
}

/**
 * Inside a change, whose caller tells their streams after it.
 * @param which only this one, or all but that one
 * @returns their ids
 */
export async function takeSessions(
  tx: Transaction<Database>,
  userId: number,
  which: { only?: number; but?: number } = {},
): Promise<number[]> {
  let sessions = tx.deleteFrom('sessions').where('user_id', '=', userId)
  if (which.only !== undefined) sessions = sessions.where('id', '=', which.only)
  if (which.but !== undefined) sessions = sessions.where('id', '!=', which.but)
  return (await sessions.returning('id').execute()).map(({ id }) => id)
}

/** The sessions that were begun by a provider, in the same way. */
export async function takeSessionsOfProvider(tx: Transaction<Database>, id: number): Promise<number[]> {
  const taken = await tx.deleteFrom('sessions').where('provider_id', '=', id).returning('id').execute()
  return taken.map((session) => session.id)
}

/** Ends the streams of sessions that have ended. */
export function tellEnded({ bus }: Pick<Context, 'bus'>, sessionIds: readonly number[]): void {
  for (const sessionId of sessionIds) bus.emit({ kind: 'session-ended', sessionId })
}
