import type { Domain, DomainForm } from '@postern/contract/domains'
import type { Transaction } from 'kysely'
import type { IssuedCertificate } from '../../certificates/issue.ts'
import { addOrder, dropOrder, hastenOrder } from '../../certificates/orders/rows.ts'
import { storeOwn } from '../../certificates/store.ts'
import { change, nextTime, updateStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { ConflictError, quoteNames, refuseFindings } from '../errors.ts'
import type { Patch } from '../patch.ts'
import { keepDomain } from '../publishing/given.ts'
import { readForm } from '../stale.ts'
import { findDomainProblem, findKindProblem, findTaken, findUpdateProblems } from './checks.ts'
import { findProviderProblem, refuseRequired, refuseShared, writeMembers } from './members.ts'
import { formOf, getDomain } from './records.ts'
import { renameDomain } from './rename.ts'

/** @throws ConflictError when it is there, ValidationError with all that is wrong, also that it does not point here */
export async function createDomain(
  context: Context,
  actor: string,
  patch: Patch<DomainForm>,
): Promise<Domain> {
  const { values, errors } = patch.read({})
  const { domain, skipValidation = false } = values
  const taken = domain === undefined ? [] : await findTaken(context.db, domain)
  const isNew = domain !== undefined && taken.length === 0
  const message = isNew ? await findDomainProblem(context, domain, skipValidation) : undefined
  const unfit = message === undefined ? [] : [{ field: 'domain', message }]
  const noProvider = findProviderProblem(context, values.authentication)
  refuseFindings({ invalid: [...errors, ...unfit, ...findKindProblem(values), ...noProvider], taken })
  const form = patch.onto({})
  const issued = await context.authority.issue([form.domain])
  return await change(context, { actor, what: 'domain created' }, async (tx, revision) => {
    refuseFindings({ invalid: [], taken: await findTaken(tx, form.domain) })
    const id = await insertDomain(context, tx, { ...form, issued, revision })
    const value = await getDomain({ ...context, db: tx }, id)
    return { value, touched: { domains: [id] }, name: form.domain }
  })
}

interface NewDomain
  extends Pick<DomainForm, 'domain' | 'ssl' | 'skipValidation'>,
    Partial<Pick<DomainForm, 'authentication' | 'allowedEmails'>> {
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
 * Another name takes everything along that belongs to the domain.
 * @throws ValidationError with all that is wrong, also that a new name or a check asked for again fails; ConflictError
 */
export async function updateDomain(
  context: Context,
  actor: string,
  id: number,
  patch: Patch<DomainForm>,
): Promise<Domain> {
  const before = await getDomain(context, id)
  const { values, errors } = await readForm(context.db, 'domains', id, () =>
    patch.read(formOf(before), before.updated_at),
  )
  const { domain = before.domain } = values
  const isRenamed = domain !== before.domain
  const taken = isRenamed ? await findTaken(context.db, domain) : []
  const unfit = taken.length > 0 ? [] : await findUpdateProblems(context, before, values)
  const noProvider = findProviderProblem(context, values.authentication, before.authentication)
  refuseFindings({ invalid: [...errors, ...unfit, ...findKindProblem(values), ...noProvider], taken })
  const isLeaving = before.ssl === 'certbot' && values.ssl !== 'certbot'
  const issued = isLeaving || isRenamed ? await context.authority.issue([domain]) : undefined
  return await change(context, { actor, what: 'domain updated' }, async (tx, revision) => {
    const current = await getDomain({ ...context, db: tx }, id)
    const form = patch.onto(formOf(current), current.updated_at)
    refuseRenamedMeanwhile(before, current)
    refuseFindings({ invalid: findKindProblem(form), taken: isRenamed ? await findTaken(tx, domain) : [] })
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
      updated_at: nextTime(context.clock(), current.updated_at),
    })
    const value = await getDomain({ ...context, db: tx }, id)
    const touched = { domains: [id], nodes }
    if (!isRenamed) return { value, touched, name: current.domain }
    return { value, touched, what: `domain renamed from ${current.domain}`, name: form.domain }
  })
}

/** The certificate and the checks were made for the previous name. @throws ConflictError */
function refuseRenamedMeanwhile(before: Domain, current: Domain): void {
  if (before.domain !== current.domain)
    throw new ConflictError('Someone else changed this while you were editing', [], 'stale')
}

/** @throws ConflictError that names the services that use it. */
export async function removeDomain(context: Context, actor: string, id: number): Promise<{ id: number }> {
  const { domain } = await getDomain(context, id)
  return await change(context, { actor, what: 'domain deleted' }, async (tx) => {
    const services = await tx
      .selectFrom('services')
      .select('name')
      .where('domain_id', '=', id)
      .orderBy('id')
      .execute()
    if (services.length > 0)
      throw new ConflictError(
        `${domain} is used by ${quoteNames(services.map(({ name }) => name))}. Delete its services first.`,
        [],
        'in_use',
      )
    await deleteDomain(tx, id)
    return { value: { id }, touched: { domains: [id] }, name: domain }
  })
}

/** With all that is about it. No service uses it. */
export async function deleteDomain(tx: Transaction<Database>, id: number): Promise<void> {
  await dropOrder(tx, id)
  await tx.deleteFrom('sign_ins').where('domain_id', '=', id).execute()
  await tx.deleteFrom('signed_out').where('domain_id', '=', id).execute()
  await tx.deleteFrom('domain_members').where('domain_id', '=', id).execute()
  await tx.deleteFrom('published_domains').where('domain_id', '=', id).execute()
  await tx.deleteFrom('certificates').where('domain_id', '=', id).execute()
  await tx.deleteFrom('domains').where('id', '=', id).execute()
}

/** For another kind or name, or saved once more, which also ends the wait after a failed order. */
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
  // The order of another name is worth nothing, and may be under way.
  if (isRenamed || ssl !== 'certbot') await dropOrder(tx, before.id)
  if (ssl === 'certbot') {
    if (before.ssl === 'certbot' && !isRenamed) await hastenOrder(context, tx, before.id)
    else await addOrder(tx, before.id, now)
  }
  // Should one be missing here because of a form that came meanwhile, the renewal makes it.
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
export async function retryCertificate(context: Context, actor: string, id: number): Promise<Domain> {
  const { domain, ssl } = await getDomain(context, id)
  if (ssl !== 'certbot')
    throw new ConflictError(`The certificate of ${domain} is self-signed: nothing is on order.`)
  return await change(context, { actor, what: 'certificate ordered again' }, async (tx) => {
    await hastenOrder(context, tx, id)
    const value = await getDomain({ ...context, db: tx }, id)
    return { value, touched: { domains: [id] }, name: domain }
  })
}
