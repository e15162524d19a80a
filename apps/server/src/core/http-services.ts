import type { Page } from '@postern/contract/lists'
import { type HttpService, HttpServiceForm } from '@postern/contract/services'
import type { ExpressionBuilder, Kysely, Transaction } from 'kysely'
import { change, nextTime } from '../changes/change.ts'
import type { Context } from '../context.ts'
import { type Database, flag } from '../db/schema.ts'
import { ConflictError, NotFoundError, ValidationError } from './errors.ts'
import {
  findService,
  formOf,
  readServices,
  type ServiceRecordRow,
  toHttpService,
} from './http-service-record.ts'
import {
  checkService,
  type NewDomain,
  type PublicPlace,
  prepareService,
  refuseForConsole,
  takePlace,
} from './http-service-route.ts'
import { findLockedChanges, type ServiceNode } from './http-service-rules.ts'
import { listOrPage } from './pages.ts'
import type { Patch } from './patch.ts'

/** Names one service: of another node it does not exist. */
export interface ServiceKey {
  nodeId: number
  id: number
}

interface ServiceFilter {
  nodeId?: number
  domain?: string | undefined
  page?: number | undefined
  limit?: number | undefined
}

/** By node, by domain, or all. @throws NotFoundError for a node that is not there */
export async function listHttpServices(
  context: Context,
  filter: ServiceFilter,
): Promise<HttpService[] | Page<HttpService>> {
  if (filter.nodeId !== undefined) await getNode(context.db, filter.nodeId)
  const found = context.db
    .selectFrom('services')
    .leftJoin('domains', 'domains.id', 'services.domain_id')
    .where((eb) => matches(eb, filter))
  return await listOrPage(filter, found, async (slice) => {
    const sorted = found.select('services.id').orderBy('services.id')
    const ids = slice ? sorted.limit(slice.limit).offset(slice.offset) : sorted
    const rows = await readServices(context.db, ids)
    return rows.map((row) => toHttpService(context, row))
  })
}

type Joined = Pick<Database, 'services'> & { domains: Database['domains'] | null }

function matches(eb: ExpressionBuilder<Database & Joined, 'services' | 'domains'>, filter: ServiceFilter) {
  return eb.and([
    ...(filter.nodeId === undefined ? [] : [eb('services.node_id', '=', filter.nodeId)]),
    ...(filter.domain === undefined ? [] : [eb('domains.domain', '=', filter.domain.toLowerCase())]),
  ])
}

/** @throws NotFoundError */
export async function getHttpService(context: Context, key: ServiceKey): Promise<HttpService> {
  return toHttpService(context, await getRow(context.db, key))
}

/** @throws NotFoundError, ValidationError, ConflictError */
export async function createHttpService(
  context: Context,
  actor: string,
  nodeId: number,
  form: HttpServiceForm,
): Promise<HttpService> {
  const prepared = await prepareService(context, await getNode(context.db, nodeId), form, false)
  const row = await change(context, { actor, what: `service ${form.name} created` }, async (tx, revision) => {
    await checkService(context, tx, await getNode(tx, nodeId), form)
    const place = await takePlace(context, tx, form, prepared, null)
    const now = new Date(context.clock()).toISOString()
    const { id } = await tx
      .insertInto('services')
      .values({
        ...columnsOf(form, place),
        type: 'http',
        node_id: nodeId,
        enabled: 1,
        system: 0,
        revision,
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return changed(tx, { nodeId, id }, place.created)
  })
  return toHttpService(context, row)
}

/** @throws NotFoundError, ValidationError, ConflictError */
export async function updateHttpService(
  context: Context,
  actor: string,
  key: ServiceKey,
  patch: Patch<HttpServiceForm>,
): Promise<HttpService> {
  const prepared = await prepareUpdate(context, key, patch)
  const row = await change(context, { actor, what: `service ${key.id} updated` }, async (tx, revision) => {
    const current = await getRow(tx, key)
    const form = patch.onto(formOf(current), current.updated_at)
    if (current.system) refuseLocked(current, form)
    else await checkService(context, tx, await getNode(tx, key.nodeId), form)
    const place = await takePlace(context, tx, form, prepared, key.id)
    if (current.system && place.domainId !== null) await refuseForConsole(tx, place.domainId, key.id)
    await writeService(context, tx, current, { ...columnsOf(form, place), revision })
    return changed(tx, key, place.created)
  })
  return toHttpService(context, row)
}

async function prepareUpdate(
  context: Context,
  key: ServiceKey,
  patch: Patch<HttpServiceForm>,
): Promise<NewDomain> {
  const before = await getRow(context.db, key)
  const form = patch.onto(formOf(before), before.updated_at)
  if (before.system) refuseLocked(before, form)
  return await prepareService(context, await getNode(context.db, key.nodeId), form, before.system === 1)
}

/** Opens or closes the service to visitors. @throws NotFoundError, ConflictError for the console */
export async function setHttpServiceEnabled(
  context: Context,
  actor: string,
  key: ServiceKey,
  enabled: boolean,
): Promise<HttpService> {
  const what = `service ${key.id} ${enabled ? 'enabled' : 'disabled'}`
  const row = await change(context, { actor, what }, async (tx, revision) => {
    const current = await getRow(tx, key)
    if (current.system && !enabled) throw new ConflictError('The console cannot be disabled', [], 'system')
    await writeService(context, tx, current, { enabled: flag(enabled), revision })
    return changed(tx, key)
  })
  return toHttpService(context, row)
}

/** @throws NotFoundError, ConflictError for the console */
export async function removeHttpService(
  context: Context,
  actor: string,
  key: ServiceKey,
): Promise<{ id: number }> {
  return await change(context, { actor, what: `service ${key.id} deleted` }, async (tx) => {
    const { system } = await getRow(tx, key)
    if (system) throw new ConflictError('The console cannot be deleted', [], 'system')
    await tx.deleteFrom('services').where('id', '=', key.id).execute()
    return { value: { id: key.id }, touched: { services: [key], nodes: [key.nodeId] } }
  })
}

async function changed(tx: Transaction<Database>, key: ServiceKey, domains: number[] = []) {
  return { value: await getRow(tx, key), touched: { services: [key], nodes: [key.nodeId], domains } }
}

function refuseLocked(current: ServiceRecordRow, form: HttpServiceForm): void {
  const errors = findLockedChanges(HttpServiceForm.parse(formOf(current)), form)
  if (errors.length > 0) throw new ValidationError(errors)
}

type Columns = Partial<ReturnType<typeof columnsOf>> & { revision: number; enabled?: 0 | 1 }

async function writeService(
  context: Context,
  tx: Transaction<Database>,
  current: ServiceRecordRow,
  columns: Columns,
): Promise<void> {
  const updated_at = nextTime(context.clock(), current.updated_at)
  await tx
    .updateTable('services')
    .set({ ...columns, updated_at })
    .where('id', '=', current.id)
    .execute()
}

function columnsOf(form: HttpServiceForm, place: PublicPlace) {
  return {
    name: form.name,
    domain_id: place.domainId,
    path: place.path,
    backend_proto: form.backendProto,
    backend_host: form.backendHost,
    backend_port: form.backendPort,
    allowed_ips: JSON.stringify(form.allowedIps),
    blocked_ips: JSON.stringify(form.blockedIps),
  }
}

async function getRow(db: Kysely<Database>, { nodeId, id }: ServiceKey): Promise<ServiceRecordRow> {
  const row = await findService(db, id)
  if (row?.node_id !== nodeId) throw new NotFoundError('Service')
  return row
}

async function getNode(db: Kysely<Database>, id: number): Promise<ServiceNode> {
  const node = await db
    .selectFrom('nodes')
    .select(['id', 'name', 'is_local', 'is_gateway', 'gateway_networks'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!node) throw new NotFoundError('Node')
  return node
}
