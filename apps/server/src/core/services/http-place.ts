import { isReservedPath } from '@postern/contract/reserved-paths'
import type { HttpServiceForm } from '@postern/contract/services'
import type { Kysely, Transaction } from 'kysely'
import type { IssuedCertificate } from '../../certificates/issue.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { findDomainProblem } from '../domains/domain-check.ts'
import { insertDomain } from '../domains/domains.ts'
import { ConflictError, ValidationError } from '../errors.ts'
import { quoteNames } from '../names.ts'
import { findServiceProblems, pathOf, type ServiceNode, withoutOwnName } from './http-rules.ts'
import { readSurroundings } from './surroundings.ts'

/** A certificate for the domain that is new with the form, or null when none is needed. */
export type NewDomain = { issued: IssuedCertificate } | null

/**
 * Looks at a form before the transaction, so that all its errors come at once, those of a new domain too.
 * @throws ValidationError
 */
export async function prepareService(
  context: Context,
  node: ServiceNode,
  form: HttpServiceForm,
  isSystem: boolean,
): Promise<NewDomain> {
  const problems = isSystem ? [] : await findProblems(context, context.db, node, form)
  const { domain } = form
  const isNew = domain !== null && (await findDomainId(context.db, domain)) === undefined
  const message = isNew ? await findDomainProblem(context, domain, form.skipValidation) : undefined
  if (message !== undefined) problems.push({ field: 'domain', message })
  if (problems.length > 0) throw new ValidationError(problems)
  return isNew ? { issued: await context.authority.issue([domain]) } : null
}

/**
 * The same look inside the transaction, where nothing moves any more.
 * @returns the form as it is kept
 * @throws ValidationError
 */
export async function checkService(
  context: Context,
  tx: Kysely<Database>,
  node: ServiceNode,
  form: HttpServiceForm,
): Promise<HttpServiceForm> {
  const problems = await findProblems(context, tx, node, form)
  if (problems.length > 0) throw new ValidationError(problems)
  return withoutOwnName(form, node)
}

async function findProblems(
  context: Context,
  db: Kysely<Database>,
  node: ServiceNode,
  form: HttpServiceForm,
) {
  const console = await db
    .selectFrom('services')
    .innerJoin('domains', 'domains.id', 'services.domain_id')
    .select('domain')
    .where('system', '=', 1)
    .executeTakeFirst()
  return findServiceProblems(form, {
    ...(await readSurroundings(context, db, node)),
    node,
    publicHost: context.config.publicHost,
    consoleDomain: console?.domain,
  })
}

/** Where a service is found: its domain (made when it is new) and path, which no other service has. */
export interface PublicPlace {
  domainId: number | null
  path: string
  /** The domains that were made. */
  created: number[]
}

/** @throws ConflictError that names the other service, or ValidationError when the new domain was removed meanwhile. */
export async function takePlace(
  context: Context,
  tx: Transaction<Database>,
  revision: number,
  form: HttpServiceForm,
  { prepared, ownId }: { prepared: NewDomain; ownId: number | null },
): Promise<PublicPlace> {
  const path = pathOf(form)
  const { domain } = form
  const existing = domain === null ? null : await findDomainId(tx, domain)
  await refuseTaken(tx, { domain, domainId: existing ?? null, path, ownId, isNew: existing === undefined })
  if (existing !== undefined || domain === null) return { domainId: existing ?? null, path, created: [] }
  if (!prepared)
    throw new ValidationError([{ field: 'domain', message: `${domain} was deleted meanwhile: save again` }])
  const { skipValidation } = form
  const id = await insertDomain(context, tx, {
    domain,
    ssl: 'self-signed',
    skipValidation,
    revision,
    ...prepared,
  })
  return { domainId: id, path, created: [id] }
}

async function findDomainId(db: Kysely<Database>, domain: string): Promise<number | undefined> {
  const row = await db.selectFrom('domains').select('id').where('domain', '=', domain).executeTakeFirst()
  return row?.id
}

interface Wanted {
  domain: string | null
  domainId: number | null
  path: string
  ownId: number | null
  isNew: boolean
}

async function refuseTaken(tx: Kysely<Database>, wanted: Wanted): Promise<void> {
  if (wanted.isNew) return
  const { domain, domainId, path, ownId } = wanted
  const other = await tx
    .selectFrom('services')
    .select(['id', 'name'])
    .where('domain_id', domainId === null ? 'is' : '=', domainId)
    .where('path', '=', path)
    .executeTakeFirst()
  if (!other || other.id === ownId) return
  const message = `${domain ?? ''}${path} already belongs to “${other.name}”`
  throw new ConflictError(message, [{ field: 'pathLocation', message }])
}

/** A domain becomes the console's only when nothing else there has its paths. @throws ConflictError */
export async function refuseForConsole(tx: Kysely<Database>, domainId: number, ownId: number): Promise<void> {
  const services = await tx
    .selectFrom('services')
    .select(['name', 'path'])
    .where('domain_id', '=', domainId)
    .where('id', '!=', ownId)
    .execute()
  const inTheWay = services
    .filter(({ path }) => path !== null && isReservedPath(path))
    .map(({ name }) => name)
  if (inTheWay.length === 0) return
  const message = `Paths of the console belong to ${quoteNames(inTheWay)} there`
  throw new ConflictError(message, [{ field: 'domain', message }])
}
