import type { EdgeMessage, ServiceCount } from '@postern/contract/edge/edge-messages'
import { createQueue } from '@postern/host/tasks'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { LiveDatabase } from '../../db/live-schema.ts'
import type { Database } from '../../db/schema.ts'
import { ALL_KEY, domainKey, edgeKey, nodeKey } from './keys.ts'
import { add, addTo, type Count } from './pack.ts'
import { readAnswers } from './rows.ts'
import { MINUTE } from './steps.ts'
import type { Totals } from './totals.ts'

export type CountsMessage = Extract<EdgeMessage, { type: 'counts' }>

/** Adds the edges' counts to the database of figures, each count once. */
export interface Counts {
  /** @returns the number up to which this ledger's counts are now stored */
  receive(edgeId: number, message: CountsMessage): Promise<number>
  /**
   * Removes the figures of deleted services. Any that remain are invisible, and removed when they are old.
   * @param services or others by their key
   */
  remove(services: readonly number[]): Promise<void>
  close(): Promise<void>
}

interface Parts {
  db: Kysely<Database>
  liveDb: Kysely<LiveDatabase>
  totals: Totals
  log: Logger
  clock(): number
}

/** How many services are removed with one statement. */
const AT_ONCE = 200

export function createCounts({ db, liveDb, totals, log, clock }: Parts): Counts {
  // One after the other, because a service that is deleted meanwhile would come back.
  const queue = createQueue()
  return {
    receive: (edgeId, message) =>
      queue.run(async () => {
        const counts = withSums(edgeId, message, await findOwners(db, message.counts))
        // An edge's clock that is ahead must not make figures that nobody sees and that are never removed.
        const minute = Math.min(message.minute, Math.floor(clock() / MINUTE))
        const { ledger, seq } = message
        const { stored, isNew } = await liveDb.transaction().execute(async (tx) => {
          const before = await findSeq(tx, edgeId, ledger)
          if (seq <= before) return { stored: before, isNew: false }
          await store(tx, minute, counts)
          await writeSeq(tx, edgeId, ledger, seq)
          return { stored: seq, isNew: true }
        })
        if (isNew) totals.add(counts.filter(([key]) => key > 0))
        return stored
      }),
    remove: (services) =>
      queue
        .run(async () => {
          totals.remove(services)
          for (let start = 0; start < services.length; start += AT_ONCE)
            await forget(liveDb, services.slice(start, start + AT_ONCE))
        })
        .catch((err: unknown) => log.warn({ err }, 'the figures of deleted services could not be removed')),
    close: () => queue.run(async () => undefined),
  }
}

interface Owners {
  node_id: number
  domain_id: number | null
}

/** Service → what it belongs to, for existing services. */
async function findOwners(
  db: Kysely<Database>,
  counts: readonly ServiceCount[],
): Promise<ReadonlyMap<number, Owners>> {
  if (counts.length === 0) return new Map()
  const ids = counts.map(([service]) => service)
  const rows = await db
    .selectFrom('services')
    .select(['id', 'node_id', 'domain_id'])
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** The counts of existing services, and their sums for all that they belong to. */
function withSums(
  edgeId: number,
  { counts, answers = [] }: CountsMessage,
  owners: ReadonlyMap<number, Owners>,
): [key: number, count: Count][] {
  const answered = new Map(answers.map(([service, errors, buckets]) => [service, [errors, ...buckets]]))
  const all = new Map<number, Count>()
  for (const [service, ...carried] of counts) {
    const owner = owners.get(service)
    if (!owner) continue
    const count: Count = [...carried, ...(answered.get(service) ?? [])]
    for (const key of [service, nodeKey(owner.node_id), edgeKey(edgeId), ALL_KEY]) addTo(all, key, count)
    if (owner.domain_id !== null) addTo(all, domainKey(owner.domain_id), count)
  }
  return [...all]
}

async function findSeq(tx: Transaction<LiveDatabase>, edgeId: number, ledger: string): Promise<number> {
  const row = await tx.selectFrom('ledgers').selectAll().where('edge_id', '=', edgeId).executeTakeFirst()
  return row?.ledger === ledger ? row.seq : 0
}

async function writeSeq(
  tx: Transaction<LiveDatabase>,
  edge_id: number,
  ledger: string,
  seq: number,
): Promise<void> {
  await tx
    .insertInto('ledgers')
    .values({ edge_id, ledger, seq })
    .onConflict((conflict) => conflict.column('edge_id').doUpdateSet({ ledger, seq }))
    .execute()
}

async function store(
  tx: Transaction<LiveDatabase>,
  minute: number,
  counts: readonly (readonly [key: number, count: Count])[],
): Promise<void> {
  if (counts.length === 0) return
  const before = await findAnswers(
    tx,
    minute,
    counts.flatMap(([key, count]) => (count.length > NONE.length ? key : [])),
  )
  const rows = counts.map(([service, count]) => {
    const [connections, received, sent] = count
    const [, , , ...answers] = add(count, before.get(service) ?? NONE)
    return {
      service,
      minute,
      connections,
      received,
      sent,
      answers: answers.length > 0 ? JSON.stringify(answers) : null,
    }
  })
  const sum = (column: 'connections' | 'received' | 'sent') =>
    sql<number>`min(counts.${sql.ref(column)} + excluded.${sql.ref(column)}, ${Number.MAX_SAFE_INTEGER})`
  await tx
    .insertInto('counts')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['service', 'minute']).doUpdateSet({
        connections: sum('connections'),
        received: sum('received'),
        sent: sum('sent'),
        answers: sql<string | null>`coalesce(excluded.answers, counts.answers)`,
      }),
    )
    .execute()
}

const NONE: Count = [0, 0, 0]

/** What is stored of the answers in this minute: SQL cannot add it up. */
async function findAnswers(
  tx: Transaction<LiveDatabase>,
  minute: number,
  keys: readonly number[],
): Promise<ReadonlyMap<number, Count>> {
  if (keys.length === 0) return new Map()
  const rows = await tx
    .selectFrom('counts')
    .select(['service', 'answers'])
    .where('minute', '=', minute)
    .where('service', 'in', keys)
    .where('answers', 'is not', null)
    .execute()
  return new Map(rows.map(({ service, answers }) => [service, [...NONE, ...readAnswers(answers)]]))
}

async function forget(liveDb: Kysely<LiveDatabase>, services: readonly number[]): Promise<void> {
  await liveDb.transaction().execute(async (tx) => {
    await tx.deleteFrom('counts').where('service', 'in', services).execute()
    // By the whole key, because rows of other services lie between theirs.
    for (const [table, column] of TIMES) {
      const times = await listTimes(tx, table)
      if (times.length === 0) continue
      await tx
        .deleteFrom(table)
        .where(sql.ref(column), 'in', times)
        .where('service', 'in', services)
        .execute()
    }
  })
}

const TIMES = [
  ['minutes', 'hour'],
  ['hours', 'day'],
] as const

/** The hours, or days, from the first to the last of a table: a few dozen. */
export async function listTimes(db: Kysely<LiveDatabase>, table: 'minutes' | 'hours'): Promise<number[]> {
  const column = sql.raw(table === 'minutes' ? 'hour' : 'day')
  // Separate queries, or SQLite would read the whole table.
  const end = (name: 'min' | 'max') => sql`(SELECT ${sql.raw(name)}(${column}) FROM ${sql.table(table)})`
  const { rows } = await sql<{
    first: number | null
    last: number | null
  }>`SELECT ${end('min')} AS first, ${end('max')} AS last`.execute(db)
  const { first = null, last = null } = rows[0] ?? {}
  return first === null || last === null
    ? []
    : Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
