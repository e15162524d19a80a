import type { Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'

/** The services that changed, or whose node or domain changed, after the revision `since` and up to `to`. */
export function selectChangedServices(db: Kysely<Database>, since: number, to = Number.MAX_SAFE_INTEGER) {
  // Each of the three parts uses an index.
  return db
    .selectFrom('services')
    .select(['id', 'node_id as nodeId'])
    .where((eb) => {
      const changed = (table: 'nodes' | 'domains') =>
        eb.selectFrom(table).select('id').where('revision', '>', since).where('revision', '<=', to)
      return eb.or([
        eb.and([eb('revision', '>', since), eb('revision', '<=', to)]),
        eb('node_id', 'in', changed('nodes')),
        eb('domain_id', 'in', changed('domains')),
      ])
    })
}
