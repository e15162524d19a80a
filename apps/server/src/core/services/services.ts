import type { Page } from '@postern/contract/lists'
import type { Service, ServiceQuery, ServiceType } from '@postern/contract/services'
import { normaliseDomain } from '@postern/net/hostname'
import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type Kysely,
  type SqlBool,
  sql,
  type Transaction,
} from 'kysely'
import { type Changed, change, nextTime, updateStated } from '../../changes/change.ts'
import type { ServerConfig } from '../../config.ts'
import type { Context } from '../../context.ts'
import { type Flag, flag } from '../../db/columns.ts'
import type { Database, StatedUpdate } from '../../db/schema.ts'
import { hasBackend, hasPublicAddress, hasText } from '../columns.ts'
import { ConflictError, NotFoundError } from '../errors.ts'
import { listOrPage } from '../pages.ts'
import { detachPublication, holdPublication, releaseDomains } from '../publishing/publications.ts'
import type { ServiceNode } from './backend-host.ts'
import { findService, readServices, type ServiceOrder, type ServiceRecordRow, toService } from './records.ts'

/** Names one service: of another node or type it does not exist. */
export interface ServiceKey {
  nodeId: number
  type: ServiceType
  id: number
}

interface ServiceFilter extends ServiceQuery {
  type: ServiceType
  nodeId?: number
}

/**
 * Those of a type: by node, by domain, or all; in the order of their creation unless ordered otherwise.
 * @throws NotFoundError for a node that is not there
 */
export async function listServices(
  context: Context,
  filter: ServiceFilter,
): Promise<Service[] | Page<Service>> {
  if (filter.nodeId !== undefined) await getServiceNode(context.db, filter.nodeId)
  const order = sqlOrder(filter.orderBy)
  const found = context.db.selectFrom('services').where((eb) => matches(context.config, eb, filter))
  return await listOrPage(filter, found, async (slice) => {
    const { search, orderBy } = filter
    const rows = found.select('services.id')
    // The one that is called so is on the first page, however many have its name in theirs.
    const ranked = search && !orderBy ? rows.orderBy(sql`name_folded <> ${search.toLowerCase()}`) : rows
    const sorted = ranked.orderBy(order.column, order.direction).orderBy('id', order.direction)
    const ids = slice ? sorted.limit(slice.limit).offset(slice.offset) : sorted
    return (await readServices(context.db, ids, order)).map((row) => toService(context, row))
  })
}

function sqlOrder(orderBy: ServiceQuery['orderBy']): ServiceOrder {
  const column = orderBy?.field === 'name' ? 'name_folded' : orderBy ? 'created_at' : 'id'
  return { column: `services.${column}`, direction: orderBy?.direction ?? 'asc' }
}

function matches(config: ServerConfig, eb: ExpressionBuilder<Database, 'services'>, filter: ServiceFilter) {
  const { type, nodeId, domain, search } = filter
  const domains = eb.selectFrom('domains').select('domains.id')
  const conditions: Expression<SqlBool>[] = [eb('type', '=', type)]
  if (nodeId !== undefined) conditions.push(eb('node_id', '=', nodeId))
  if (domain !== undefined)
    conditions.push(eb('domain_id', '=', domains.where('domain', '=', domain.toLowerCase())))
  if (search) {
    const found = domains.where(hasText('domain', normaliseDomain(search)))
    const text = search.toLowerCase()
    const isThere = [hasBackend(text), hasPublicAddress(config, text)]
    conditions.push(eb.or([hasText('name_folded', text), eb('domain_id', 'in', found), ...isThere]))
  }
  return eb.and(conditions)
}

/** @throws NotFoundError */
export async function getService(context: Context, key: ServiceKey): Promise<Service> {
  return toService(context, await getServiceRow(context.db, key))
}

/** Opens or closes the service to visitors. @throws NotFoundError, ConflictError for the console */
export async function setServiceEnabled(
  context: Context,
  actor: string,
  key: ServiceKey,
  enabled: boolean,
): Promise<Service> {
  const what = `service ${enabled ? 'enabled' : 'disabled'}`
  const row = await change(context, { actor, what }, async (tx, revision) => {
    const current = await getServiceRow(tx, key)
    if (current.system && !enabled) throw new ConflictError('The console cannot be disabled', [], 'system')
    await holdPublication(tx, current, enabled)
    await writeService(context, tx, current, revision, { enabled: flag(enabled) })
    return changedService(tx, key)
  })
  return toService(context, row)
}

/** @throws NotFoundError, ConflictError for the console */
export async function removeService(
  context: Context,
  actor: string,
  key: ServiceKey,
): Promise<{ id: number }> {
  const removed = await change(context, { actor, what: 'service deleted' }, async (tx) => {
    const { system, name, source, domain_id } = await getServiceRow(tx, key)
    if (system) throw new ConflictError('The console cannot be deleted', [], 'system')
    await detachPublication(tx, key.id)
    await tx.deleteFrom('services').where('id', '=', key.id).execute()
    const domains = source === null ? [] : await releaseDomains(tx, [domain_id])
    return { value: { id: key.id }, touched: { services: [key], nodes: [key.nodeId], domains }, name }
  })
  await context.counts.remove([key.id])
  return removed
}

/** The end of a change of one service: its row now, and whom it concerns. */
export async function changedService(
  tx: Transaction<Database>,
  key: ServiceKey,
  domains: number[] = [],
): Promise<Changed<ServiceRecordRow>> {
  const row = await getServiceRow(tx, key)
  return { value: row, touched: { services: [key], nodes: [key.nodeId], domains }, name: row.name }
}

type NewService = Omit<
  Insertable<Database['services']>,
  'id' | 'enabled' | 'system' | 'created_at' | 'updated_at'
> & { enabled?: Flag }

/** Adds a service in the change of this revision. @returns its id */
export async function insertService(
  { clock }: Pick<Context, 'clock'>,
  tx: Transaction<Database>,
  values: NewService,
): Promise<number> {
  const now = new Date(clock()).toISOString()
  const { id } = await tx
    .insertInto('services')
    .values({ enabled: 1, ...values, system: 0, created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Writes the values of a form, or whether the service is enabled, as the change of this revision. */
export async function writeService(
  context: Context,
  tx: Transaction<Database>,
  current: ServiceRecordRow,
  revision: number,
  values: StatedUpdate<'services'>,
): Promise<void> {
  const updated_at = nextTime(context.clock(), current.updated_at)
  await updateStated(tx, 'services', current.id, revision, { ...values, updated_at })
}

/** @throws NotFoundError */
export async function getServiceRow(db: Kysely<Database>, key: ServiceKey): Promise<ServiceRecordRow> {
  const row = await findService(db, key.id)
  if (row?.node_id !== key.nodeId || row.type !== key.type) throw new NotFoundError('Service')
  return row
}

/** What the rules of a service ask of its node. @throws NotFoundError */
export async function getServiceNode(db: Kysely<Database>, id: number): Promise<ServiceNode> {
  const node = await db
    .selectFrom('nodes')
    .select(['id', 'name', 'is_local', 'is_gateway', 'gateway_networks'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!node) throw new NotFoundError('Node')
  return node
}
