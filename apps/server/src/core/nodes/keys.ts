import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import type { Actor } from '../../changes/actor.ts'
import type { Context } from '../../context.ts'
import type { NodeRow } from '../../db/schema.ts'
import { type EdgeEnd, listEnds } from '../edges/ends.ts'
import { ConflictError } from '../errors.ts'
import { PLACES } from '../secrets/secrets.ts'
import { tunnelConfigOf } from './agent-config.ts'
import { type NodeFile, renderNodeFile } from './file.ts'
import { changeNode } from './nodes.ts'
import { getNodeRow, refuseLocal } from './records.ts'
import type { NodeToken } from './token-check.ts'

/** New keys of one node in ten minutes. An agent makes one when it is connected; a hostile one might never stop. */
const MAX_KEYS = 20

/**
 * An agent made the node's key itself: whatever key was stored here is erased.
 * @throws NotFoundError, TooManyError, ConflictError when another node or an edge has this key
 */
export async function registerNodeKey(
  context: Context,
  actor: Actor,
  { nodeId, tokenId }: NodeToken,
  publicKey: string,
): Promise<void> {
  const row = await getNodeRow(context.db, nodeId)
  if (row.public_key === publicKey && row.private_key === null) return
  context.keyAttempts.check(String(nodeId), MAX_KEYS)
  context.keyAttempts.add(String(nodeId), 1)
  await changeNode(context, actor, nodeId, 'key registered', async (tx, { updated_at }) => {
    const other = await tx
      .selectFrom('nodes')
      .select('id')
      .where('public_key', '=', publicKey)
      .executeTakeFirst()
    const edge = await tx
      .selectFrom('edges')
      .select('id')
      .where('public_key', '=', publicKey)
      .executeTakeFirst()
    const isTaken = (other && other.id !== nodeId) || edge || publicKey === context.tunnel.publicKey
    if (isTaken)
      throw new ConflictError('The key is taken', [
        { field: 'publicKey', message: 'is already in use in this tunnel. Make a new one.' },
      ])
    // An open form does not show the key, so it does not become stale.
    return { public_key: publicKey, private_key: null, key_token_id: tokenId, updated_at }
  })
}

/**
 * The node's configuration file. The first download makes the node's key, which is stored, so that the next file is
 * the same.
 * @param replaces whether a new key may replace that of the node's agent, which ends the agent's tunnel
 * @throws NotFoundError, ConflictError for the local node, and for one whose agent holds the key
 */
export async function getNodeFile(
  context: Context,
  actor: Actor,
  id: number,
  replaces: boolean,
): Promise<NodeFile> {
  const row = await getNodeRow(context.db, id)
  refuseLocal(row)
  const privateKey =
    row.private_key === null
      ? await createKey(context, actor, row, replaces)
      : context.secrets.open(row.private_key, PLACES.node(id, 'private_key'))
  const ends = await listEnds(context)
  await noteFileEdges(context, row, ends)
  return renderNodeFile(tunnelConfigOf(context, row, ends), privateKey)
}

/** The node's row tells when there are more. */
async function noteFileEdges({ db, bus }: Context, row: NodeRow, ends: readonly EdgeEnd[]): Promise<void> {
  const file_edges = JSON.stringify(ends.map(({ id }) => id))
  if (row.file_edges === file_edges) return
  await db.updateTable('nodes').set({ file_edges }).where('id', '=', row.id).execute()
  bus.emit({ kind: 'figures', nodes: [row.id], isReport: true })
}

async function createKey(context: Context, actor: Actor, row: NodeRow, replaces: boolean): Promise<string> {
  const keys = createWireGuardKeys(context.randomBytes(32))
  const place = PLACES.node(row.id, 'private_key')
  let privateKey = context.secrets.seal(keys.privateKey, place)
  await changeNode(context, actor, row.id, 'key made', async (_tx, now) => {
    const { updated_at } = now
    // Another download was faster.
    if (now.private_key !== null) {
      privateKey = now.private_key
      return { updated_at }
    }
    if (now.public_key !== null && !replaces)
      throw new ConflictError(
        "The CLI on this node made its own key. The file would get a new one, which ends the CLI's tunnel.",
        [],
        'agent_key',
      )
    return { public_key: keys.publicKey, private_key: privateKey, key_token_id: null, updated_at }
  })
  return context.secrets.open(privateKey, place)
}
