import type { Figures, FiguresSpan } from '@postern/contract/figures'
import type { ServiceType } from '@postern/contract/services'
import { type Kysely, sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { LiveDatabase } from '../../db/live-schema.ts'
import { NotFoundError } from '../errors.ts'
import { getServiceNode } from '../services/services.ts'
import { listTimes, nodeKey } from './counts.ts'
import { add, type Count, unpack } from './pack.ts'
import { DAY, HOUR, MINUTE } from './steps.ts'

type Parts = Pick<Context, 'db' | 'liveDb' | 'clock'>

/** @throws NotFoundError */
export async function getServiceFigures(
  context: Parts,
  { type, id }: { type: ServiceType; id: number },
  span: FiguresSpan,
): Promise<Figures> {
  const service = context.db.selectFrom('services').select('id').where('id', '=', id).where('type', '=', type)
  if (!(await service.executeTakeFirst())) throw new NotFoundError('Service')
  return await readFigures(context, id, span)
}

/** What its services carried together, also those that are deleted by now. @throws NotFoundError */
export async function getNodeFigures(context: Parts, id: number, span: FiguresSpan): Promise<Figures> {
  await getServiceNode(context.db, id)
  return await readFigures(context, nodeKey(id), span)
}

/** Steps and their number. */
const SPANS = {
  hour: { step: MINUTE, length: 60 },
  day: { step: MINUTE, length: 1440 },
  month: { step: HOUR, length: 720 },
} as const

/** @param key a service's id, or a node's key */
async function readFigures({ liveDb, clock }: Parts, key: number, span: FiguresSpan): Promise<Figures> {
  const { step, length } = SPANS[span]
  const from = (Math.floor(clock() / step) - length + 1) * step
  const counts = Array.from({ length }, (): Count => [0, 0, 0])
  const note = (time: number, count: Count) => {
    const index = Math.floor((time - from) / step)
    const before = counts[index]
    if (before) counts[index] = add(before, count)
  }
  await readFresh(liveDb, key, from, note)
  await readPacked(liveDb, 'minutes', key, from, note)
  if (step === HOUR) await readPacked(liveDb, 'hours', key, from, note)
  const column = (index: 0 | 1 | 2) => counts.map((count) => count[index])
  return {
    from: new Date(from).toISOString(),
    step: step / 1000,
    series: { connections: column(0), received: column(1), sent: column(2) },
  }
}

type Note = (time: number, count: Count) => void

async function readFresh(liveDb: Kysely<LiveDatabase>, key: number, from: number, note: Note): Promise<void> {
  const rows = await liveDb
    .selectFrom('counts')
    .selectAll()
    .where('service', '=', key)
    .where('minute', '>=', from / MINUTE)
    .execute()
  for (const { minute, connections, received, sent } of rows)
    note(minute * MINUTE, [connections, received, sent])
}

/** How long a row of a table is, and a slot of it. */
const PACKED = {
  minutes: { time: 'hour', length: HOUR, slot: MINUTE },
  hours: { time: 'day', length: DAY, slot: HOUR },
} as const

async function readPacked(
  liveDb: Kysely<LiveDatabase>,
  table: 'minutes' | 'hours',
  key: number,
  from: number,
  note: Note,
): Promise<void> {
  const { length, slot, ...column } = PACKED[table]
  const time = sql.ref<number>(column.time)
  // By the whole key: the rows of all other services lie between theirs.
  const times = (await listTimes(liveDb, table)).filter((each) => each >= Math.floor(from / length))
  const rows = await liveDb
    .selectFrom(table)
    .select(['packed', time.as('time')])
    .where(time, 'in', times)
    .where('service', '=', key)
    .execute()
  for (const row of rows)
    for (const [at, count] of unpack(row.packed)) note(row.time * length + at * slot, count)
}
