import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from '../db/schema.ts'
import { foldEntries } from './folds.ts'
import { hashGone } from './hashes.ts'
import { divide, type Holding, readHoldings } from './shares.ts'

/** How much of the history is kept. */
export interface HistoryBounds {
  /** Changes. */
  entries: number
  /** Of all records of all changes. */
  bytes: number
  /** How often it is looked whether there are too many, in revisions. */
  lookEvery: number
}

export const HISTORY_BOUNDS: HistoryBounds = {
  entries: 100_000,
  bytes: 256 * 1024 * 1024,
  lookEvery: 1000,
}

/** What stays of the bytes when there are too many, so that it is seldom done. */
const KEPT_PART = 0.98

/**
 * Makes room for a new entry of this actor. The one with most of it loses the oldest first, so that nobody can push out
 * what others did: of too many bytes the fields, of too many entries all but their number.
 * @returns the hash over all that is gone, which the new entry must hold; null if nothing went
 */
export async function letGo(
  tx: Transaction<Database>,
  bounds: HistoryBounds,
  revision: number,
  next: Holding,
): Promise<string | null> {
  const { bytes } = await tx.selectFrom('change_chain').select('bytes').executeTakeFirstOrThrow()
  const isHeavy = bytes + next.bytes > bounds.bytes
  if (!isHeavy && revision % bounds.lookEvery !== 0) return null
  const holdings = [...(await readHoldings(tx)), next]
  const entries = holdings.reduce((sum, holding) => sum + holding.entries, 0)
  if (!isHeavy && entries <= bounds.entries) return null
  for (const { holding, amount } of divide(holdings, 'entries', entries - bounds.entries))
    await fold(tx, holding, amount)
  if (isHeavy) {
    const excess = bytes + next.bytes - bounds.bytes * KEPT_PART
    for (const { holding, amount } of divide(holdings, 'bytes', excess)) await strip(tx, holding, amount)
  }
  await sql`UPDATE change_chain SET bytes = (SELECT coalesce(sum(bytes), 0) FROM changes)`.execute(tx)
  return await hashGone(tx)
}

/** The oldest of one actor's entries. */
function selectOldest(tx: Kysely<Database>, { share, actor_kind, actor_id }: Holding) {
  return tx
    .selectFrom('changes')
    .select(['revision', 'bytes'])
    .where('folded', 'is', null)
    .where('share', '=', share)
    .where('actor_kind', 'is', actor_kind)
    .where('actor_id', 'is', actor_id)
    .orderBy('revision')
}

async function fold(tx: Transaction<Database>, of: Holding, count: number): Promise<void> {
  const rows = await selectOldest(tx, of).limit(count).execute()
  const revisions = rows.map(({ revision }) => revision)
  await foldEntries(tx, revisions)
}

const PAGE = 1000

/** Until so many bytes of this actor are free. */
async function strip(tx: Kysely<Database>, of: Holding, bytes: number): Promise<void> {
  let left = bytes
  while (left > 0) {
    const rows = await selectOldest(tx, of).where('bytes', '>', 0).limit(PAGE).execute()
    if (rows.length === 0) return
    const chosen: number[] = []
    for (const row of rows) {
      if (left <= 0) break
      chosen.push(row.revision)
      left -= row.bytes
    }
    await stripEntries(tx, chosen)
  }
}

/** Their headers stay, with the hash of their records. */
async function stripEntries(tx: Kysely<Database>, revisions: readonly number[]): Promise<void> {
  const list = sql`(SELECT value FROM json_each(${JSON.stringify(revisions)}))`
  await sql`DELETE FROM change_records WHERE revision IN ${list}`.execute(tx)
  await sql`UPDATE changes SET bytes = 0, is_stripped = 1 WHERE revision IN ${list}`.execute(tx)
}
