import type { CreatedNode, Node, NodeForm } from '@postern/contract/nodes'
import type { Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change, nextTime, removeStated, updateStated } from '../../changes/change.ts'
import type { ServiceRef, Touched } from '../../changes/live.ts'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database, NodeRow, StatedUpdate } from '../../db/schema.ts'
import { NotFoundError } from '../errors.ts'
import { nodeKey } from '../figures/keys.ts'
import type { Patch } from '../patch.ts'
import { forgetFreed } from '../publishing/freed.ts'
import {
  forgetPublications,
  type Gone,
  releaseDomains,
  withdrawAll,
  withdrawThese,
} from '../publishing/publications.ts'
import { listBeyond } from '../publishing/shares.ts'
import { PLACES } from '../secrets/secrets.ts'
import { checkNode } from './checks.ts'
import { getNodeRow, refuseLocal, selectRecord, toNode } from './records.ts'
import { insertToken, listTokenIds } from './tokens.ts'

type Tx = Transaction<Database>

/** @throws NotFoundError */
export async function getNode(context: Context, id: number): Promise<Node> {
  const row = await selectRecord(context.db.selectFrom('nodes')).where('nodes.id', '=', id).executeTakeFirst()
  if (!row) throw new NotFoundError('Node')
  return toNode(context, row)
}

/** @returns the node and its access token, which cannot be read again. @throws ValidationError, ConflictError */
export async function createNode(
  context: Context,
  actor: Actor,
  patch: Patch<NodeForm>,
): Promise<CreatedNode> {
  const { id, token } = await change(context, { actor, what: 'node created' }, async (tx, revision) => {
    const form = await checkNode(context, tx, patch)
    const address = form.address ?? (await context.addresses.next(tx))
    const now = new Date(context.clock()).toISOString()
    const row = await tx
      .insertInto('nodes')
      .values({
        ...columnsOf(form),
        address,
        is_local: 0,
        enabled: 1,
        preshared_key: null,
        revision,
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    // Bound to the row, whose id is known only now.
    await updateStated(tx, 'nodes', row.id, revision, {
      preshared_key: context.secrets.seal(
        context.randomBytes(32).toString('base64'),
        PLACES.node(row.id, 'preshared_key'),
      ),
    })
    const { token } = await insertToken(context, tx, row.id, { name: 'default', expireAt: null })
    return { value: { id: row.id, token }, touched: { nodes: [row.id] }, name: form.name }
  })
  return { ...(await getNode(context, id)), token }
}

function columnsOf(form: NodeForm) {
  return {
    name: form.name,
    name_folded: form.name.toLowerCase(),
    dns: form.dns,
    keepalive: form.keepalive,
    is_gateway: flag(form.isGateway),
    gateway_networks: JSON.stringify(form.isGateway ? form.gatewayNetworks : []),
    allow_internet: flag(form.allowInternet),
    advanced: flag(form.advanced),
    agent_may_publish: flag(form.agentMayPublish),
    agent_domains: JSON.stringify([...new Set(form.agentDomains)]),
    agent_max_services: form.agentMaxServices,
    agent_max_domains: form.agentMaxDomains,
    agent_max_ports: form.agentMaxPorts,
    agent_max_entries: form.agentMaxEntries,
  }
}

/**
 * A cleared address keeps the node's present one. Services that its agent published go when it loses the right, or
 * when a limit is lowered.
 * @throws NotFoundError, ConflictError, ValidationError
 */
export async function updateNode(
  context: Context,
  actor: Actor,
  id: number,
  patch: Patch<NodeForm>,
): Promise<Node> {
  const gone: number[] = []
  await changeNode(context, actor, id, 'updated', async (tx, row, touch) => {
    const form = await checkNode(context, tx, patch, row)
    const address = form.address ?? row.address
    if (address !== row.address) context.addresses.release(row.address)
    if (row.agent_may_publish === 1) {
      const withdrawn = form.agentMayPublish
        ? await withdrawThese(tx, id, await listBeyond(tx, id, columnsOf(form)))
        : await withdrawAll(tx, id)
      gone.push(...withdrawn.services.map((service) => service.id))
      touch(withdrawn)
    }
    return { ...columnsOf(form), address }
  })
  if (gone.length > 0) await context.counts.remove(gone)
  return await getNode(context, id)
}

/** Without a peer no traffic passes, and visitors of its services get our own page. */
export async function setNodeEnabled(
  context: Context,
  actor: Actor,
  id: number,
  enabled: boolean,
): Promise<Node> {
  await changeNode(context, actor, id, enabled ? 'connected' : 'disconnected', async (_tx, row) =>
    turnNode(context, row, enabled),
  )
  return await getNode(context, id)
}

/** What of its row is another. */
export function turnNode(
  context: Context,
  { id, enabled }: Pick<NodeRow, 'id' | 'enabled'>,
  isOn: boolean,
): StatedUpdate<'nodes'> {
  if (isOn && enabled === 0) context.live.doubt(id)
  return { enabled: flag(isOn) }
}

/** The services go with it. @throws NotFoundError, ConflictError for the local node */
export async function removeNode(context: Context, actor: Actor, id: number): Promise<{ id: number }> {
  const gone = await change(context, { actor, what: 'node deleted' }, async (tx) => {
    const row = await getNodeRow(tx, id)
    const value = await deleteNode(context, tx, row)
    return { value, touched: value.touched, name: row.name }
  })
  await forgetNodes(context, [gone])
  return { id }
}

/** What went with a node. */
export interface GoneNode {
  id: number
  tokens: number[]
  touched: Required<Pick<Touched, 'nodes' | 'services' | 'domains'>>
}

/** @throws ConflictError for the local node */
export async function deleteNode(context: Context, tx: Tx, row: NodeRow): Promise<GoneNode> {
  refuseLocal(row)
  const { id } = row
  const tokens = await listTokenIds(tx, id)
  const published = await withdrawAll(tx, id)
  const services = [...published.services, ...(await listServiceRefs(tx, id))]
  await forgetPublications(tx, id)
  const left = await tx
    .selectFrom('services')
    .select('domain_id')
    .where('node_id', '=', id)
    .orderBy('id')
    .execute()
  await removeStated(tx, 'services', { node_id: id })
  const released = await releaseDomains(
    tx,
    left.map((row) => row.domain_id),
  )
  await forgetFreed(tx, id)
  await removeStated(tx, 'nodes', { id })
  context.addresses.release(row.address)
  return { id, tokens, touched: { nodes: [id], services, domains: [...published.domains, ...released] } }
}

/** What is in memory or among the figures of nodes that are gone. */
export async function forgetNodes(context: Context, gone: readonly GoneNode[]): Promise<void> {
  for (const { id } of gone) context.live.remove(id)
  context.tokenUses.remove(gone.flatMap(({ tokens }) => tokens))
  const services = gone.flatMap(({ touched }) => touched.services.map(({ id }) => id))
  await context.counts.remove([...gone.map(({ id }) => nodeKey(id)), ...services])
}

/**
 * Updates one node's row in one transaction; its services are then applied again by the edges.
 * @throws NotFoundError, ConflictError for the local node
 */
export async function changeNode(
  context: Context,
  actor: Actor,
  id: number,
  what: string,
  work: (tx: Tx, row: NodeRow, touch: (gone: Gone) => void) => Promise<StatedUpdate<'nodes'>>,
): Promise<void> {
  await change(context, { actor, what: `node ${what}` }, async (tx, revision) => {
    const row = await getNodeRow(tx, id)
    refuseLocal(row)
    let gone: Gone = { services: [], domains: [] }
    const values = await work(tx, row, (more) => {
      gone = more
    })
    await writeNode(context, tx, row, revision, values)
    const services = [...gone.services, ...(await listServiceRefs(tx, id))]
    const touched = { nodes: [id], services, domains: gone.domains }
    return { value: undefined, touched, name: row.name }
  })
}

/** As the change of this revision. @returns when it was updated */
export async function writeNode(
  context: Context,
  tx: Tx,
  row: Pick<NodeRow, 'id' | 'updated_at'>,
  revision: number,
  values: StatedUpdate<'nodes'>,
): Promise<string> {
  const updated_at = nextTime(context.clock(), row.updated_at)
  await updateStated(tx, 'nodes', row.id, revision, { updated_at, ...values })
  return updated_at
}

export async function listServiceRefs(tx: Tx, nodeId: number): Promise<ServiceRef[]> {
  const rows = await tx.selectFrom('services').select('id').where('node_id', '=', nodeId).execute()
  return rows.map(({ id }) => ({ id, nodeId }))
}
