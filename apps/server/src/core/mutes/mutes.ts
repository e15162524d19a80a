import type { Mute } from '@postern/contract/alerts/mute'
import type { Kysely } from 'kysely'
import type { Flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'

/** A mute in the form of the API; null once its time is over. */
export function muteOf(row: { muted: Flag; muted_until: string | null }, now: number): Mute {
  if (row.muted === 0 || isOver(row.muted_until, now)) return null
  return { until: row.muted_until }
}

const isOver = (until: string | null, now: number) => until !== null && Date.parse(until) <= now

/** The ids of what is muted now. */
export async function readMuted(
  db: Kysely<Database>,
  now: number,
): Promise<{ nodes: ReadonlySet<number>; services: ReadonlySet<number> }> {
  const rows = await db.selectFrom('mutes').select(['node_id', 'service_id', 'until']).execute()
  const muted = rows.filter(({ until }) => !isOver(until, now))
  return {
    nodes: new Set(muted.flatMap(({ node_id }) => node_id ?? [])),
    services: new Set(muted.flatMap(({ service_id }) => service_id ?? [])),
  }
}
