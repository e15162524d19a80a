import type { FieldError } from '@postern/contract/errors'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import type { Service, ServiceType } from '@postern/contract/services/services'
import type { Kysely } from 'kysely'
import type { IssuedCertificate } from '../../certificates/issue.ts'
import type { Actor } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { OwnColumns } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { mayReachDomain, requireAdminInPerson } from '../access/access.ts'
import { type Findings, refuseFindings } from '../errors.ts'
import type { Patch } from '../patch.ts'
import { refusePublished, releaseDomains } from '../publishing/publications.ts'
import { readForm } from '../stale.ts'
import { findHostProblem, keptHost, type ServiceForm, type ServiceNode } from './backend-host.ts'
import { endOf, findEndProblem } from './end.ts'
import { findDomainId, findNewDomain, takeDomain } from './public-domain.ts'
import type { ServiceRecordRow } from './records.ts'
import {
  changedService,
  getServiceNode,
  getServiceRow,
  insertService,
  type ServiceKey,
  writeService,
} from './services.ts'
import { readSurroundings, type ServiceSurroundings } from './surroundings.ts'

/** The parts that differ between types of services. */
export interface ServiceKind<F extends ServiceForm, R extends Service> {
  type: ServiceType
  /** The form over which a patch is laid. */
  formOf(row: ServiceRecordRow): Record<string, unknown>
  /**
   * The problems by the rules of this type only.
   * @param form without the fields that cannot be parsed
   * @param before the service as it is; undefined for a new one
   */
  find(parts: Parts, form: Partial<F>, before?: ServiceRecordRow): Promise<Findings>
  /** The columns that only this type has. The form has passed all checks. */
  columnsOf(parts: Parts, form: F, before?: ServiceRecordRow): Promise<Partial<OwnColumns>>
  toRecord(context: Context, row: ServiceRecordRow): R
}

export interface Parts {
  context: Context
  db: Kysely<Database>
  /** The node of the service. */
  nodeId: number
  /** Its agent gets the answer, and is not to learn the names of other nodes' services. */
  isForAgent?: boolean
}

/** @throws NotFoundError, ValidationError, ConflictError */
export async function createService<F extends ServiceForm, R extends Service>(
  context: Context,
  actor: Actor,
  kind: ServiceKind<F, R>,
  nodeId: number,
  patch: Patch<F>,
): Promise<R> {
  const issued = await prepare(context, kind, nodeId, patch)
  const row = await change(context, { actor, what: 'service created' }, async (tx, revision) => {
    const form = patch.onto({})
    const node = await getServiceNode(tx, nodeId)
    refuseFindings(await findFaults(kind, { context, db: tx, nodeId }, form, node))
    const domain = await takeDomain(context, tx, form, { issued, revision })
    const columns = {
      ...(await columnsOf(kind, { context, db: tx, nodeId }, form, node)),
      domain_id: domain.id,
    }
    const id = await insertService(context, tx, { ...columns, type: kind.type, node_id: nodeId, revision })
    return changedService(tx, { nodeId, type: kind.type, id }, domain.made)
  })
  return kind.toRecord(context, row)
}

/** @throws NotFoundError, ValidationError, ConflictError */
export async function updateService<F extends ServiceForm, R extends Service>(
  context: Context,
  actor: Actor,
  kind: ServiceKind<F, R>,
  { nodeId, id }: Omit<ServiceKey, 'type'>,
  patch: Patch<F>,
): Promise<R> {
  const key = { nodeId, type: kind.type, id }
  const seen = await getServiceRow(context.db, key)
  refuseConsole(context, seen)
  refusePublished(seen)
  const issued = await prepare(context, kind, nodeId, patch, seen)
  const row = await change(context, { actor, what: 'service updated' }, async (tx, revision) => {
    const before = await getServiceRow(tx, key)
    const form = patch.onto(kind.formOf(before), before.updated_at)
    const node = await getServiceNode(tx, nodeId)
    refusePublished(before)
    refuseFindings(await findFaults(kind, { context, db: tx, nodeId }, form, node, before))
    const domain = await takeDomain(context, tx, form, { issued, revision })
    await writeService(context, tx, before, revision, {
      ...(await columnsOf(kind, { context, db: tx, nodeId }, form, node, before)),
      domain_id: domain.id,
    })
    const released = await releaseDomains(tx, [before.domain_id])
    return changedService(tx, key, [...domain.made, ...released])
  })
  return kind.toRecord(context, row)
}

/** @throws ForbiddenError for the console's own service: it is how the installation is set up */
export function refuseConsole({ access }: Context, { system }: ServiceRecordRow): void {
  if (system === 1) requireAdminInPerson(access)
}

/**
 * Checks a form before the transaction, so that all errors come at once, including those of a new domain.
 * @returns a certificate for the domain that is new with the form, or null when none is needed
 * @throws ValidationError, ConflictError
 */
async function prepare<F extends ServiceForm, R extends Service>(
  context: Context,
  kind: ServiceKind<F, R>,
  nodeId: number,
  patch: Patch<F>,
  before?: ServiceRecordRow,
): Promise<IssuedCertificate | null> {
  const node = await getServiceNode(context.db, nodeId)
  const { values, errors } = await readForm(context.db, 'services', before?.id, () =>
    patch.read(before ? kind.formOf(before) : {}, before?.updated_at),
  )
  // The two only differ for lists of records, and services have none.
  const readable = values as Partial<F>
  const { invalid, taken } = await findFaults(
    kind,
    { context, db: context.db, nodeId },
    readable,
    node,
    before,
  )
  const domain = await findNewDomain(context, readable)
  refuseFindings({ invalid: [...errors, ...invalid, ...domain.invalid], taken })
  return domain.name === null ? null : await context.authority.issue([domain.name])
}

/**
 * The problems by the rules of all types and of this one.
 * @param around the surroundings, if they were read already
 */
export async function findFaults<F extends ServiceForm, R extends Service>(
  kind: ServiceKind<F, R>,
  parts: Parts,
  form: Partial<F>,
  node: ServiceNode,
  before?: ServiceRecordRow,
  around?: ServiceSurroundings,
): Promise<Findings> {
  const { invalid: own, taken } = await kind.find(parts, form, before)
  const beyond = await findBeyondReach(parts, form, kind.type, before)
  const invalid = [...own, ...beyond, ...findEndProblem(form, parts.context.clock(), before)]
  // The console leads to the server, which no other service may.
  if (before?.system) return { invalid, taken }
  const message = findHostProblem(
    form,
    node,
    around ?? (await readSurroundings(parts.context, parts.db, node)),
  )
  return { invalid: message === undefined ? invalid : [...invalid, { field: 'backendHost', message }], taken }
}

/** A limited person publishes on the domains that were given to them, and leaves others as they are. */
async function findBeyondReach(
  { context, db, nodeId }: Parts,
  form: Partial<ServiceForm>,
  type: ServiceType,
  before?: ServiceRecordRow,
): Promise<FieldError[]> {
  const { domain } = form
  if (!context.access.reach || domain === undefined) return []
  if (type === 'tcp' && before?.node_id !== nodeId) {
    const most = await findPortLimit(db, nodeId)
    if (most !== undefined) return [{ field: 'port', message: PEOPLE_MESSAGES.portLimit(most) }]
  }
  if (domain === null && type === 'tcp') return []
  const id = domain === null ? undefined : await findDomainId(db, domain)
  if (mayReachDomain(context.access, id)) return []
  if (!before || domain !== before.domain) return [{ field: 'domain', message: PEOPLE_MESSAGES.notGiven }]
  return listMoved(form, before).map((field) => ({ field, message: PEOPLE_MESSAGES.notGivenStays }))
}

/** There are a hundred ports for all. @returns the node's limit, when its services have so many already */
async function findPortLimit(db: Parts['db'], nodeId: number): Promise<number | undefined> {
  const { agent_max_ports, ports } = await db
    .selectFrom('nodes')
    .select('agent_max_ports')
    .select(({ selectFrom }) =>
      selectFrom('services')
        .select(({ fn }) => fn.countAll<number>().as('ports'))
        .where('type', '=', 'tcp')
        .whereRef('node_id', '=', 'nodes.id')
        .as('ports'),
    )
    .where('id', '=', nodeId)
    .executeTakeFirstOrThrow()
  return (ports ?? 0) >= agent_max_ports ? agent_max_ports : undefined
}

/** The fields by which a service would get more of its domain than it has. */
function listMoved(form: Partial<ServiceForm>, before: ServiceRecordRow): string[] {
  const path = 'pathLocation' in form ? form.pathLocation : before.path
  const isSecured = 'ssl' in form && form.ssl === true && before.type === 'tcp' && before.ssl !== 1
  return [...((path ?? '/') === (before.path ?? '/') ? [] : ['pathLocation']), ...(isSecured ? ['ssl'] : [])]
}

/** The columns of a form except its domain. The form has passed all checks. */
export async function columnsOf<F extends ServiceForm, R extends Service>(
  kind: ServiceKind<F, R>,
  parts: Parts,
  form: F,
  node: ServiceNode,
  before?: ServiceRecordRow,
) {
  return {
    ...(await kind.columnsOf(parts, form, before)),
    name: form.name,
    name_folded: form.name.toLowerCase(),
    backend_host: keptHost(form, node),
    backend_port: form.backendPort,
    allowed_ips: JSON.stringify(form.allowedIps),
    blocked_ips: JSON.stringify(form.blockedIps),
    ends_at: endOf(form, parts.context.clock()),
  }
}
