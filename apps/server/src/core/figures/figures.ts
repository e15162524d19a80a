import { quantileOf } from '@postern/contract/edge/response-times'
import type { Figures, FiguresQuery } from '@postern/contract/figures'
import type { ServiceType } from '@postern/contract/services/services'
import { type Kysely, sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { LiveDatabase } from '../../db/live-schema.ts'
import { getDomain } from '../domains/records.ts'
import { NotFoundError } from '../errors.ts'
import { getServiceNode } from '../services/services.ts'
import { listTimes } from './counts.ts'
import { ALL_KEY, domainKey, edgeKey, nodeKey } from './keys.ts'
import { add, type Count, sum, unpack } from './pack.ts'
import { countOf } from './rows.ts'
import { DAY, HOUR, MINUTE } from './steps.ts'

type Parts = Pick<Context, 'db' | 'liveDb' | 'clock'>

/** @throws NotFoundError */
export async function getServiceFigures(
  context: Parts,
  { type, id }: { type: ServiceType; id: number },
  query: FiguresQuery,
): Promise<Figures> {
  const service = context.db.selectFrom('services').select('id').where('id', '=', id).where('type', '=', type)
  if (!(await service.executeTakeFirst())) throw new NotFoundError('Service')
  return await readFigures(context, [id], query)
}

/** @throws NotFoundError */
export async function getNodeFigures(context: Parts, id: number, query: FiguresQuery): Promise<Figures> {
  await getServiceNode(context.db, id)
  return await readFigures(context, [nodeKey(id)], query)
}

/** For a limited person, the sum of the services there that they see. @throws NotFoundError */
export async function getDomainFigures(context: Context, id: number, query: FiguresQuery): Promise<Figures> {
  await getDomain(context, id)
  const { db, access } = context
  if (!access.reach) return await readFigures(context, [domainKey(id)], query)
  const own = await db.selectFrom('services').select('id').where('domain_id', '=', id).execute()
  return await readFigures(
    context,
    own.map((service) => service.id),
    query,
  )
}

/** @throws NotFoundError */
export async function getEdgeFigures(context: Parts, id: number, query: FiguresQuery): Promise<Figures> {
  const edge = context.db.selectFrom('edges').select('id').where('id', '=', id)
  if (!(await edge.executeTakeFirst())) throw new NotFoundError('Edge')
  return await readFigures(context, [edgeKey(id)], query)
}

/** For a limited person, the sum of their nodes. */
export function getAllFigures(context: Context, query: FiguresQuery): Promise<Figures> {
  const { reach } = context.access
  return readFigures(context, reach ? reach.nodes.map(nodeKey) : [ALL_KEY], query)
}

/** Steps and their number. */
const SPANS = {
  hour: { step: MINUTE, length: 60 },
  day: { step: MINUTE, length: 1440 },
  week: { step: HOUR, length: 168 },
  month: { step: HOUR, length: 720 },
} as const

/** @param keys ids of services, or keys of keys.ts, to be added up */
async function readFigures(
  { liveDb, clock }: Parts,
  keys: readonly number[],
  { span, points = SPANS[span].length }: FiguresQuery,
): Promise<Figures> {
  const one = SPANS[span]
  const together = Math.ceil(one.length / points)
  const [step, length] = [one.step * together, Math.ceil(one.length / together)]
  const from = (Math.floor(clock() / step) - length + 1) * step
  const counts = Array.from({ length }, (): Count => [0, 0, 0])
  const addCount = (time: number, count: Count) => {
    const index = Math.floor((time - from) / step)
    const before = counts[index]
    if (before) counts[index] = add(before, count)
  }
  await readFresh(liveDb, keys, from, addCount)
  await readPacked(liveDb, 'minutes', keys, from, addCount)
  if (one.step === HOUR) await readPacked(liveDb, 'hours', keys, from, addCount)
  const all = counts.map(tell)
  const column = <K extends keyof Told>(name: K) => all.map((each) => each[name])
  return {
    from: new Date(from).toISOString(),
    step: step / 1000,
    series: {
      connections: column('connections'),
      received: column('received'),
      sent: column('sent'),
      errors: column('errors'),
      p50: column('p50'),
      p95: column('p95'),
    },
    whole: tell(sum(counts)),
  }
}

type Told = Figures['whole']

function tell([connections, received, sent, errors = 0, ...buckets]: Count): Told {
  const within = (part: number) => {
    const ms = quantileOf(buckets, part)
    return ms === null ? null : Math.round(ms * 10) / 10
  }
  return { connections, received, sent, errors, p50: within(0.5), p95: within(0.95) }
}

type Note = (time: number, count: Count) => void

async function readFresh(
  liveDb: Kysely<LiveDatabase>,
  keys: readonly number[],
  from: number,
  addCount: Note,
): Promise<void> {
  const rows = await liveDb
    .selectFrom('counts')
    .selectAll()
    .where('service', 'in', keys)
    .where('minute', '>=', from / MINUTE)
    .execute()
  for (const { minute, ...row } of rows) addCount(minute * MINUTE, countOf(row))
}

/** The duration of a table's row, and of one slot in it. */
const PACKED = {
  minutes: { time: 'hour', length: HOUR, slot: MINUTE },
  hours: { time: 'day', length: DAY, slot: HOUR },
} as const

async function readPacked(
  liveDb: Kysely<LiveDatabase>,
  table: 'minutes' | 'hours',
  keys: readonly number[],
  from: number,
  addCount: Note,
): Promise<void> {
  const { length, slot, ...column } = PACKED[table]
  const time = sql.ref<number>(column.time)
  // By the whole key, because rows of other services lie between theirs.
  const times = (await listTimes(liveDb, table)).filter((each) => each >= Math.floor(from / length))
  const rows = await liveDb
    .selectFrom(table)
    .select(['packed', time.as('time')])
    .where(time, 'in', times)
    .where('service', 'in', keys)
    .execute()
  for (const row of rows)
    for (const [at, count] of unpack(row.packed)) addCount(row.time * length + at * slot, count)
}
