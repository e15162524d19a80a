import type { Domain, DomainForm } from '@postern/contract/domains'
import type { FieldError } from '@postern/contract/errors'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import type { Kysely, Transaction } from 'kysely'
import type { IssuedCertificate } from '../../certificates/issue.ts'
import { addOrder, dropOrder, hastenOrder } from '../../certificates/orders/rows.ts'
import { storeOwn } from '../../certificates/store.ts'
import type { Actor } from '../../changes/actor.ts'
import { change, nextTime, removeStated, updateStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { ConflictError, quoteNames, refuseFindings } from '../errors.ts'
import { domainKey } from '../figures/keys.ts'
import type { Patch } from '../patch.ts'
import { keepDomain } from '../publishing/given.ts'
import { readForm } from '../stale.ts'
import { findDomainProblem, findKindProblem, findTaken, findUpdateProblems } from './checks.ts'
import { refuseConsolesDomain } from './console-domain.ts'
import { edgesText, findEdgesFault } from './edges.ts'
import { findProviderProblem, refuseRequired, refuseShared, writeMembers } from './members.ts'
import { formOf, getDomain } from './records.ts'
import { renameDomain } from './rename.ts'
import { findUsedName } from './used-names.ts'

/**
 * @throws ConflictError when it already exists, ValidationError with all problems, including that it does not point
 * here
 */
export async function createDomain(
  context: Context,
  actor: Actor,
  patch: Patch<DomainForm>,
): Promise<Domain> {
  const { values, errors } = patch.read({})
  const { domain, skipValidation = false } = values
  const taken = domain === undefined ? [] : await findTaken(context.db, domain)
  const isNew = domain !== undefined && taken.length === 0
  const message = isNew ? await findDomainProblem(context, domain, skipValidation) : undefined
  const unfit = message === undefined ? [] : [{ field: 'domain', message }]
  const noProvider = findProviderProblem(context, values.authentication)
  const noEdge = await findEdgesFault(context, context.db, values)
  refuseFindings({
    invalid: [...errors, ...unfit, ...findKindProblem(values), ...noProvider, ...noEdge],
    taken,
  })
  const form = patch.onto({})
  const issued = await context.authority.issue([form.domain])
  return await change(context, { actor, what: 'domain created' }, async (tx, revision) => {
    refuseFindings({
      invalid: await findEdgesFault(context, tx, form),
      taken: await findTaken(tx, form.domain),
    })
    const id = await insertDomain(context, tx, { ...form, issued, revision })
    const value = await getDomain({ ...context, db: tx }, id)
    return { value, touched: { domains: [id] }, name: form.domain }
  })
}

interface NewDomain
  extends Pick<DomainForm, 'domain' | 'ssl' | 'skipValidation'>,
    Partial<Pick<DomainForm, 'authentication' | 'allowedEmails' | 'edges'>> {
  issued: IssuedCertificate
  revision: number
}

/** Adds a domain with its certificate. @returns its id */
export async function insertDomain(
  context: Context,
  tx: Transaction<Database>,
  form: NewDomain,
): Promise<number> {
  const { issued, revision } = form
  const now = new Date(context.clock()).toISOString()
  const { id } = await tx
    .insertInto('domains')
    .values({
      domain: form.domain,
      ssl: form.ssl,
      skip_validation: flag(form.skipValidation),
      authentication: flag(form.authentication ?? false),
      edges: edgesText(form.edges ?? null),
      revision,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  if (form.authentication) await writeMembers(tx, id, form.allowedEmails ?? [])
  await storeOwn(tx, { domainId: id }, { ...context, issued, now, revision })
  if (form.ssl === 'certbot') await addOrder(tx, id, context.clock())
  return id
}

/**
 * A new name keeps everything that belongs to the domain.
 * @throws ValidationError with all problems, including a failed check of a new name or one that is checked again;
 * ConflictError
 */
export async function updateDomain(
  context: Context,
  actor: Actor,
  id: number,
  patch: Patch<DomainForm>,
): Promise<Domain> {
  const before = await getDomain(context, id)
  await refuseConsolesDomain(context, context.db, before)
  const { values, errors } = await readForm(context.db, 'domains', id, () =>
    patch.read(formOf(before), before.updated_at),
  )
  const { domain = before.domain } = values
  const isRenamed = domain !== before.domain
  const taken = isRenamed ? await findTaken(context.db, domain) : []
  const unfit = taken.length > 0 ? [] : await findUpdateProblems(context, before, values)
  const used = isRenamed ? await findUsedByOthers(context.db, id, domain) : []
  const foreign = isRenamed ? findForeignName(context) : []
  const noProvider = findProviderProblem(context, values.authentication, before.authentication)
  const noEdge = await findEdgesFault(context, context.db, values, before)
  refuseFindings({
    invalid: [...errors, ...foreign, ...unfit, ...used, ...findKindProblem(values), ...noProvider, ...noEdge],
    taken,
  })
  const isLeaving = before.ssl === 'certbot' && values.ssl !== 'certbot'
  const issued = isLeaving || isRenamed ? await context.authority.issue([domain]) : undefined
  return await change(context, { actor, what: 'domain updated' }, async (tx, revision) => {
    const current = await getDomain({ ...context, db: tx }, id)
    await refuseConsolesDomain(context, tx, current)
    const form = patch.onto(formOf(current), current.updated_at)
    refuseRenamedMeanwhile(before, current)
    const used = isRenamed ? await findUsedByOthers(tx, id, domain) : []
    refuseFindings({
      invalid: [...findKindProblem(form), ...used, ...(await findEdgesFault(context, tx, form, current))],
      taken: isRenamed ? await findTaken(tx, domain) : [],
    })
    await refuseRequired(tx, id, form.authentication)
    await refuseShared(tx, id, form.authentication && !current.authentication)
    const move = { id, from: current.domain, to: form.domain, revision, now: context.clock() }
    const nodes = isRenamed ? await renameDomain(tx, move) : await keepDomain(tx, move)
    await writeMembers(tx, id, form.authentication ? form.allowedEmails : [])
    await changeKind(context, tx, current, { ...form, issued, revision })
    await updateStated(tx, 'domains', id, revision, {
      domain: form.domain,
      ssl: form.ssl,
      skip_validation: flag(form.skipValidation),
      authentication: flag(form.authentication),
      edges: edgesText(form.edges),
      updated_at: nextTime(context.clock(), current.updated_at),
    })
    const value = await getDomain({ ...context, db: tx }, id)
    const touched = { domains: [id], nodes }
    if (!isRenamed) return { value, touched, name: current.domain }
    return { value, touched, what: `domain renamed from ${current.domain}`, name: form.domain }
  })
}

/** Names are given to limited people one by one. */
function findForeignName({ access }: Context): FieldError[] {
  return access.reach ? [{ field: 'domain', message: PEOPLE_MESSAGES.forAll }] : []
}

/** The console, or a service, would come to a name with its domain. */
async function findUsedByOthers(db: Kysely<Database>, id: number, domain: string): Promise<FieldError[]> {
  const rows = await db
    .selectFrom('services')
    .select('system')
    .distinct()
    .where('domain_id', '=', id)
    .execute()
  const found = rows.map(({ system }) => findUsedName(db, { domain, isConsole: system === 1 }))
  return (await Promise.all(found)).flat().slice(0, 1)
}

/** The certificate and the checks were made for the previous name. @throws ConflictError */
function refuseRenamedMeanwhile(before: Domain, current: Domain): void {
  if (before.domain !== current.domain)
    throw new ConflictError('Someone else changed this while you were editing', [], 'stale')
}

/** @throws ConflictError that names the services that use it. */
export async function removeDomain(context: Context, actor: Actor, id: number): Promise<{ id: number }> {
  const { domain } = await getDomain(context, id)
  const gone = await change(context, { actor, what: 'domain deleted' }, async (tx) => {
    await refuseConsolesDomain(context, tx, { id, domain })
    await refuseUsed(tx, { id, domain })
    await deleteDomain(tx, id)
    return { value: { id }, touched: { domains: [id] }, name: domain }
  })
  await context.counts.remove([domainKey(id)])
  return gone
}

/** @throws ConflictError that names the services that use it. */
export async function refuseUsed(
  tx: Transaction<Database>,
  { id, domain }: { id: number; domain: string },
): Promise<void> {
  const services = await tx
    .selectFrom('services')
    .select('name')
    .where('domain_id', '=', id)
    .orderBy('id')
    .execute()
  if (services.length === 0) return
  throw new ConflictError(
    `${domain} is used by ${quoteNames(services.map(({ name }) => name))}. Delete its services first.`,
    [],
    'in_use',
  )
}

/** Deletes it with all its data. No service uses it. */
export async function deleteDomain(tx: Transaction<Database>, id: number): Promise<void> {
  await dropOrder(tx, id)
  await tx.deleteFrom('sign_ins').where('domain_id', '=', id).execute()
  await tx.deleteFrom('signed_out').where('domain_id', '=', id).execute()
  await tx.deleteFrom('domain_members').where('domain_id', '=', id).execute()
  await tx.deleteFrom('published_domains').where('domain_id', '=', id).execute()
  await removeStated(tx, 'certificates', { domain_id: id })
  await removeStated(tx, 'domains', { id })
}

/** After a change of kind or name, or when the form is saved again, which also ends the wait after a failed order. */
async function changeKind(
  context: Context,
  tx: Transaction<Database>,
  before: Domain,
  {
    domain,
    ssl,
    issued,
    revision,
  }: Pick<DomainForm, 'domain' | 'ssl'> & { issued: IssuedCertificate | undefined; revision: number },
): Promise<void> {
  const now = context.clock()
  const isRenamed = domain !== before.domain
  // The order for the previous name is useless, and may be under way.
  if (isRenamed || ssl !== 'certbot') await dropOrder(tx, before.id)
  if (ssl === 'certbot') {
    if (before.ssl === 'certbot' && !isRenamed) await hastenOrder(context, tx, before.id)
    else await addOrder(tx, before.id, now)
  }
  // If one is missing because another form came meanwhile, the renewal makes it.
  const isOver = isRenamed || (ssl !== 'certbot' && before.certificate.kind === 'certbot')
  if (isOver && issued)
    await storeOwn(
      tx,
      { domainId: before.id },
      { ...context, issued, now: new Date(now).toISOString(), revision },
    )
}

/**
 * Ends the wait after a failed order.
 * @throws NotFoundError; ConflictError for a certificate that no public authority signs
 */
export async function retryCertificate(context: Context, actor: Actor, id: number): Promise<Domain> {
  const { domain, ssl } = await getDomain(context, id)
  if (ssl !== 'certbot')
    throw new ConflictError(`The certificate of ${domain} is self-signed: nothing is on order.`)
  return await change(context, { actor, what: 'certificate ordered again' }, async (tx) => {
    await hastenOrder(context, tx, id)
    const value = await getDomain({ ...context, db: tx }, id)
    return { value, touched: { domains: [id] }, name: domain }
  })
}
