import type { Found } from '@postern/contract/find'
import { normaliseDomain } from '@postern/net/hostname'
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../context.ts'
import { hasBackend, hasPublicAddress, hasText } from '../columns.ts'

/** Per kind. */
const MOST_FOUND = 5

/**
 * What has the text in its name, its address or that of its backend. One whose name is the text comes first, then those that begin with it: also
 * of many alike the one that a person means is there once its name is typed.
 */
export async function findByText({ db, config }: Context, typed: string): Promise<Found> {
  const text = typed.toLowerCase()
  const name = normaliseDomain(typed)
  const nodes = db
    .selectFrom('nodes')
    .select(['id', 'name', 'address'])
    .where(({ or }) => or([hasText('name_folded', text), hasText('address', text)]))
    .orderBy(rank(['name_folded', text], ['address', text]))
    .orderBy('name_folded')
  const domains = db
    .selectFrom('domains')
    .select(['id', 'domain'])
    .where(hasText('domain', name))
    .orderBy(rank(['domain', name]))
    .orderBy('domain')
  return {
    nodes: await nodes.limit(MOST_FOUND).execute(),
    domains: await domains.limit(MOST_FOUND).execute(),
    services: await findServices({ db, config }, text, name),
  }
}

async function findServices(
  { db, config }: Pick<Context, 'db' | 'config'>,
  text: string,
  name: string,
): Promise<Found['services']> {
  return await db
    .selectFrom('services')
    .leftJoin('domains', 'domains.id', 'services.domain_id')
    .innerJoin('nodes', 'nodes.id', 'services.node_id')
    .select([
      'services.id',
      'services.type',
      'services.node_id as nodeId',
      'nodes.name as nodeName',
      'services.name',
      'domains.domain',
      'services.backend_host as backendHost',
      'services.backend_port as backendPort',
    ])
    .where(({ or }) =>
      or([
        hasText('services.name_folded', text),
        hasText('domains.domain', name),
        hasBackend(text),
        hasPublicAddress(config, text),
      ]),
    )
    .orderBy(rank(['services.name_folded', text], ['domains.domain', name]))
    .orderBy('services.name_folded')
    .limit(MOST_FOUND)
    .execute()
}

/** 0 for a column that is the text, 1 for one that begins with it, else 2. */
function rank(...columns: [column: string, text: string][]): RawBuilder<number> {
  const is = columns.map(([column, text]) => sql`${sql.ref(column)} = ${text}`)
  const begins = columns.map(([column, text]) => sql`instr(${sql.ref(column)}, ${text}) = 1`)
  return sql<number>`CASE WHEN ${sql.join(is, sql` OR `)} THEN 0 WHEN ${sql.join(begins, sql` OR `)} THEN 1 ELSE 2 END`
}
