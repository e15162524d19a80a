import type { Edge } from '@postern/contract/edge/edge'
import type { AddedEdge, EdgeForm } from '@postern/contract/edge/join'
import { LIMITS } from '@postern/contract/limits'
import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import { FOUNDING_EDGE } from '@postern/net/tunnel-addresses'
import type { Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change, nextTime } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database, EdgeRow } from '../../db/schema.ts'
import { leaveEdge } from '../domains/edges.ts'
import { ConflictError, type Findings, quoteNames, refuseFindings } from '../errors.ts'
import type { Patch } from '../patch.ts'
import { hashToken, PLACES } from '../secrets/secrets.ts'
import { edgesBlock } from '../tunnel/addresses.ts'
import { putJoinToken } from './join-tokens.ts'
import { getEdge, getEdgeRow, refuseFounding } from './rows.ts'
import { getServers } from './servers.ts'

type Tx = Transaction<Database>

/**
 * A place for an edge on another machine, with the token by which one joins.
 * @throws ValidationError, ConflictError
 */
export async function addEdge(context: Context, actor: Actor, patch: Patch<EdgeForm>): Promise<AddedEdge> {
  getServers(context.config)
  const { id, join } = await change(context, { actor, what: 'edge added' }, async (tx) => {
    const form = await checkForm(tx, patch)
    await refuseNodesInBlock(context, tx)
    const now = new Date(context.clock()).toISOString()
    const keys = createWireGuardKeys(context.randomBytes(32))
    const { id } = await tx
      .insertInto('edges')
      .values({
        ...columnsOf(form),
        number: await nextNumber(tx),
        // No text has this hash: such an edge has a certificate.
        token_hash: hashToken(context.randomBytes(32).toString('hex')),
        public_key: keys.publicKey,
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    // Bound to the row, whose id is known only now.
    const private_key = context.secrets.seal(keys.privateKey, PLACES.edge(id))
    await tx.updateTable('edges').set({ private_key }).where('id', '=', id).execute()
    const value = { id, join: await putJoinToken(context, tx, id) }
    return { value, touched: { edges: [id] }, name: form.name }
  })
  return { edge: await getEdge(context, id), join }
}

/** @throws NotFoundError, ValidationError, ConflictError */
export async function editEdge(
  context: Context,
  actor: Actor,
  id: number,
  patch: Patch<EdgeForm>,
): Promise<Edge> {
  await change(context, { actor, what: 'edge updated' }, async (tx) => {
    const row = await getEdgeRow(tx, id)
    const form = await checkForm(tx, patch, row)
    await writeEdge(context, tx, row, columnsOf(form))
    const isMoved = form.host !== row.host || form.name !== row.name
    const touched = { edges: [id], ...(isMoved && row.joined_at !== null && { tunnelEnds: true as const }) }
    return { value: undefined, touched, name: form.name }
  })
  return await getEdge(context, id)
}

/** Visitors who ask its health address go elsewhere; everything else goes on. @throws NotFoundError */
export async function drainEdge(
  context: Context,
  actor: Actor,
  id: number,
  isDrained: boolean,
): Promise<Edge> {
  await change(context, { actor, what: isDrained ? 'edge drained' : 'edge undrained' }, async (tx) => {
    const row = await getEdgeRow(tx, id)
    await writeEdge(context, tx, row, { is_drained: flag(isDrained) })
    return { value: undefined, touched: { edges: [id] }, name: row.name }
  })
  return await getEdge(context, id)
}

/** Its certificate is refused from now on. @throws NotFoundError, ConflictError for the edge beside the server, and the only one of a domain */
export async function removeEdge(context: Context, actor: Actor, id: number): Promise<{ id: number }> {
  return await change(context, { actor, what: 'edge removed' }, async (tx, revision) => {
    const row = await getEdgeRow(tx, id)
    refuseFounding(row, 'The edge beside the server cannot be removed.')
    const domains = await leaveEdge(tx, id, revision)
    await tx.deleteFrom('edges').where('id', '=', id).execute()
    const touched = { edges: [id], domains, ...(row.joined_at !== null && { tunnelEnds: true as const }) }
    return { value: { id }, touched, name: row.name }
  })
}

type Values = Partial<Omit<EdgeRow, 'id' | 'created_at'>>

export async function writeEdge(context: Context, tx: Tx, row: EdgeRow, values: Values): Promise<void> {
  const updated_at = nextTime(context.clock(), row.updated_at)
  await tx
    .updateTable('edges')
    .set({ updated_at, ...values })
    .where('id', '=', row.id)
    .execute()
}

function columnsOf({ name, place, host, servesConsole }: EdgeForm) {
  return { name, place, host, is_console: flag(servesConsole) }
}

export function formOf({ name, place, host, is_console }: EdgeRow): EdgeForm {
  return { name, place, host, servesConsole: is_console === 1 }
}

/** @param row the edge as it is; undefined for a new one */
async function checkForm(tx: Tx, patch: Patch<EdgeForm>, row?: EdgeRow): Promise<EdgeForm> {
  const current = row ? formOf(row) : {}
  const { values, errors } = patch.read(current, row?.updated_at)
  const rows = await tx.selectFrom('edges').select(['id', 'name']).execute()
  const fold = (text: string) => text.toLowerCase()
  const other = rows.find(({ id, name }) => id !== row?.id && values.name && fold(name) === fold(values.name))
  const taken: Findings = {
    invalid: row?.number === FOUNDING_EDGE && values.servesConsole === false ? [ALWAYS_SERVES] : [],
    taken: other ? [{ field: 'name', message: 'Another edge has this name' }] : [],
  }
  refuseFindings({ invalid: errors, taken: [] }, taken)
  if (!row && rows.length >= LIMITS.edges)
    throw new ConflictError(`There are ${rows.length} edges, which is the limit. Remove one first.`)
  return patch.onto(current, row?.updated_at)
}

const ALWAYS_SERVES = {
  field: 'servesConsole',
  message: 'The edge beside the server always serves the console',
}

/** The lowest free one, which is a place in the tunnel, too. */
async function nextNumber(tx: Tx): Promise<number> {
  const rows = await tx.selectFrom('edges').select('number').execute()
  const taken = new Set(rows.map(({ number }) => number))
  let number = FOUNDING_EDGE + 1
  while (taken.has(number)) number++
  return number
}

/** Edges have this network; nodes of earlier versions may be in it. @throws ConflictError */
async function refuseNodesInBlock({ tunnel }: Context, tx: Tx): Promise<void> {
  const block = edgesBlock(tunnel.network4)
  const start = block.slice(0, block.lastIndexOf('.') + 1)
  const nodes = await tx.selectFrom('nodes').select('name').where('address', 'like', `${start}%`).execute()
  if (nodes.length === 0) return
  const names = quoteNames(nodes.map(({ name }) => name))
  throw new ConflictError(`Edges need ${block} in the tunnel. Give another address to ${names} first.`)
}
