import type { KeptFilter } from '@postern/contract/requests/kept'
import type { RequestFilters } from '@postern/contract/requests/query'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { NotFoundError, ValidationError } from '../errors.ts'

type Parts = Pick<Context, 'db' | 'access'>

/**
 * What edges are asked for: they know services by their ids alone.
 * @throws NotFoundError for a node or domain that is not there, ValidationError for a time that ends before it begins
 */
export async function readFilter(parts: Parts, filters: RequestFilters): Promise<KeptFilter> {
  const { from, to, type, status, method, source, path, person, reason, minTime } = filters
  if (from !== undefined && to !== undefined && from >= to)
    throw new ValidationError([{ field: 'to', message: 'must be after the beginning' }])
  return {
    from: from === undefined ? null : Date.parse(from),
    to: to === undefined ? null : Date.parse(to),
    services: await findServices(parts, filters),
    type: type ?? null,
    status: status ?? null,
    method: method ?? null,
    source: source ?? null,
    path: path ?? null,
    person: person ?? null,
    reason: reason ?? null,
    minTotal: minTime ?? null,
  }
}

/**
 * Null: all. People may still ask for a deleted service, except limited people: nobody can tell that it was theirs.
 */
async function findServices(
  { db, access }: Parts,
  { service, node, domain }: RequestFilters,
): Promise<number[] | null> {
  if (node === undefined && domain === undefined && !access.reach)
    return service === undefined ? null : [service]
  let query = db.selectFrom('services').select('id')
  if (node !== undefined) {
    await assertNode(db, node)
    query = query.where('node_id', '=', node)
  }
  if (domain !== undefined) query = query.where('domain_id', '=', await getDomainId(db, domain))
  if (service !== undefined) query = query.where('id', '=', service)
  return (await query.execute()).map(({ id }) => id)
}

async function assertNode(db: Kysely<Database>, id: number): Promise<void> {
  const row = await db.selectFrom('nodes').select('id').where('id', '=', id).executeTakeFirst()
  if (!row) throw new NotFoundError('Node')
}

async function getDomainId(db: Kysely<Database>, domain: string): Promise<number> {
  const row = await db.selectFrom('domains').select('id').where('domain', '=', domain).executeTakeFirst()
  if (!row) throw new NotFoundError('Domain')
  return row.id
}
