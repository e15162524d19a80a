import type { JoinToken } from '@postern/contract/edge/join'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import type { Kysely, Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import { publicUrl } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { HOUR_MS } from '../accounts/attempts.ts'
import { hashToken } from '../secrets/secrets.ts'
import { getEdgeRow, refuseFounding } from './rows.ts'
import { getServers } from './servers.ts'

/**
 * A token for a machine that takes the place of this edge, instead of any before.
 * @throws NotFoundError, ConflictError for the edge beside the server, and where no port is open for edges
 */
export async function makeJoinToken(context: Context, actor: Actor, id: number): Promise<JoinToken> {
  getServers(context.config)
  return await change(context, { actor, what: 'token of edge made' }, async (tx) => {
    const row = await getEdgeRow(tx, id)
    refuseFounding(row, 'This edge is beside the server: it needs no token.')
    return { value: await putJoinToken(context, tx, id), touched: { edges: [id] }, name: row.name }
  })
}

/** Only a hash of it is stored. */
export async function putJoinToken(
  context: Context,
  tx: Transaction<Database>,
  edgeId: number,
): Promise<JoinToken> {
  const token = TOKEN_PREFIXES.join + context.randomBytes(32).toString('base64url')
  const expiresAt = new Date(context.clock() + HOUR_MS).toISOString()
  const values = { hash: hashToken(token), expires_at: expiresAt }
  await tx
    .insertInto('join_tokens')
    .values({ edge_id: edgeId, ...values })
    .onConflict((conflict) => conflict.column('edge_id').doUpdateSet(values))
    .execute()
  const address = `${publicUrl(context.config)}#${context.authority.fingerprint}`
  return { token, expiresAt, address }
}

/** @returns the edge that a machine may join as with this token, now */
export async function findByJoinToken(
  { clock }: Pick<Context, 'clock'>,
  db: Kysely<Database>,
  token: string,
): Promise<{ edgeId: number; hash: string } | undefined> {
  const row = await db
    .selectFrom('join_tokens')
    .select(['edge_id', 'hash', 'expires_at'])
    .where('hash', '=', hashToken(token))
    .executeTakeFirst()
  return row && Date.parse(row.expires_at) > clock() ? { edgeId: row.edge_id, hash: row.hash } : undefined
}
