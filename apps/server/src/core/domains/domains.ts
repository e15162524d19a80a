import type { Domain, DomainForm, DomainQuery } from '@postern/contract/domains'
import type { FieldError } from '@postern/contract/errors'
import type { Page } from '@postern/contract/lists'
import { normaliseDomain } from '@postern/net/hostname'
import type { Kysely, SelectQueryBuilder, Transaction } from 'kysely'
import type { IssuedCertificate } from '../../certificates/issue.ts'
import { describeCertificate, storeCertificate } from '../../certificates/store.ts'
import { change, nextTime, updateStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { type CertificateRow, type Database, type DomainRow, flag } from '../../db/schema.ts'
import { hasText } from '../columns.ts'
import { ConflictError, NotFoundError, quoteNames, refuseFindings, ValidationError } from '../errors.ts'
import { listOrPage } from '../pages.ts'
import type { Patch } from '../patch.ts'
import { findDnsProblem } from './dns-check.ts'

const BY_NAME = { field: 'domain', direction: 'asc' } as const

/** By name unless ordered otherwise. */
export async function listDomains(context: Context, query: DomainQuery): Promise<Domain[] | Page<Domain>> {
  const { search, orderBy: { field, direction } = BY_NAME } = query
  let found = context.db.selectFrom('domains')
  if (search) found = found.where(hasText('domain', normaliseDomain(search)))
  return await listOrPage(query, found, async (slice) => {
    const sorted = found.select('id').orderBy(field, direction).orderBy('id', direction)
    const ids = slice ? sorted.limit(slice.limit).offset(slice.offset) : sorted
    return await readDomains(context.db, ids, { field, direction })
  })
}

/** @throws NotFoundError */
export async function getDomain(db: Kysely<Database>, id: number): Promise<Domain> {
  const [domain] = await readDomains(db, [id])
  if (!domain) throw new NotFoundError('Domain')
  return domain
}

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
  const invalid = message === undefined ? errors : [...errors, { field: 'domain', message }]
  refuseFindings({ invalid, taken })
  const form = patch.onto({})
  const issued = await context.authority.issue([form.domain])
  return await change(context, { actor, what: `domain ${form.domain} created` }, async (tx, revision) => {
    refuseFindings({ invalid: [], taken: await findTaken(tx, form.domain) })
    const id = await insertDomain(context, tx, { ...form, issued, revision })
    return { value: await getDomain(tx, id), touched: { domains: [id] } }
  })
}

interface NewDomain extends Pick<DomainForm, 'domain' | 'ssl' | 'skipValidation'> {
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
      revision,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await storeCertificate(tx, { domainId: id }, { ...context, issued, now, revision })
  return id
}

/** @throws ValidationError for another name, or when the check is asked for again and fails. */
export async function updateDomain(
  context: Context,
  actor: string,
  id: number,
  patch: Patch<DomainForm>,
): Promise<Domain> {
  const before = await getDomain(context.db, id)
  const wanted = patch.onto(formOf(before), before.updated_at)
  if (wanted.domain !== before.domain)
    throw new ValidationError([{ field: 'domain', message: 'The name of a domain cannot be changed' }])
  if (before.skipValidation && !wanted.skipValidation) await refuseDomain(context, before.domain, false)
  return await change(context, { actor, what: `domain ${before.domain} updated` }, async (tx, revision) => {
    const current = await getDomain(tx, id)
    const form = patch.onto(formOf(current), current.updated_at)
    await updateStated(tx, 'domains', id, revision, {
      ssl: form.ssl,
      skip_validation: flag(form.skipValidation),
      updated_at: nextTime(context.clock(), current.updated_at),
    })
    return { value: await getDomain(tx, id), touched: { domains: [id] } }
  })
}

/** @throws ConflictError that names the services that use it. */
export async function removeDomain(context: Context, actor: string, id: number): Promise<{ id: number }> {
  const { domain } = await getDomain(context.db, id)
  return await change(context, { actor, what: `domain ${domain} deleted` }, async (tx) => {
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
    await tx.deleteFrom('certificates').where('domain_id', '=', id).execute()
    await tx.deleteFrom('domains').where('id', '=', id).execute()
    return { value: { id }, touched: { domains: [id] } }
  })
}

/** Why a name cannot be a domain, in words. Outside of any transaction: name servers take their time. */
export async function findDomainProblem(
  context: Context,
  domain: string,
  skipValidation: boolean,
): Promise<string | undefined> {
  const { publicHost } = context.config
  if (domain === publicHost) return "This is the server's own address. Leave the domain empty to use it."
  if (skipValidation) return undefined
  const own = context.network().addresses.filter((address) => !/^(127\.|::1$|fe80:)/.test(address))
  return await findDnsProblem(context.resolver, domain, publicHost, own)
}

async function findTaken(db: Kysely<Database>, domain: string): Promise<FieldError[]> {
  const taken = await db.selectFrom('domains').select('id').where('domain', '=', domain).executeTakeFirst()
  return taken ? [{ field: 'domain', message: `${domain} already exists` }] : []
}

async function refuseDomain(context: Context, domain: string, skipValidation: boolean): Promise<void> {
  const message = await findDomainProblem(context, domain, skipValidation)
  if (message !== undefined) throw new ValidationError([{ field: 'domain', message }])
}

function formOf({ domain, ssl, skipValidation }: Domain): Record<string, unknown> {
  return { domain, ssl, skipValidation }
}

type JoinedRow = DomainRow & { [K in keyof CertificatePart]: CertificatePart[K] | null }
type CertificatePart = Pick<CertificateRow, 'status' | 'issuer' | 'not_after' | 'error'>

/** Many ids come as a query: a statement holds 32,766 values at most. */
async function readDomains<DB, TB extends keyof DB>(
  db: Kysely<Database>,
  ids: SelectQueryBuilder<DB, TB, { id: number }> | readonly number[],
  { field, direction }: NonNullable<DomainQuery['orderBy']> = BY_NAME,
): Promise<Domain[]> {
  const rows: JoinedRow[] = await db
    .selectFrom('domains')
    .leftJoin('certificates', 'certificates.domain_id', 'domains.id')
    .selectAll('domains')
    .select(['status', 'issuer', 'not_after', 'error'])
    .where('domains.id', 'in', ids)
    .orderBy(`domains.${field}`, direction)
    .orderBy('domains.id', direction)
    .execute()
  return rows.map(toDomain)
}

function toDomain(row: JoinedRow): Domain {
  const { status } = row
  return {
    id: row.id,
    domain: row.domain,
    ssl: row.ssl,
    skipValidation: row.skip_validation === 1,
    certificate: describeCertificate(status === null ? undefined : { ...row, status }),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
