import type { Traffic } from '@postern/contract/figures'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { LiveDatabase } from '../../db/live-schema.ts'
import { listTimes } from './counts.ts'
import { domainKey, edgeKey, nodeKey } from './keys.ts'
import { unpack } from './pack.ts'
import { DAY, HOUR, MINUTE } from './steps.ts'

/** A line as small as that of a row has room for so many points. */
const STEP = 30 * MINUTE
const LENGTH = DAY / STEP

const KEY_OF = { services: (id: number) => id, nodes: nodeKey, domains: domainKey, edges: edgeKey }
type Line = Traffic['data'][number]

/** What some services, nodes, domains or edges carried in the last day: three statements for all of them together. */
export async function readTraffic(
  { db, access, liveDb, clock }: Context,
  kind: keyof typeof KEY_OF,
  wanted: readonly number[],
): Promise<Traffic> {
  const ids = access.reach ? await listSeen(db, kind, wanted) : wanted
  const from = (Math.floor(clock() / STEP) - LENGTH + 1) * STEP
  const data = ids.map((id): Line => ({ id, received: 0, sent: 0, line: Array(LENGTH).fill(0) }))
  const lines = access.reach && kind === 'domains' ? await byService(db, data) : byKey(KEY_OF[kind], data)
  const keys = [...lines.keys()]
  const note = (key: number, time: number, received: number, sent: number) => {
    const line = lines.get(key)
    const index = Math.floor((time - from) / STEP)
    const before = line?.line[index]
    if (!line || before === undefined) return
    line.received += received
    line.sent += sent
    line.line[index] = before + received + sent
  }
  await readFresh(liveDb, keys, from, note)
  await readPacked(liveDb, keys, from, note)
  return { from: new Date(from).toISOString(), step: STEP / 1000, data }
}

function byKey(keyOf: (id: number) => number, data: readonly Line[]): Map<number, Line> {
  return new Map(data.map((line) => [keyOf(line.id), line]))
}

/** At a domain a limited person sees what their own services carried. */
async function byService(db: Context['db'], data: readonly Line[]): Promise<Map<number, Line>> {
  const rows = await db
    .selectFrom('services')
    .select(['id', 'domain_id'])
    .where(
      'domain_id',
      'in',
      data.map(({ id }) => id),
    )
    .execute()
  const lines = new Map(data.map((line) => [line.id, line]))
  return new Map(
    rows.flatMap(({ id, domain_id }) => {
      const line = domain_id === null ? undefined : lines.get(domain_id)
      return line ? [[id, line] as const] : []
    }),
  )
}

/** Those of them that a limited person may see. */
async function listSeen(
  db: Context['db'],
  kind: keyof typeof KEY_OF,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await db.selectFrom(kind).select('id').where('id', 'in', ids).orderBy('id').execute()
  return rows.map(({ id }) => id)
}

type Note = (key: number, time: number, received: number, sent: number) => void

async function readFresh(
  liveDb: Kysely<LiveDatabase>,
  keys: readonly number[],
  from: number,
  note: Note,
): Promise<void> {
  const rows = await liveDb
    .selectFrom('counts')
    .select(['service', 'minute', 'received', 'sent'])
    .where('service', 'in', keys)
    .where('minute', '>=', from / MINUTE)
    .execute()
  for (const { service, minute, received, sent } of rows) note(service, minute * MINUTE, received, sent)
}

/** By the whole key, as all other services lie between theirs. */
async function readPacked(
  liveDb: Kysely<LiveDatabase>,
  keys: readonly number[],
  from: number,
  note: Note,
): Promise<void> {
  const hours = (await listTimes(liveDb, 'minutes')).filter((hour) => hour >= Math.floor(from / HOUR))
  if (hours.length === 0) return
  const rows = await liveDb
    .selectFrom('minutes')
    .select(['hour', 'service', 'packed'])
    .where('hour', 'in', hours)
    .where('service', 'in', keys)
    .execute()
  for (const { hour, service, packed } of rows)
    for (const [minute, [, received, sent]] of unpack(packed))
      note(service, hour * HOUR + minute * MINUTE, received, sent)
}
