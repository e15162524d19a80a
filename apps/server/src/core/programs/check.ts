import type { Role } from '@postern/contract/sign-in/auth'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import type { Context } from '../../context.ts'
import type { Flag } from '../../db/columns.ts'
import { type Access, readReach } from '../access/access.ts'
import { narrow } from '../access/narrow.ts'
import { hasFactor } from '../accounts/factors/factors.ts'
import { type Arrival, sourceOf } from '../accounts/sources.ts'
import { ForbiddenError, UnauthenticatedError } from '../errors.ts'
import { hashToken } from '../secrets/secrets.ts'
import { readTokenReach } from './reach.ts'

/** Unknown tokens from one source in ten minutes; known ones are not affected. */
const UNKNOWN_PER_SOURCE = 60

/** A program that shows an API token, with what its token and its person both may do now. */
export interface Program extends Access {
  tokenId: number
  tokenName: string
  userId: number
  username: string
  /** The person's own role, whatever the token is limited to: it decides what their sign-in needs. */
  personRole: Role
  /** Whether the person has a second factor. */
  hasFactor: boolean
  /** ms since the epoch. */
  expiresAt: number
}

export function isApiToken(token: string): boolean {
  return token.startsWith(TOKEN_PREFIXES.api)
}

/**
 * Takes one request from the token's budget, and records its use.
 * @param arrival how the request came in
 * @throws UnauthenticatedError for an unknown token, ForbiddenError for one that has ended, TooManyError
 */
export async function admitProgram(context: Context, token: string, arrival: Arrival): Promise<Program> {
  const row = await selectTokens(context).where('token_hash', '=', hashToken(token)).executeTakeFirst()
  if (!row) {
    const { network } = sourceOf(arrival)
    context.unknownTokens.check(network, UNKNOWN_PER_SOURCE)
    context.unknownTokens.add(network, 1)
    throw new UnauthenticatedError('Unknown API token')
  }
  context.programRates.take(row.id)
  const program = await readProgram(context, row)
  context.apiTokenUses.recordUse(row.id, arrival.address || null)
  return program
}

/** As it is now, for what outlasts a request. @throws UnauthenticatedError when it was deleted, ForbiddenError */
export async function getProgram(context: Context, tokenId: number): Promise<Program> {
  const row = await selectTokens(context).where('api_tokens.id', '=', tokenId).executeTakeFirst()
  if (!row) throw new UnauthenticatedError('Unknown API token')
  return await readProgram(context, row)
}

function selectTokens({ db }: Context) {
  return db
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.id', 'api_tokens.user_id')
    .select(['api_tokens.id', 'name', 'revoked', 'expire_at', 'api_tokens.role', 'api_tokens.is_limited'])
    .select(['user_id', 'username', 'users.role as user_role', 'users.is_limited as is_user_limited'])
    .select('users.is_disabled')
}

interface Row {
  id: number
  name: string
  revoked: Flag
  expire_at: string
  role: Role
  is_limited: Flag
  user_id: number
  username: string
  user_role: Role
  is_user_limited: Flag
  is_disabled: Flag
}

async function readProgram(context: Context, row: Row): Promise<Program> {
  refuseEnded(context, row)
  const { db } = context
  const own = { role: row.role, reach: await readTokenReach(db, row.id, row.is_limited === 1) }
  const person = { role: row.user_role, is_limited: row.is_user_limited }
  const reach = await readReach(db, row.user_id, person)
  return {
    tokenId: row.id,
    tokenName: row.name,
    userId: row.user_id,
    username: row.username,
    personRole: row.user_role,
    hasFactor: await hasFactor(db, row.user_id),
    expiresAt: Date.parse(row.expire_at),
    ...narrow(own, { role: row.user_role, reach }),
  }
}

function refuseEnded({ clock }: Context, { revoked, expire_at, is_disabled }: Row): void {
  if (revoked === 1) throw new ForbiddenError('This API token was revoked', 'token_revoked')
  if (Date.parse(expire_at) <= clock())
    throw new ForbiddenError('This API token has expired', 'token_expired')
  if (is_disabled === 1)
    throw new ForbiddenError('The account that made this API token is disabled', 'token_revoked')
}
