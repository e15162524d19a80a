import { type Kysely, sql, type Transaction } from 'kysely'
import type { LiveDatabase } from '../../db/live-schema.ts'
import { addTo, type Count, pack, sum, unpack } from './pack.ts'
import { countOf } from './rows.ts'

/** In ms. */
export const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000] as const

/** One transaction for each step, which blocks the server for some milliseconds. */

const STEP = { services: 100, rows: 100, drops: 2000 }

type Tx = Transaction<LiveDatabase>

/**
 * Packs the counts before `minute`.
 * @param place the last service that was packed
 * @returns whether there may be more
 */
export async function packCounts(
  liveDb: Kysely<LiveDatabase>,
  minute: number,
  place: { service: number },
): Promise<boolean> {
  return await liveDb.transaction().execute(async (tx) => {
    const found = tx.selectFrom('counts').where('minute', '<', minute).where('service', '>', place.service)
    const next = await found.select('service').distinct().orderBy('service').limit(STEP.services).execute()
    const last = next.at(-1)?.service
    if (last === undefined) return false
    const rows = await found.selectAll().where('service', '<=', last).execute()
    await addToMinutes(tx, rows)
    await tx
      .deleteFrom('counts')
      .where('minute', '<', minute)
      .where('service', '>', place.service)
      .where('service', '<=', last)
      .execute()
    place.service = last
    return next.length === STEP.services
  })
}

async function addToMinutes(tx: Tx, rows: readonly LiveDatabase['counts'][]): Promise<void> {
  const byHour = new Map<number, Map<number, Map<number, Count>>>()
  for (const { service, minute, ...row } of rows)
    addTo(slotsIn(byHour, Math.floor(minute / 60), service), minute % 60, countOf(row))
  for (const [hour, services] of byHour) {
    const before = await tx
      .selectFrom('minutes')
      .select(['service', 'packed'])
      .where('hour', '=', hour)
      .where('service', 'in', [...services.keys()])
      .execute()
    mergePacked(services, before)
    const values = [...services].map(([service, slots]) => ({ hour, service, packed: pack(slots) }))
    await tx.replaceInto('minutes').values(values).execute()
  }
}

/** Turns the minutes before `hour` into hours. @returns whether there may be more */
export async function sumMinutes(liveDb: Kysely<LiveDatabase>, hour: number): Promise<boolean> {
  return await liveDb.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('minutes')
      .selectAll()
      .where('hour', '<', hour)
      .orderBy('hour')
      .orderBy('service')
      .limit(STEP.rows)
      .execute()
    // In the order of the table, so that rows of one hour are together.
    const first = rows[0]?.hour
    const same = rows.filter((row) => row.hour === first)
    if (first === undefined) return false
    await addToHours(tx, same)
    await tx
      .deleteFrom('minutes')
      .where('hour', '=', first)
      .where('service', '<=', same.at(-1)?.service ?? 0)
      .execute()
    return true
  })
}

async function addToHours(tx: Tx, rows: readonly LiveDatabase['minutes'][]): Promise<void> {
  const byDay = new Map<number, Map<number, Map<number, Count>>>()
  for (const { hour, service, packed } of rows)
    addTo(slotsIn(byDay, Math.floor(hour / 24), service), hour % 24, sum(unpack(packed).values()))
  for (const [day, services] of byDay) {
    const before = await tx
      .selectFrom('hours')
      .select(['service', 'packed'])
      .where('day', '=', day)
      .where('service', 'in', [...services.keys()])
      .execute()
    mergePacked(services, before)
    const values = [...services].map(([service, slots]) => ({ day, service, packed: pack(slots) }))
    await tx.replaceInto('hours').values(values).execute()
  }
}

/**
 * Drops hours before `day`.
 * @returns whether there may be more
 */
export async function dropHours(liveDb: Kysely<LiveDatabase>, day: number): Promise<boolean> {
  const old = liveDb
    .selectFrom('hours')
    .select(['day', 'service'])
    .where('day', '<', day)
    .orderBy('day')
    .orderBy('service')
    .limit(STEP.drops)
  const last = (await old.execute()).at(-1)
  if (!last) return false
  await liveDb
    .deleteFrom('hours')
    .where((eb) =>
      eb.or([
        eb('day', '<', last.day),
        eb.and([eb('day', '=', last.day), eb('service', '<=', last.service)]),
      ]),
    )
    .execute()
  return true
}

/** Whether the rows take more than this of the file, which itself never shrinks. */
export async function isLarger(liveDb: Kysely<LiveDatabase>, bytes: number): Promise<boolean> {
  const { rows } = await sql<{ used: number }>`
    SELECT (page_count - freelist_count) * page_size AS used
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size`.execute(liveDb)
  return (rows[0]?.used ?? 0) > bytes
}

function slotsIn<T>(groups: Map<number, Map<number, Map<number, T>>>, time: number, service: number) {
  const services = groups.getOrInsertComputed(time, () => new Map())
  return services.getOrInsertComputed(service, () => new Map<number, T>())
}

function mergePacked(
  services: ReadonlyMap<number, Map<number, Count>>,
  before: readonly { service: number; packed: Uint8Array }[],
): void {
  for (const { service, packed } of before) {
    const slots = services.get(service)
    if (slots) for (const [slot, count] of unpack(packed)) addTo(slots, slot, count)
  }
}
