import type { Page } from '@postern/contract/lists'
import type { Service, ServiceQuery, ServiceType } from '@postern/contract/services/services'
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
import type { Actor } from '../../changes/actor.ts'
import { type Changed, change, nextTime, removeStated, updateStated } from '../../changes/change.ts'
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

/** Identifies a service: for another node or type it does not exist. */
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
 * The services of a type: by node, by domain, or all; by default in order of creation.
 * @throws NotFoundError when the node does not exist
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
    // A service with exactly this name is on the first page, however many others contain it.
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
  if (search) conditions.push(hasWords(config, eb, search))
  return eb.and(conditions)
}

/** Whether a service has this in its name, its public address or that of its backend. */
export function hasWords(
  config: ServerConfig,
  eb: ExpressionBuilder<Database, 'services'>,
  search: string,
): Expression<SqlBool> {
  const found = eb
    .selectFrom('domains')
    .select('domains.id')
    .where(hasText('domain', normaliseDomain(search)))
  const text = search.toLowerCase()
  return eb.or([
    hasText('services.name_folded', text),
    eb('domain_id', 'in', found),
    hasBackend(text),
    hasPublicAddress(config, text),
  ])
}

/** @throws NotFoundError */
export async function getService(context: Context, key: ServiceKey): Promise<Service> {
  return toService(context, await getServiceRow(context.db, key))
}

/**
 * Enables or disables the service.
 * @throws NotFoundError, ConflictError for the console
 */
export async function setServiceEnabled(
  context: Context,
  actor: Actor,
  key: ServiceKey,
  enabled: boolean,
): Promise<Service> {
  const what = `service ${enabled ? 'enabled' : 'disabled'}`
  const row = await change(context, { actor, what }, async (tx, revision) => {
    await writeEnabled(context, tx, await getServiceRow(tx, key), { enabled, revision })
    return changedService(tx, key)
  })
  return toService(context, row)
}

/** In the change of this revision. @returns when it was updated. @throws ConflictError as above */
export async function writeEnabled(
  context: Context,
  tx: Transaction<Database>,
  current: ServiceRecordRow,
  { enabled, revision }: { enabled: boolean; revision: number },
): Promise<string> {
  if (current.system && !enabled) throw new ConflictError('The console cannot be disabled', [], 'system')
  await holdPublication(tx, current, enabled)
  return await writeService(context, tx, current, revision, { enabled: flag(enabled) })
}

/** @throws NotFoundError, ConflictError for the console */
export async function removeService(
  context: Context,
  actor: Actor,
  key: ServiceKey,
): Promise<{ id: number }> {
  const removed = await change(context, { actor, what: 'service deleted' }, async (tx) => {
    const row = await getServiceRow(tx, key)
    const domains = await deleteService(tx, row)
    const touched = { services: [key], nodes: [key.nodeId], domains }
    return { value: { id: key.id }, touched, name: row.name }
  })
  await context.counts.remove([key.id])
  return removed
}

/** @returns the ids of domains that went with it. @throws ConflictError for the console */
export async function deleteService(
  tx: Transaction<Database>,
  { id, system, domain_id }: ServiceRecordRow,
): Promise<number[]> {
  if (system) throw new ConflictError('The console cannot be deleted', [], 'system')
  await detachPublication(tx, id)
  await removeStated(tx, 'services', { id })
  return await releaseDomains(tx, [domain_id])
}

/** The end of a change of one service: its row now, and the things that changed. */
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

/**
 * Writes the values of a form, or whether the service is enabled, as the change of this revision.
 * @returns when it was updated
 */
export async function writeService(
  context: Context,
  tx: Transaction<Database>,
  current: ServiceRecordRow,
  revision: number,
  values: StatedUpdate<'services'>,
): Promise<string> {
  const updated_at = nextTime(context.clock(), current.updated_at)
  await updateStated(tx, 'services', current.id, revision, { ...values, updated_at })
  return updated_at
}

/** @throws NotFoundError */
export async function getServiceRow(db: Kysely<Database>, key: ServiceKey): Promise<ServiceRecordRow> {
  const row = await findService(db, key.id)
  if (row?.node_id !== key.nodeId || row.type !== key.type) throw new NotFoundError('Service')
  return row
}

/**
 * The fields of a node that the rules of its services need.
 * @throws NotFoundError
 */
export async function getServiceNode(db: Kysely<Database>, id: number): Promise<ServiceNode> {
  const node = await db
    .selectFrom('nodes')
    .select(['id', 'name', 'is_local', 'is_gateway', 'gateway_networks'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!node) throw new NotFoundError('Node')
  return node
}
