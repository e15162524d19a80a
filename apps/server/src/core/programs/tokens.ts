import {
  API_TOKEN_DAYS,
  type ApiToken,
  type ApiTokenForm,
  type CreatedApiToken,
} from '@postern/contract/api-tokens'
import type { FieldError } from '@postern/contract/errors'
import { LIMITS } from '@postern/contract/limits'
import { MESSAGES } from '@postern/contract/messages'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import type { Reach } from '@postern/contract/sign-in/auth'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import type { Kysely, Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change, nextTime } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import type { Access } from '../access/access.ts'
import { isWithin } from '../access/narrow.ts'
import { confirmPassword } from '../accounts/accounts.ts'
import type { Session } from '../accounts/sessions.ts'
import type { Arrival } from '../accounts/sources.ts'
import { requireConfirmed } from '../accounts/stamp.ts'
import { ConflictError, NotFoundError, ValidationError } from '../errors.ts'
import { settleExpiry } from '../nodes/tokens.ts'
import type { Patch } from '../patch.ts'
import { hashToken } from '../secrets/secrets.ts'
import { readTokenReach, writeTokenReach } from './reach.ts'

type Tx = Transaction<Database>

const DAY_MS = 86_400_000

/** The person whose tokens these are, who is signed in. */
export type Owner = Access & Pick<Session, 'userId' | 'sessionId'>

/** Newest first. */
export async function listApiTokens(context: Context, { userId }: Owner): Promise<ApiToken[]> {
  const rows = await selectTokens(context.db, userId).orderBy('id', 'desc').execute()
  return await Promise.all(rows.map((row) => toApiToken(context, context.db, row)))
}

/**
 * Needs the password: a session that was left open must not become a way in for a year.
 * @param owner never gets a token that may do more than they may now
 * @param arrival how the request came in
 * @returns the token with its value, which cannot be read again
 * @throws ValidationError, ConflictError when the person has too many, and what `confirmPassword` throws
 */
export async function createApiToken(
  context: Context,
  actor: Actor,
  owner: Owner,
  patch: Patch<ApiTokenForm>,
  arrival: Arrival,
): Promise<CreatedApiToken> {
  const { values, errors } = patch.read({})
  const expiry = readExpiry(context, values.expireAt)
  const found = [...errors, ...expiry.errors, ...roleErrors(owner, values)]
  if (found.length > 0) throw new ValidationError(found)
  const { name, role, reach, password } = patch.onto({})
  const confirmed = await confirmPassword(context, owner, password, arrival)
  return await change(context, { actor, what: 'API token created' }, async (tx) => {
    await requireConfirmed(tx, confirmed)
    await requireRoom(tx, owner.userId)
    await requireReach(tx, owner.reach, reach)
    const token = TOKEN_PREFIXES.api + context.randomBytes(32).toString('base64url')
    const now = new Date(context.clock()).toISOString()
    const { id } = await tx
      .insertInto('api_tokens')
      .values({
        user_id: owner.userId,
        name,
        token_hash: hashToken(token),
        role,
        is_limited: reach === null ? 0 : 1,
        expire_at: expiry.expireAt,
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    if (reach) await writeTokenReach(tx, id, reach)
    const value = { ...(await getApiToken(context, tx, owner, id)), token }
    return { value, touched: {}, name }
  })
}

/** It is refused from the next request on, and its streams end within a second. @throws NotFoundError */
export async function revokeApiToken(
  context: Context,
  actor: Actor,
  owner: Owner,
  id: number,
): Promise<ApiToken> {
  return await change(context, { actor, what: 'API token revoked' }, async (tx) => {
    const { name, updated_at } = await getApiToken(context, tx, owner, id)
    const time = nextTime(context.clock(), updated_at)
    await tx.updateTable('api_tokens').set({ revoked: 1, updated_at: time }).where('id', '=', id).execute()
    return { value: await getApiToken(context, tx, owner, id), touched: {}, name }
  })
}

/** @throws NotFoundError */
export async function removeApiToken(
  context: Context,
  actor: Actor,
  owner: Owner,
  id: number,
): Promise<{ id: number }> {
  const gone = await change(context, { actor, what: 'API token deleted' }, async (tx) => {
    const { name } = await getApiToken(context, tx, owner, id)
    await tx.deleteFrom('api_tokens').where('id', '=', id).execute()
    return { value: { id }, touched: {}, name }
  })
  context.apiTokenUses.remove([id])
  return gone
}

/** Without a moment in the form, the usual one. */
function readExpiry(
  context: Context,
  wanted: string | null | undefined,
): { expireAt: string; errors: FieldError[] } {
  const after = (days: number) => new Date(context.clock() + days * DAY_MS).toISOString()
  const usual = after(API_TOKEN_DAYS.usual)
  if (wanted === null || wanted === undefined) return { expireAt: usual, errors: [] }
  const settled = settleExpiry(context, wanted)
  const wrong = (message: string) => ({ expireAt: usual, errors: [{ field: 'expireAt', message }] })
  if (!settled) return wrong(MESSAGES.pastDate)
  return settled > after(API_TOKEN_DAYS.most)
    ? wrong(MESSAGES.expiryTooLate)
    : { expireAt: settled, errors: [] }
}

function roleErrors(owner: Owner, { role }: Partial<ApiTokenForm>): FieldError[] {
  if (role !== undefined && !isWithin(role, owner.role))
    return [{ field: 'role', message: MESSAGES.roleAboveOwn }]
  return []
}

async function requireRoom(tx: Tx, userId: number): Promise<void> {
  const held = await selectTokens(tx, userId).execute()
  if (held.length >= LIMITS.apiTokensPerPerson)
    throw new ConflictError(`You have ${held.length} API tokens, which is the limit. Delete old ones first.`)
}

/** @throws ValidationError for what does not exist, or is out of the person's own reach: for them it does not, either */
async function requireReach(tx: Tx, own: Reach, reach: Reach): Promise<void> {
  if (!reach) return
  const errors: FieldError[] = []
  for (const [kind, message] of [
    ['nodes', PEOPLE_MESSAGES.unknownNode],
    ['domains', PEOPLE_MESSAGES.unknownDomain],
  ] as const) {
    const ids = reach[kind]
    const rows =
      ids.length === 0 ? [] : await tx.selectFrom(kind).select('id').where('id', 'in', ids).execute()
    const existing = new Set(rows.map(({ id }) => id))
    ids.forEach((id, index) => {
      if (!existing.has(id) || (own && !own[kind].includes(id)))
        errors.push({ field: `reach.${kind}.${index}`, message })
    })
  }
  if (errors.length > 0) throw new ValidationError(errors)
}

async function getApiToken(
  context: Context,
  db: Kysely<Database>,
  { userId }: Pick<Owner, 'userId'>,
  id: number,
): Promise<ApiToken> {
  const row = await selectTokens(db, userId).where('id', '=', id).executeTakeFirst()
  if (!row) throw new NotFoundError('Token')
  return await toApiToken(context, db, row)
}

/** Never the hash. */
function selectTokens(db: Kysely<Database>, userId: number) {
  return db
    .selectFrom('api_tokens')
    .select(['id', 'name', 'role', 'is_limited', 'expire_at', 'revoked', 'created_at', 'updated_at'])
    .where('user_id', '=', userId)
}

type Row = Awaited<ReturnType<ReturnType<typeof selectTokens>['executeTakeFirstOrThrow']>>

async function toApiToken(
  { apiTokenUses }: Context,
  db: Kysely<Database>,
  { is_limited, expire_at, revoked, ...rest }: Row,
): Promise<ApiToken> {
  const use = apiTokenUses.find(rest.id)
  const reach = await readTokenReach(db, rest.id, is_limited === 1)
  const uses = { lastUsed: use?.at ?? null, lastUsedFrom: use?.from ?? null }
  return { ...rest, reach, expireAt: expire_at, revoked: revoked === 1, ...uses }
}
