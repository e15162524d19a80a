import type { CreatedPat, Pat } from '@postern/contract/pats'
import type { Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change, changeIfAny, nextTime, Unchanged, updateStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { ConflictError } from '../errors.ts'
import { getNodeRow } from './records.ts'
import { type NodeToken, refuseBeyondOwn } from './token-check.ts'
import { getToken, insertToken, requireRoom, requireTokenNode, type TokenKey } from './tokens.ts'

/**
 * A new token that replaces another one: the old one holds until the new one is used, so that its machine is never
 * without. Rotating again replaces a new one that was not used.
 * @throws NotFoundError, ConflictError for the local node, for a token that has ended, and where there is no room
 */
export async function rotateToken(context: Context, actor: Actor, key: TokenKey): Promise<CreatedPat> {
  const { nodeId } = key
  return await change(context, { actor, what: 'access token rotated' }, async (tx) => {
    await requireTokenNode(tx, nodeId)
    await refuseBeyondOwn(context, tx, nodeId)
    const old = await getReplaceable(context, tx, key)
    if (old.revoked || msLeft(context, old) <= 0)
      throw new ConflictError('This access token has ended. Add a new one instead.')
    await tx.deleteFrom('node_tokens').where('replaces_id', '=', old.id).execute()
    await requireRoom(tx, nodeId)
    const form = { name: old.name, expireAt: nextExpiry(context, old) }
    const { id, token } = await insertToken(context, tx, nodeId, { ...form, replaces: old.id })
    const value = { ...(await getToken(context, tx, { nodeId, id })), token }
    return { value, touched: { nodes: [nodeId] }, name: old.name }
  })
}

/** The token, or what it was to replace if nobody has used it: otherwise that would hold for ever. */
async function getReplaceable(context: Context, tx: Transaction<Database>, key: TokenKey): Promise<Pat> {
  const named = await getToken(context, tx, key)
  return named.replaces === null ? named : await getToken(context, tx, { ...key, id: named.replaces })
}

const msLeft = ({ clock }: Context, { expireAt }: Pat) =>
  expireAt === null ? Number.POSITIVE_INFINITY : Date.parse(expireAt) - clock()

/** As long from now as the old one was to hold. */
function nextExpiry({ clock }: Context, { expireAt, created_at }: Pat): string | null {
  if (expireAt === null) return null
  return new Date(clock() + Date.parse(expireAt) - Date.parse(created_at)).toISOString()
}

/**
 * The new token was used: the old one is revoked, and the key that the node has is the new one's, as its machine is the
 * same.
 */
export async function endReplaced(
  context: Context,
  { tokenId, nodeId }: NodeToken,
  actor: Actor,
): Promise<void> {
  const note = { actor, what: 'access token revoked' }
  const ended = await changeIfAny(context, note, async (tx, revision) => {
    const old = await findReplaced(tx, tokenId)
    if (!old) throw new Unchanged<number | undefined>(undefined)
    await tx.updateTable('node_tokens').set({ replaces_id: null }).where('id', '=', tokenId).execute()
    const time = nextTime(context.clock(), old.updated_at)
    await tx
      .updateTable('node_tokens')
      .set({ revoked: 1, updated_at: time })
      .where('id', '=', old.id)
      .execute()
    const { key_token_id } = await getNodeRow(tx, nodeId)
    if (key_token_id === old.id) await updateStated(tx, 'nodes', nodeId, revision, { key_token_id: tokenId })
    return { value: old.id, touched: { nodes: [nodeId] }, name: old.name }
  })
  if (ended !== undefined) context.agents.endToken({ nodeId, tokenId: ended })
}

async function findReplaced(tx: Transaction<Database>, tokenId: number) {
  return await tx
    .selectFrom('node_tokens')
    .innerJoin('node_tokens as old', 'old.id', 'node_tokens.replaces_id')
    .select(['old.id', 'old.name', 'old.updated_at'])
    .where('node_tokens.id', '=', tokenId)
    .executeTakeFirst()
}
