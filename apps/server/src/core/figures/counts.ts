import type { EdgeMessage, ServiceCount } from '@postern/contract/edge'
import { createQueue } from '@postern/host/tasks'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { LiveDatabase } from '../../db/live-schema.ts'
import type { Database } from '../../db/schema.ts'
import { addTo, type Count } from './pack.ts'
import { MINUTE } from './steps.ts'

export type CountsMessage = Extract<EdgeMessage, { type: 'counts' }>

/** Takes what edges counted into the database of figures, each count once. */
export interface Counts {
  /** @returns the number up to which counts of this ledger are stored now */
  receive(edgeId: number, message: CountsMessage): Promise<number>
  /**
   * Forgets all that services carried which are no more. What stays nobody sees, and age takes it away.
   * @param services or nodes by their key
   */
  remove(services: readonly number[]): Promise<void>
  close(): Promise<void>
}

interface Parts {
  db: Kysely<Database>
  liveDb: Kysely<LiveDatabase>
  log: Logger
  clock(): number
}

/** Services that are forgotten with one statement. */
const AT_ONCE = 200

export function createCounts({ db, liveDb, log, clock }: Parts): Counts {
  // A service that is deleted meanwhile would come back: one after the other.
  const queue = createQueue()
  return {
    receive: (edgeId, message) =>
      queue.run(async () => {
        const counts = withNodes(message.counts, await findNodes(db, message.counts))
        // A clock that is ahead must not make figures that nobody sees and nothing clears away.
        const minute = Math.min(message.minute, Math.floor(clock() / MINUTE))
        return await liveDb.transaction().execute(async (tx) => {
          const { ledger, seq } = message
          const stored = await findSeq(tx, edgeId, ledger)
          if (seq <= stored) return stored
          await store(tx, minute, counts)
          await writeSeq(tx, edgeId, ledger, seq)
          return seq
        })
      }),
    remove: (services) =>
      queue
        .run(async () => {
          for (let start = 0; start < services.length; start += AT_ONCE)
            await forget(liveDb, services.slice(start, start + AT_ONCE))
        })
        .catch((err: unknown) => log.warn({ err }, 'the figures of deleted services could not be removed')),
    close: () => queue.run(async () => undefined),
  }
}

/** Under this key a node has rows like a service: all that its services carried, also those that are no more. */
export const nodeKey = (node: number) => -node

/** Service → its node, of those that there are. */
async function findNodes(
  db: Kysely<Database>,
  counts: readonly ServiceCount[],
): Promise<ReadonlyMap<number, number>> {
  if (counts.length === 0) return new Map()
  const ids = counts.map(([service]) => service)
  const rows = await db.selectFrom('services').select(['id', 'node_id']).where('id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.id, row.node_id]))
}

/** The counts of services that there are, and what they make for each node. */
function withNodes(
  counts: readonly ServiceCount[],
  nodes: ReadonlyMap<number, number>,
): [key: number, count: Count][] {
  const all = new Map<number, Count>()
  for (const [service, ...count] of counts) {
    const node = nodes.get(service)
    if (node !== undefined) for (const key of [service, nodeKey(node)]) addTo(all, key, count)
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
  const rows = counts.map(([service, [connections, received, sent]]) => ({
    service,
    minute,
    connections,
    received,
    sent,
  }))
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
      }),
    )
    .execute()
}

async function forget(liveDb: Kysely<LiveDatabase>, services: readonly number[]): Promise<void> {
  await liveDb.transaction().execute(async (tx) => {
    await tx.deleteFrom('counts').where('service', 'in', services).execute()
    // By the whole key: all rows of other services lie between theirs.
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

/** The hours, or days, from the first to the last of a table: some dozens. */
export async function listTimes(db: Kysely<LiveDatabase>, table: 'minutes' | 'hours'): Promise<number[]> {
  const column = sql.raw(table === 'minutes' ? 'hour' : 'day')
  // Each by itself, or SQLite would read the whole table.
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
