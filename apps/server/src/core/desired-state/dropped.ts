import { type Kysely, sql } from 'kysely'
import type { Database, StatedTables } from '../../db/schema.ts'
import type { StatedRows } from './kept-rows.ts'

/**
 * Removes the rows that were deleted. Ids are never used again: after adding the new rows, a difference in number comes
 * from deleted ones.
 * @param left gets the domains that lost a service
 */
export async function dropDeleted(
  tx: Kysely<Database>,
  rows: StatedRows,
  left: Set<number | null>,
): Promise<void> {
  const { nodes, domains, certificateIds, challenges, services, peers } = rows
  await dropFrom(tx, 'services', services.size, services.keys(), (id) => {
    const domain = services.get(id) ?? null
    left.add(domain)
    rows.published.get(domain ?? 0)?.delete(id)
    services.delete(id)
    rows.routes.remove(id)
    rows.ports.remove(id)
  })
  await dropFrom(tx, 'nodes', nodes.size, nodes.keys(), (id) => {
    nodes.delete(id)
    peers.remove(id)
  })
  await dropFrom(tx, 'challenges', challenges.size(), challenges.ids(), (id) => challenges.remove(id))
  await dropFrom(tx, 'domains', domains.size, domains.keys(), (id) => {
    domains.delete(id)
    rows.limited.delete(id)
    rows.published.delete(id)
    rows.signIns.remove(id)
  })
  await dropFrom(tx, 'certificates', certificateIds.size, certificateIds, (id) => {
    certificateIds.delete(id)
    rows.certificates.remove(id)
  })
}

async function dropFrom(
  tx: Kysely<Database>,
  table: keyof StatedTables,
  held: number,
  ids: Iterable<number>,
  drop: (id: number) => void,
): Promise<void> {
  const { count } = await tx
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count === held) return
  // As one text: a row for each of thousands costs three times as much.
  const list = sql<string>`json_group_array(id)`.as('left')
  const { left: text } = await tx.selectFrom(table).select(list).executeTakeFirstOrThrow()
  const left = new Set(JSON.parse(text))
  for (const id of [...ids]) if (!left.has(id)) drop(id)
}
