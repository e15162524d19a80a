import { createSingleFlight } from '@postern/host/tasks'
import type { Kysely } from 'kysely'
import { INSTALLATION } from '../../changes/actor.ts'
import { changeIfAny, Unchanged } from '../../changes/change.ts'
import type { ServiceRef } from '../../changes/live.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { readServices } from './records.ts'
import { deleteService } from './services.ts'

/** How many end in one change; the rest follow at once. */
const BATCH = 200
/** It looks this often at least, because clocks are set, and a timer of Node holds 24.8 days at most. */
const LOOK_MS = 30_000

/** Deletes services whose end has come. */
export interface Ending {
  /** Ends now what is due, and waits for the next. */
  run(): Promise<void>
}

/** Runs until the context ends. Resolves when everything that is overdue is gone. */
export async function startEnding(context: Context): Promise<Ending> {
  let timer: NodeJS.Timeout | undefined
  const runs = createSingleFlight(async () => {
    clearTimeout(timer)
    timer = setTimeout(runs.trigger, await runOnce(context)).unref()
  })
  const stop = context.bus.listen((hint) => {
    if (hint.kind === 'changed' && hint.touched.services) runs.trigger()
  })
  const run = () => {
    runs.trigger()
    return runs.idle()
  }
  context.onDispose(async () => {
    stop()
    runs.close()
    await runs.idle()
    clearTimeout(timer)
  })
  await run()
  return { run }
}

/** @returns in how many ms to look again */
async function runOnce(context: Context): Promise<number> {
  try {
    while (await endSome(context));
    const next = await findNextEnd(context.db)
    return next === undefined ? LOOK_MS : Math.min(Math.max(next - context.clock(), 0), LOOK_MS)
  } catch (err) {
    context.log.error({ err }, 'services whose time has come were not deleted')
    return LOOK_MS
  }
}

/** @returns whether there were any */
async function endSome(context: Context): Promise<boolean> {
  const [next] = await listDue(context.db, context.clock(), 1)
  if (next === undefined) return false
  const share = await findShare(context.db, next)
  const actor = { ...INSTALLATION, share }
  const ended = await changeIfAny(context, { actor, what: 'service ended' }, async (tx) => {
    const due = await listDue(tx, context.clock(), BATCH)
    const shares = await Promise.all(due.map((id) => findShare(tx, id)))
    const rows = await readServices(
      tx,
      due.filter((_, index) => shares[index] === share),
    )
    const [first] = rows
    if (!first) throw new Unchanged<ServiceRef[]>([])
    const domains: number[] = []
    for (const row of rows) domains.push(...(await deleteService(tx, row)))
    const services = rows.map(({ id, node_id }) => ({ id, nodeId: node_id }))
    const nodes = [...new Set(services.map(({ nodeId }) => nodeId))]
    const note = rows.length === 1 ? { name: first.name } : { what: `${rows.length} services ended` }
    return { value: services, touched: { services, nodes, domains }, ...note }
  })
  await context.counts.remove(ended.map(({ id }) => id))
  return ended.length > 0
}

/** That of who changed the service last: its end counts to them in the history. */
async function findShare(db: Kysely<Database>, id: number): Promise<string> {
  const last = await db
    .selectFrom('change_records')
    .innerJoin('changes', 'changes.revision', 'change_records.revision')
    .select('share')
    .where('kind', '=', 'service')
    .where('record_id', '=', id)
    .orderBy('changes.revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.share || 'ends'
}

async function listDue(db: Kysely<Database>, now: number, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom('services')
    .select('id')
    .where('ends_at', '<=', new Date(now).toISOString())
    .orderBy('ends_at')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** In ms since the epoch. */
async function findNextEnd(db: Kysely<Database>): Promise<number | undefined> {
  const row = await db
    .selectFrom('services')
    .select('ends_at')
    .where('ends_at', 'is not', null)
    .orderBy('ends_at')
    .limit(1)
    .executeTakeFirst()
  return row?.ends_at ? Date.parse(row.ends_at) : undefined
}
