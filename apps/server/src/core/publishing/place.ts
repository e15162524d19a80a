import type { FieldError } from '@postern/contract/errors'
import type { PortProto } from '@postern/contract/services/service-fields'
import type { Service, ServiceType, TcpServiceForm } from '@postern/contract/services/services'
import { isServicePort } from '@postern/contract/settings/settings'
import type { Transaction } from 'kysely'
import { removeStated, updateStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database, StatedUpdate } from '../../db/schema.ts'
import type { ServiceForm, ServiceNode } from '../services/backend-host.ts'
import { http } from '../services/http.ts'
import { takeDomain } from '../services/public-domain.ts'
import type { ServiceRecordRow } from '../services/records.ts'
import { columnsOf, findFaults, type ServiceKind } from '../services/save.ts'
import { insertService, writeService } from '../services/services.ts'
import type { ServiceSurroundings } from '../services/surroundings.ts'
import { type FreePorts, listFreePorts, tcp } from '../services/tcp.ts'
import { findDomainFault, type NewDomain } from './domains.ts'
import { isPortKept } from './freed.ts'
import { isGiven } from './given.ts'
import { addressOf, isHeld } from './held.ts'
import { detachPublication, type Known } from './publications.ts'
import { NO_TLS } from './rule.ts'
import { findTooMany, type Shares, type Taken } from './shares.ts'
import type { WantedService } from './wanted.ts'

/** The set of one source of a node while it is written in one transaction. */
export interface Work {
  context: Context
  tx: Transaction<Database>
  revision: number
  node: ServiceNode
  source: string
  around: ServiceSurroundings
  /** The domains that did not exist when the set came. */
  prepared: ReadonlyMap<string, NewDomain>
  /** The domains that people allow this node's agent to use. */
  given: readonly string[]
  /** Why services of this node may not have a domain; found once for each. */
  domainFaults: Map<string, Promise<string | undefined>>
  freePorts: Map<PortProto, Promise<FreePorts>>
  shares: Shares
  /** The shares that the node's agent uses, by service. */
  taken: Map<number, Taken>
  done: Done
}

/** What was written. */
export interface Done {
  placed: { id: number; name: string }[]
  removed: { id: number; name: string }[]
  /** The domains that services left, and those that were created. */
  left: Set<number | null>
  made: number[]
}

/** One service of the set, with its present records. */
export interface Item {
  key: string
  service: WantedService
  known: Known | undefined
  /** One of the same type. */
  row: ServiceRecordRow | undefined
}

/**
 * Writes the differences.
 * @returns the problems, in which case it is not published
 */
export async function placeService(work: Work, item: Item): Promise<FieldError[]> {
  const { service, row } = item
  const errors =
    service.type === 'http'
      ? await placeAs(work, http, service.form, item)
      : await placeAs(work, tcp, await withPort(work, service.form, row), item)
  if (errors.length > 0 && row) await removeService(work, row)
  return errors
}

async function placeAs<F extends ServiceForm, R extends Service>(
  work: Work,
  kind: ServiceKind<F, R>,
  form: F,
  item: Item,
): Promise<FieldError[]> {
  const { context, tx, node, around } = work
  const { row } = item
  const parts = { context, db: tx, nodeId: node.id, isForAgent: true }
  const { invalid, taken } = await findFaults(kind, parts, form, node, row, around)
  const unfit = [...(await findUnfit(work, form)), ...(await findRecent(work, item))]
  const wrong = firstOfEach([...unfit, ...invalid])
  // An address may be taken by a later service of the set, which is in place when the set comes again.
  const errors = wrong.length > 0 ? wrong : firstOfEach(taken)
  if (errors.length > 0) return errors
  if (isWithoutPort(form)) return [allPortsKept(form)]
  const taking = takenBy(kind.type, form)
  const tooMany = findTooMany(work.shares, work.taken, taking, row?.id)
  if (tooMany.length > 0) return tooMany
  const columns = await columnsOf(kind, parts, form, node, row)
  const held = item.known?.held || (await isHeld(tx, node.id, addressOf({ ...columns, domain: form.domain })))
  const values = {
    ...columns,
    domain_id: await takeNamed(work, form),
    enabled: flag(item.service.enabled && !held),
  }
  if (row) await update(work, item, row, values, held)
  const id = row?.id ?? (await insert(work, item, { ...values, type: kind.type }, held))
  work.taken.set(id, taking)
  return []
}

/** The rules for sources in addition to those for people. */
async function findUnfit(work: Work, form: ServiceForm & { ssl?: boolean }): Promise<FieldError[]> {
  const { domain, ssl } = form
  if (domain === null) return ssl ? [{ field: 'domain', message: NO_TLS }] : []
  const message = await remember(work.domainFaults, domain, () => findDomainFault(work, domain))
  return message === undefined ? [] : [{ field: 'domain', message }]
}

/** Visitors of another node's former service may still send to its port, so it does not go to the first that asks. */
async function findRecent({ context, tx, node }: Work, { service, row }: Item): Promise<FieldError[]> {
  if (service.type === 'http' || service.form.port === null) return []
  const { proto, port } = service.form
  if (row?.port === port && row.proto === proto) return []
  if (!(await isPortKept({ db: tx, nodeId: node.id, now: context.clock() }, proto, port))) return []
  return [
    {
      field: 'port',
      message: 'belonged to another node within the last day: leave the port out, or choose another one',
    },
  ]
}

/** Whether `withPort` found no port for the form. */
function isWithoutPort(form: ServiceForm): form is TcpServiceForm {
  return 'port' in form && form.port === null
}

/** A person would get one of them, so this is not the message that all are taken. */
function allPortsKept({ proto }: TcpServiceForm): FieldError {
  const message = `Every free ${proto.toUpperCase()} port belonged to another node within the last day: delete a service, or widen POSTERN_PORT_RANGE`
  return { field: 'port', message }
}

function takenBy(type: ServiceType, { domain, allowedIps, blockedIps }: ServiceForm) {
  return { domain, hasPort: type === 'tcp', entries: allowedIps.length + blockedIps.length }
}

function firstOfEach(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.toReversed().map((error) => [error.field, error])).values()].reverse()
}

async function takeNamed(work: Work, form: ServiceForm): Promise<number | null> {
  const { context, tx, revision, prepared, given, done } = work
  const fresh = prepared.get(form.domain ?? '')
  // DNS was not checked for a domain that a person gave.
  const named = { ...form, skipValidation: form.domain !== null && isGiven(form.domain, given) }
  const issued = fresh && 'issued' in fresh ? fresh.issued : null
  const { id, made } = await takeDomain(context, tx, named, { issued, revision })
  for (const domain_id of made) await tx.insertInto('published_domains').values({ domain_id }).execute()
  done.made.push(...made)
  return id
}

/** An existing service keeps its port; a new one gets the lowest free one. */
async function withPort(
  { context, tx, freePorts, node: { id: nodeId } }: Work,
  form: TcpServiceForm,
  row: ServiceRecordRow | undefined,
): Promise<TcpServiceForm> {
  const { proto } = form
  const { settings } = context.config
  if (form.port === null && row?.proto === proto && row.port !== null && isServicePort(settings, row.port))
    return { ...form, port: row.port }
  if (form.port !== null) return form
  const ports = await remember(freePorts, proto, () => listFreePorts({ context, db: tx, nodeId }, proto))
  const port = ports.next() ?? null
  if (port !== null) ports.take(port)
  return { ...form, port }
}

function remember<K, V>(known: Map<K, Promise<V>>, key: K, find: () => Promise<V>): Promise<V> {
  const found = known.get(key) ?? find()
  known.set(key, found)
  return found
}

type Values = Parameters<typeof insertService>[2]

async function insert(
  work: Work,
  { key, service }: Item,
  values: Omit<Values, 'node_id' | 'revision'>,
  isHeld: boolean,
): Promise<number> {
  const { context, tx, node, source, revision, done } = work
  const row = { ...values, node_id: node.id, revision } as Values
  const service_id = await insertService(context, tx, row)
  const own = { service_id, enabled: flag(service.enabled), held: flag(isHeld) }
  await tx
    .insertInto('publications')
    .values({ node_id: node.id, source, key, ...own })
    .onConflict((known) => known.columns(['node_id', 'source', 'key']).doUpdateSet(own))
    .execute()
  done.placed.push({ id: service_id, name: row.name })
  return service_id
}

async function update(
  work: Work,
  item: Item,
  row: ServiceRecordRow,
  values: StatedUpdate<'services'>,
  isHeld: boolean,
) {
  const { context, tx, revision, done } = work
  const { enabled } = item.service
  const isSame = Object.entries(values).every(([column, value]) => Reflect.get(row, column) === value)
  if (isSame && item.known?.enabled === enabled && item.known.held === isHeld) return
  if (row.domain_id !== values.domain_id) done.left.add(row.domain_id)
  await writeService(context, tx, row, revision, values)
  await tx
    .updateTable('publications')
    .set({ enabled: flag(enabled), held: flag(isHeld) })
    .where('service_id', '=', row.id)
    .execute()
  done.placed.push({ id: row.id, name: item.service.form.name })
}

/** Frees its address for others of the set. It gets another one, or is removed. */
export async function vacate({ tx, revision }: Work, { id, type }: ServiceRecordRow): Promise<void> {
  await updateStated(tx, 'services', id, revision, type === 'http' ? { path: null } : { port: null })
}

export async function removeService({ tx, done, taken }: Work, row: ServiceRecordRow): Promise<void> {
  taken.delete(row.id)
  await detachPublication(tx, row.id)
  await removeStated(tx, 'services', { id: row.id })
  done.left.add(row.domain_id)
  done.removed.push({ id: row.id, name: row.name })
}
