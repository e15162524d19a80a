import type { Found } from '@postern/contract/find'
import { normaliseDomain } from '@postern/net/hostname'
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Context } from '../../context.ts'
import { hasBackend, hasPublicAddress, hasText } from '../columns.ts'
import { readDomains } from '../domains/records.ts'
import { readNodes } from '../nodes/records.ts'
import { readServices, toService } from '../services/records.ts'

/** Per kind. */
const MOST_FOUND = 5

/**
 * Finds things with the text in their name, their address or their backend's address. Exact names come first, then
 * those that begin with the text, so that typing a whole name always finds it.
 */
export async function findByText(context: Context, typed: string): Promise<Found> {
  const { db } = context
  const text = typed.toLowerCase()
  const name = normaliseDomain(typed)
  const nodes = db
    .selectFrom('nodes')
    .select('id')
    .where(({ or }) => or([hasText('name_folded', text), hasText('address', text)]))
    .orderBy(rank(['name_folded', text], ['address', text]))
    .orderBy('name_folded')
    .orderBy('id')
  const domains = db
    .selectFrom('domains')
    .select('id')
    .where(hasText('domain', name))
    .orderBy(rank(['domain', name]))
    .orderBy('domain')
  const services = db
    .selectFrom('services')
    .leftJoin('domains', 'domains.id', 'services.domain_id')
    .select('services.id')
    .where(({ or }) =>
      or([
        hasText('services.name_folded', text),
        hasText('domains.domain', name),
        hasBackend(text),
        hasPublicAddress(context.config, text),
      ]),
    )
    .orderBy(rank(['services.name_folded', text], ['domains.domain', name]))
    .orderBy('services.name_folded')
    .orderBy('services.id')
  return {
    nodes: await read(nodes, (ids) => readNodes(context, ids)),
    domains: await read(domains, (ids) => readDomains(context, ids)),
    services: await read(services, async (ids) =>
      (await readServices(db, ids)).map((row) => toService(context, row)),
    ),
  }
}

/** The records of the best matches, in the order of these. */
async function read<DB, TB extends keyof DB, R extends { id: number }>(
  matches: SelectQueryBuilder<DB, TB, { id: number }>,
  readRecords: (ids: number[]) => Promise<R[]>,
): Promise<R[]> {
  const ids = (await matches.limit(MOST_FOUND).execute()).map(({ id }) => id)
  const records = new Map((await readRecords(ids)).map((record) => [record.id, record]))
  return ids.flatMap((id) => records.get(id) ?? [])
}

/** 0 if a column equals the text, 1 if one begins with it, else 2. */
function rank(...columns: [column: string, text: string][]): RawBuilder<number> {
  const is = columns.map(([column, text]) => sql`${sql.ref(column)} = ${text}`)
  const begins = columns.map(([column, text]) => sql`instr(${sql.ref(column)}, ${text}) = 1`)
  return sql<number>`CASE WHEN ${sql.join(is, sql` OR `)} THEN 0 WHEN ${sql.join(begins, sql` OR `)} THEN 1 ELSE 2 END`
}
