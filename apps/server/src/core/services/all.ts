import type { Page } from '@postern/contract/lists'
import type { AllServicesQuery, Service, ServiceFilter } from '@postern/contract/services/services'
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { hasText } from '../columns.ts'
import { findStanding } from '../overview/standing.ts'
import { listOrPage } from '../pages.ts'
import { readServices, toService } from './records.ts'
import { hasWords } from './services.ts'

/** In the words of the index over their names: a bound value would not be known to fit. */
const PEOPLES = sql<SqlBool>`services.system = 0`

/**
 * The services of all nodes and types, by name. The console itself is none of them, as it is
 * counted nowhere.
 */
export async function listAllServices(
  context: Context,
  query: AllServicesQuery,
): Promise<Service[] | Page<Service>> {
  const { search, orderBy } = query
  const found = await selectFiltered(context, query)
  const column = 'services.name_folded'
  const direction = orderBy?.direction ?? 'asc'
  return await listOrPage(query, found, async (slice) => {
    const rows = found.select('services.id')
    // As in the lists of a node: the one that is called so comes first.
    const ranked = search && !orderBy ? rows.orderBy(sql`name_folded <> ${search.toLowerCase()}`) : rows
    const sorted = ranked.orderBy(column, direction).orderBy('services.id', direction)
    const ids = slice ? sorted.limit(slice.limit).offset(slice.offset) : sorted
    const all = await readServices(context.db, ids, { column, direction })
    return all.map((row) => toService(context, row))
  })
}

/** The ids of what a filter finds after one of them, in their order. */
export async function listFilteredServices(
  context: Context,
  filter: ServiceFilter,
  { after, limit }: { after: number; limit: number },
): Promise<number[]> {
  const rows = await (await selectFiltered(context, filter))
    .select('services.id')
    .where('services.id', '>', after)
    .orderBy('services.id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

async function selectFiltered(
  context: Context,
  { search, state, node, domain, kind }: ServiceFilter,
): Promise<SelectQueryBuilder<Database, 'services', object>> {
  const isStanding = state && (await findStanding(context, state))
  return context.db.selectFrom('services').where((eb) => {
    const conditions: Expression<SqlBool>[] = [PEOPLES]
    if (isStanding) conditions.push(isStanding(eb))
    if (node !== undefined) conditions.push(eb('node_id', '=', node))
    if (kind === 'http') conditions.push(eb('type', '=', 'http'))
    else if (kind) conditions.push(eb('type', '=', 'tcp'), eb('proto', '=', kind))
    if (domain !== undefined) {
      const named = eb.selectFrom('domains').select('domains.id').where('domain', '=', domain.toLowerCase())
      conditions.push(eb('domain_id', '=', named))
    }
    if (search) {
      const text = search.toLowerCase()
      const nodes = eb
        .selectFrom('nodes')
        .select('nodes.id')
        .where(({ or }) => or([hasText('nodes.name_folded', text), hasText('nodes.address', text)]))
      conditions.push(eb.or([hasWords(context.config, eb, search), eb('node_id', 'in', nodes)]))
    }
    return eb.and(conditions)
  })
}
