import type { Certificate } from '@postern/contract/certificates'
import type { Domain, DomainQuery } from '@postern/contract/domains'
import type { Page } from '@postern/contract/lists'
import { normaliseDomain } from '@postern/net/hostname'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import { describeCertificate } from '../../certificates/describe.ts'
import { findPause } from '../../certificates/orders/pause.ts'
import type { Context } from '../../context.ts'
import type { Database, DomainRow } from '../../db/schema.ts'
import { hasText } from '../columns.ts'
import { NotFoundError } from '../errors.ts'
import { listOrPage } from '../pages.ts'
import { edgesOf } from './edges.ts'
import { readMembers } from './members.ts'

/** The database, or the transaction of a change. */
type Source = Pick<Context, 'clock' | 'config'> & { db: Kysely<Database> }

const BY_NAME = { field: 'domain', direction: 'asc' } as const

/** By name unless ordered otherwise. */
export async function listDomains(context: Context, query: DomainQuery): Promise<Domain[] | Page<Domain>> {
  const { search, orderBy: { field, direction } = BY_NAME } = query
  let found = context.db.selectFrom('domains')
  if (search) found = found.where(hasText('domain', normaliseDomain(search)))
  return await listOrPage(query, found, async (slice) => {
    const sorted = found.select('id').orderBy(field, direction).orderBy('id', direction)
    if (!slice) return await readDomains(context, sorted, { field, direction })
    // Searched for once, not once for each table that is read.
    const page = await sorted.limit(slice.limit).offset(slice.offset).execute()
    const ids = page.map(({ id }) => id)
    return await readDomains(context, ids, { field, direction })
  })
}

/** The ids of what a search finds after one of them, in their order. */
export async function listFilteredDomains(
  { db }: Pick<Context, 'db'>,
  search: string | undefined,
  { after, limit }: { after: number; limit: number },
): Promise<number[]> {
  const found = db.selectFrom('domains').select('id').where('id', '>', after).orderBy('id').limit(limit)
  const rows = await (search ? found.where(hasText('domain', normaliseDomain(search))) : found).execute()
  return rows.map(({ id }) => id)
}

/** @throws NotFoundError */
export async function getDomain(source: Source, id: number): Promise<Domain> {
  const [domain] = await readDomains(source, [id])
  if (!domain) throw new NotFoundError('Domain')
  return domain
}

/** Many ids are passed as a query, because a statement holds at most 32,766 values. */
export async function readDomains<DB, TB extends keyof DB>(
  source: Source,
  ids: SelectQueryBuilder<DB, TB, { id: number }> | readonly number[],
  { field, direction }: NonNullable<DomainQuery['orderBy']> = BY_NAME,
): Promise<Domain[]> {
  const { db, clock } = source
  const rows = await db
    .selectFrom('domains')
    .where('id', 'in', ids)
    .selectAll()
    .orderBy(field, direction)
    .orderBy('id', direction)
    .execute()
  const certificates = await db
    .selectFrom('certificates')
    .where('domain_id', 'in', ids)
    .select(['domain_id', 'status', 'kind', 'issuer', 'not_before', 'not_after', 'error', 'updated_at'])
    .execute()
  const orders = await db
    .selectFrom('orders')
    .where('domain_id', 'in', ids)
    .select(['domain_id', 'step', 'due_at', 'problem'])
    .execute()
  const emails = await readMembers(db, ids)
  const held = new Map(certificates.map((row) => [row.domain_id, row]))
  const ordered = new Map(orders.map((row) => [row.domain_id, row]))
  const [now, pause] = [clock(), await findPause(source)]
  return rows.map((row) => {
    const own = { held: held.get(row.id) ?? null, order: ordered.get(row.id) ?? null }
    const state = { ssl: row.ssl, ...own, pause }
    return toDomain(row, describeCertificate(state, now), emails.get(row.id) ?? [])
  })
}

function toDomain(row: DomainRow, certificate: Certificate, allowedEmails: string[]): Domain {
  return {
    id: row.id,
    domain: row.domain,
    ssl: row.ssl,
    skipValidation: row.skip_validation === 1,
    authentication: row.authentication === 1,
    allowedEmails,
    edges: edgesOf(row),
    certificate,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

/** The record of a domain as the form that a PATCH is laid over. */
export function formOf(domain: Domain): Record<string, unknown> {
  const { ssl, skipValidation, authentication, allowedEmails, edges } = domain
  return { domain: domain.domain, ssl, skipValidation, authentication, allowedEmails, edges }
}
