import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import type { Transaction } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { hashToken } from '../accounts/token-hash.ts'
import { ForbiddenError } from '../errors.ts'

export function isNodeToken(token: string): boolean {
  return token.startsWith(TOKEN_PREFIXES.node)
}

/** @returns the token's value, which is only kept as a hash. */
export async function createNodeToken(
  context: Context,
  tx: Transaction<Database>,
  nodeId: number,
  name: string,
): Promise<string> {
  const token = TOKEN_PREFIXES.node + context.randomBytes(32).toString('base64url')
  const now = new Date(context.clock()).toISOString()
  await tx
    .insertInto('node_tokens')
    .values({
      node_id: nodeId,
      name,
      token_hash: hashToken(token),
      revoked: 0,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return token
}

/** @throws ForbiddenError when the token is known, but revoked or expired. */
export async function findNodeByToken(
  context: Context,
  token: string,
): Promise<{ tokenId: number; nodeId: number } | undefined> {
  if (!isNodeToken(token)) return undefined
  const row = await context.db
    .selectFrom('node_tokens')
    .select(['id', 'node_id', 'revoked', 'expire_at'])
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirst()
  if (!row) return undefined
  if (row.revoked === 1) throw new ForbiddenError('This access token was revoked', 'token_revoked')
  if (row.expire_at !== null && Date.parse(row.expire_at) <= context.clock())
    throw new ForbiddenError('This access token has expired', 'token_expired')
  return { tokenId: row.id, nodeId: row.node_id }
}
