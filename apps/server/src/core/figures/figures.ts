import { setImmediate as pause } from 'node:timers/promises'
import type { Figures, FiguresSpan } from '@postern/contract/figures'
import type { ServiceType } from '@postern/contract/services'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { LiveDatabase } from '../../db/schema.ts'
import { NotFoundError } from '../errors.ts'
import { getServiceNode } from '../services/services.ts'
import { listTimes } from './counts.ts'
import { add, type Count, unpack } from './pack.ts'
import { DAY, HOUR, MINUTE } from './times.ts'

type Parts = Pick<Context, 'db' | 'liveDb' | 'clock'>

/** @throws NotFoundError */
export async function getServiceFigures(
  context: Parts,
  { type, id }: { type: ServiceType; id: number },
  span: FiguresSpan,
): Promise<Figures> {
  const service = context.db.selectFrom('services').select('id').where('id', '=', id).where('type', '=', type)
  if (!(await service.executeTakeFirst())) throw new NotFoundError('Service')
  return await readFigures(context, [id], span)
}

/** Those of its services together, as they are now. @throws NotFoundError */
export async function getNodeFigures(context: Parts, id: number, span: FiguresSpan): Promise<Figures> {
  await getServiceNode(context.db, id)
  const services = await context.db.selectFrom('services').select('id').where('node_id', '=', id).execute()
  return await readFigures(
    context,
    services.map((service) => service.id),
    span,
  )
}

/** Steps and their number. */
const SPANS = {
  hour: { step: MINUTE, length: 60 },
  day: { step: MINUTE, length: 1440 },
  month: { step: HOUR, length: 720 },
} as const

/** Services whose rows are read at once; between them others have their turn. */
const AT_ONCE = 50

async function readFigures(
  { liveDb, clock }: Parts,
  services: readonly number[],
  span: FiguresSpan,
): Promise<Figures> {
  const { step, length } = SPANS[span]
  const from = (Math.floor(clock() / step) - length + 1) * step
  const counts = Array.from({ length }, (): Count => [0, 0, 0])
  const note = (time: number, count: Count) => {
    const index = Math.floor((time - from) / step)
    const before = counts[index]
    if (before) counts[index] = add(before, count)
  }
  for (let start = 0; start < services.length; start += AT_ONCE) {
    if (start > 0) await pause()
    const some = services.slice(start, start + AT_ONCE)
    await readMinutes(liveDb, some, from, note)
    if (step === HOUR) await readHours(liveDb, some, from, note)
  }
  const column = (index: 0 | 1 | 2) => counts.map((count) => count[index])
  return {
    from: new Date(from).toISOString(),
    step: step / 1000,
    series: { connections: column(0), received: column(1), sent: column(2) },
  }
}

type Note = (time: number, count: Count) => void

async function readMinutes(
  liveDb: Kysely<LiveDatabase>,
  services: readonly number[],
  from: number,
  note: Note,
): Promise<void> {
  const fresh = await liveDb
    .selectFrom('counts')
    .selectAll()
    .where('service', 'in', services)
    .where('minute', '>=', from / MINUTE)
    .execute()
  for (const { minute, connections, received, sent } of fresh)
    note(minute * MINUTE, [connections, received, sent])
  const packed = await liveDb
    .selectFrom('minutes')
    .select(['hour', 'packed'])
    // By the whole key: the rows of all other services lie between theirs.
    .where('hour', 'in', await timesSince(liveDb, 'minutes', Math.floor(from / HOUR)))
    .where('service', 'in', services)
    .execute()
  for (const row of packed)
    for (const [slot, count] of unpack(row.packed)) note(row.hour * HOUR + slot * MINUTE, count)
}

async function readHours(
  liveDb: Kysely<LiveDatabase>,
  services: readonly number[],
  from: number,
  note: Note,
): Promise<void> {
  const packed = await liveDb
    .selectFrom('hours')
    .select(['day', 'packed'])
    .where('day', 'in', await timesSince(liveDb, 'hours', Math.floor(from / DAY)))
    .where('service', 'in', services)
    .execute()
  for (const row of packed)
    for (const [slot, count] of unpack(row.packed)) note(row.day * DAY + slot * HOUR, count)
}

async function timesSince(
  liveDb: Kysely<LiveDatabase>,
  table: 'minutes' | 'hours',
  from: number,
): Promise<number[]> {
  return (await listTimes(liveDb, table)).filter((time) => time >= from)
}
