import { type Kysely, sql, type Transaction } from 'kysely'
import { ConflictError } from '../core/errors.ts'
import type { Database, StatedTables, StatedUpdate } from '../db/schema.ts'
import type { Actor } from './actor.ts'
import { appendEntry } from './chain.ts'
import { HISTORY_BOUNDS, type HistoryBounds } from './letting-go.ts'
import type { LiveBus, Touched } from './live.ts'
import { type ChangeRecord, endRecording, parseRecord, startRecording, writeRecords } from './records.ts'
import { whyNotUndone } from './undoable.ts'
import { letsSomebodyIn } from './ways-in.ts'

export interface Changer {
  readonly db: Kysely<Database>
  readonly bus: LiveBus
  readonly clock: () => number
  /** How much of the history is kept, where it is not the usual. */
  readonly historyBounds?: HistoryBounds
}

/** Who did what, like `node updated`. */
export interface ChangeNote {
  actor: Actor
  what: string
}

export interface Changed<T> {
  value: T
  touched: Touched
  /** The name of the changed thing; absent where the note says it all. */
  name?: string
  /** Replaces the note's name when only the work knows it. */
  what?: string
  /** What was changed beside the rows that the database records by itself. */
  records?: readonly ChangeRecord[]
}

/** Thrown by work that finds nothing to change, so that no revision is made. */
export class Unchanged<T> extends Error {
  readonly value: T
  constructor(value: T) {
    super('nothing changed')
    this.value = value
  }
}

/**
 * Runs `work` and records the change in one transaction, then notifies the bus. Inside, only `tx` may be used: there
 * is one connection, and `db` would wait for this transaction forever.
 * @throws UnauthenticatedError, ForbiddenError when the actor may not do this any more, or must be asked once more
 */
export async function change<T>(
  context: Changer,
  note: ChangeNote,
  work: (tx: Transaction<Database>, revision: number) => Promise<Changed<T>>,
): Promise<T> {
  const { revision, changed } = await context.db.transaction().execute(async (tx) => {
    const revision = await takeRevision(tx)
    await note.actor.requireRights?.(tx)
    await startRecording(tx)
    const changed = await work(tx, revision)
    const what = whatOf(note, changed)
    const at = new Date(context.clock()).toISOString()
    const bounds = context.historyBounds ?? HISTORY_BOUNDS
    await recordChange(tx, { revision, at, actor: note.actor, what }, changed, bounds)
    return { revision, changed }
  })
  context.bus.emit({ kind: 'changed', revision, touched: changed.touched })
  return changed.value
}

/** The same for work that may throw `Unchanged`. */
export async function changeIfAny<T>(
  context: Changer,
  note: ChangeNote,
  work: (tx: Transaction<Database>, revision: number) => Promise<Changed<T>>,
): Promise<T> {
  try {
    return await change(context, note, work)
  } catch (error) {
    if (!(error instanceof Unchanged)) throw error
    // Only this work throws it, with its own value.
    return error.value as T
  }
}

/** In a few words, also that it takes another change back. */
function whatOf({ actor: { undoes }, what }: ChangeNote, changed: Pick<Changed<unknown>, 'what'>): string {
  const done = changed.what ?? what
  return undoes === undefined ? done : `undid revision ${undoes}: ${done}`
}

async function recordChange(
  tx: Transaction<Database>,
  note: ChangeNote & { revision: number; at: string },
  { name, touched, records = [] }: Omit<Changed<unknown>, 'value'>,
  bounds: HistoryBounds,
): Promise<void> {
  const { nodes = [], services = [], domains = [] } = touched
  const shownAt = { nodeId: services[0]?.nodeId ?? nodes[0] ?? null, domainId: domains[0] ?? null }
  const kept = await endRecording(tx, records)
  const { actor } = note
  const whole = kept.records.map(parseRecord)
  if (await letsSomebodyIn(tx, whole, actor)) await actor.requireRecent?.(tx)
  await writeRecords(tx, note.revision, kept)
  await appendEntry(tx, { ...note, name: name ?? null, ...shownAt, kept }, bounds)
  await notePending(tx, note, whole, kept.leftOut)
}

/** How many changes of one person, or one token, may wait. */
const MOST_PENDING = 10

/** @throws ConflictError for what could not be taken back, so that it is not done either */
async function notePending(
  tx: Transaction<Database>,
  { actor, revision, at }: ChangeNote & { revision: number; at: string },
  records: readonly ChangeRecord[],
  leftOut: number,
): Promise<void> {
  if (actor.takeBackIn === undefined) return
  const why = whyNotUndone(actor.kind, records, leftOut)
  if (why !== null) throw new ConflictError(why)
  const { count } = await tx
    .selectFrom('pending_changes')
    .innerJoin('changes', 'changes.revision', 'pending_changes.revision')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('actor_kind', '=', actor.kind)
    .where('actor_id', '=', actor.id)
    .where('problem', 'is', null)
    .executeTakeFirstOrThrow()
  if (count >= MOST_PENDING)
    throw new ConflictError(`${MOST_PENDING} of your changes wait to be kept. Keep some of them first.`)
  const due_at = Date.parse(at) + actor.takeBackIn
  await tx.insertInto('pending_changes').values({ revision, due_at, problem: null }).execute()
}

/** The row stays locked until the commit, so that a later revision is never seen before an earlier one. */
async function takeRevision(tx: Transaction<Database>): Promise<number> {
  const { latest } = await tx
    .updateTable('revisions')
    .set(({ eb }) => ({ latest: eb('latest', '+', 1) }))
    .returning('latest')
    .executeTakeFirstOrThrow()
  return latest
}

/** The newest committed revision; 0 before the first change. */
export async function getRevision(db: Kysely<Database>): Promise<number> {
  const { latest } = await db.selectFrom('revisions').select('latest').executeTakeFirstOrThrow()
  return latest
}

/** The time of an update, later than the previous one even within a millisecond, so that a stale form is noticed. */
export function nextTime(now: number, previous?: string): string {
  const after = previous === undefined ? 0 : Date.parse(previous) + 1
  return new Date(Math.max(now, after)).toISOString()
}

/** Updates one row that reaches the edges, in the change of this revision. */
export async function updateStated<T extends keyof StatedTables>(
  tx: Transaction<Database>,
  table: T,
  id: number,
  revision: number,
  values: StatedUpdate<T>,
): Promise<void> {
  // Elsewhere the types forbid updates of these tables, so that no row changes without a revision.
  const writable = tx as unknown as Kysely<Record<keyof StatedTables, Record<string, unknown>>>
  await writable
    .updateTable<keyof StatedTables>(table)
    .set({ ...values, revision })
    .where('id', '=', id)
    .execute()
}

/**
 * Deletes rows that reach the edges, and notes that this change did. A test keeps every other statement from it.
 * @param which the values of columns that the rows have; empty for all rows
 */
export async function removeStated<T extends keyof StatedTables>(
  tx: Transaction<Database>,
  table: T,
  which: { [C in keyof StatedTables[T] & ('id' | 'node_id' | 'domain_id')]?: number },
): Promise<void> {
  let rows = tx.deleteFrom<keyof StatedTables>(table)
  for (const [column, value] of Object.entries(which)) rows = rows.where(sql.ref(column), '=', value)
  const { numDeletedRows } = await rows.executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) return
  await tx
    .updateTable('revisions')
    .set(({ ref }) => ({ removed: ref('latest') }))
    .execute()
}
