import type { MuteForm } from '@postern/contract/alerts/mute'
import type { Node } from '@postern/contract/nodes'
import type { Service } from '@postern/contract/services/services'
import type { Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { getNode } from '../nodes/nodes.ts'
import { getNodeRow, refuseLocal } from '../nodes/records.ts'
import { getService, type ServiceKey } from '../services/services.ts'

/** @param form null to unmute. @throws NotFoundError, ConflictError for the local node */
export async function muteNode(
  context: Context,
  actor: Actor,
  id: number,
  form: MuteForm | null,
): Promise<Node> {
  const what = form ? 'node muted' : 'node unmuted'
  await change(context, { actor, what }, async (tx) => {
    const row = await getNodeRow(tx, id)
    refuseLocal(row)
    await write(tx, { node_id: id, service_id: null }, form)
    return { value: undefined, touched: { nodes: [id] }, name: row.name }
  })
  return await getNode(context, id)
}

/** @param form null to unmute. @throws NotFoundError */
export async function muteService(
  context: Context,
  actor: Actor,
  key: ServiceKey,
  form: MuteForm | null,
): Promise<Service> {
  const { name } = await getService(context, key)
  const what = form ? 'service muted' : 'service unmuted'
  await change(context, { actor, what }, async (tx) => {
    await write(tx, { node_id: null, service_id: key.id }, form)
    return { value: undefined, touched: { services: [{ id: key.id, nodeId: key.nodeId }] }, name }
  })
  return await getService(context, key)
}

async function write(
  tx: Transaction<Database>,
  thing: { node_id: number | null; service_id: number | null },
  form: MuteForm | null,
): Promise<void> {
  const column = thing.node_id === null ? 'service_id' : 'node_id'
  await tx.deleteFrom('mutes').where(column, '=', thing[column]).execute()
  if (form)
    await tx
      .insertInto('mutes')
      .values({ ...thing, until: form.until })
      .execute()
}
