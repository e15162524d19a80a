import type { Kysely, Transaction } from 'kysely'
import type { Context } from '../../context.ts'
import type { LiveDatabase } from '../../db/live-schema.ts'
import { add, type Count, unpack } from './pack.ts'
import { countOf } from './rows.ts'
import { HOUR, MINUTE } from './steps.ts'

/** The last minutes of a key. */
export interface Window {
  key: number
  minutes: number
}

const NONE: Count = [0, 0, 0]

/**
 * What some keys have counted within their windows: two statements for all of them together, however many services
 * there are.
 * @param end the last minute of all windows, since the epoch
 */
export async function readWindows(
  { liveDb }: Pick<Context, 'liveDb'>,
  windows: readonly Window[],
  end: number,
): Promise<Count[]> {
  if (windows.length === 0) return []
  const sums = windows.map(() => NONE)
  const byKey = Map.groupBy(windows.entries(), ([, { key }]) => key)
  const note = (key: number, minute: number, count: Count) => {
    for (const [index, { minutes }] of byKey.get(key) ?? [])
      if (minute > end - minutes && minute <= end) sums[index] = add(sums[index] ?? NONE, count)
  }
  // A minute packed between the two statements would be counted twice, or not at all.
  await liveDb.transaction().execute(async (tx) => {
    await readFresh(tx, windows, end, note)
    await readPacked(tx, windows, end, note)
  })
  return sums
}

type Note = (key: number, minute: number, count: Count) => void

const startOf = (windows: readonly Window[], end: number) =>
  end + 1 - Math.max(...windows.map(({ minutes }) => minutes))

async function readFresh(
  tx: Transaction<LiveDatabase>,
  windows: readonly Window[],
  end: number,
  note: Note,
): Promise<void> {
  const rows = await tx
    .selectFrom('counts')
    .selectAll()
    .where('service', 'in', keysOf(windows))
    .where('minute', '>=', startOf(windows, end))
    .where('minute', '<=', end)
    .execute()
  for (const { service, minute, ...row } of rows) note(service, minute, countOf(row))
}

const MINUTES = HOUR / MINUTE

/** By the whole key: other services lie between two hours of one service. */
async function readPacked(
  tx: Kysely<LiveDatabase>,
  windows: readonly Window[],
  end: number,
  note: Note,
): Promise<void> {
  const first = Math.floor(startOf(windows, end) / MINUTES)
  const hours = Array.from({ length: Math.floor(end / MINUTES) - first + 1 }, (_, index) => first + index)
  const longest = Map.groupBy(windows, ({ key }) => key)
  const rows = await tx
    .selectFrom('minutes')
    .selectAll()
    .where('hour', 'in', hours)
    .where('service', 'in', keysOf(windows))
    .execute()
  for (const { hour, service, packed } of rows) {
    if ((hour + 1) * MINUTES <= startOf(longest.get(service) ?? [], end)) continue
    for (const [slot, count] of unpack(packed)) note(service, hour * MINUTES + slot, count)
  }
}

const keysOf = (windows: readonly Window[]) => [...new Set(windows.map(({ key }) => key))]
