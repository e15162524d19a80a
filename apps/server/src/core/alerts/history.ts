import type { Alert, AlertQuery, Delivery, DeliveryQuery } from '@postern/contract/alerts/alerts'
import type { Page } from '@postern/contract/lists'
import { type Kysely, sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { listOrPage } from '../pages.ts'

const iso = (time: number) => new Date(time).toISOString()
const isoOrNull = (time: number | null) => (time === null ? null : iso(time))

/** What is still so; the newest first. */
export async function listAlerts({ db }: Context, query: AlertQuery): Promise<Alert[] | Page<Alert>> {
  const found = db.selectFrom('alerts').where('alerts.cleared_at', 'is', null)
  return await listOrPage(query, found, async (slice) => {
    let rows = found
      .leftJoin('nodes', 'nodes.id', 'alerts.node_id')
      .selectAll('alerts')
      .select('nodes.id as there')
      .orderBy('alerts.id', 'desc')
    if (slice) rows = rows.limit(slice.limit).offset(slice.offset)
    return (await rows.execute()).map(
      (row): Alert => ({
        id: row.id,
        kind: row.kind,
        name: row.name,
        nodeId: row.there,
        nodeName: row.node_name,
        serviceId: row.service_id,
        address: row.address,
        problem: row.problem,
        since: iso(row.since),
        firstTold: isoOrNull(row.first_told),
        lastTold: isoOrNull(row.last_told),
      }),
    )
  })
}

/** The messages of all channels, the newest first. */
export async function listDeliveries(
  { db }: Context,
  { type, ...query }: DeliveryQuery,
): Promise<Delivery[] | Page<Delivery>> {
  let found = db.selectFrom('alert_deliveries')
  if (type) found = found.where('status', '=', type)
  return await listOrPage(query, found, async (slice) => {
    let rows = found
      .select(['id', 'channel_name', 'event', 'status', 'attempts', 'problem', 'at', 'sent_at'])
      .select(sql<string>`message ->> 'title'`.as('title'))
      .orderBy('id', 'desc')
    if (slice) rows = rows.limit(slice.limit).offset(slice.offset)
    return (await rows.execute()).map(({ channel_name, at, sent_at, ...row }): Delivery => {
      return { ...row, channelName: channel_name, at: iso(at), sentAt: isoOrNull(sent_at) }
    })
  })
}

const DAYS_90 = 90 * 86_400_000
const MOST_ROWS = 10_000

/** Forgets what is old, and the oldest of very much. What waits or is open stays. */
export async function forgetOld(db: Kysely<Database>, now: number): Promise<void> {
  const deliveries = db.selectFrom('alert_deliveries').select('id').orderBy('id', 'desc')
  await db
    .deleteFrom('alert_deliveries')
    .where('status', '!=', 'waiting')
    .where((eb) =>
      eb.or([eb('at', '<', now - DAYS_90), eb('id', '<=', deliveries.limit(1).offset(MOST_ROWS))]),
    )
    .execute()
  const alerts = db.selectFrom('alerts').select('id').orderBy('id', 'desc')
  await db
    .deleteFrom('alerts')
    .where('is_over', '=', 1)
    .where((eb) =>
      eb.or([eb('cleared_at', '<', now - DAYS_90), eb('id', '<=', alerts.limit(1).offset(MOST_ROWS))]),
    )
    .execute()
}
