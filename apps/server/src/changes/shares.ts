import type { ActorKind } from '@postern/contract/history/history'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/schema.ts'
import type { Actor } from './actor.ts'

/**
 * To whose share of the history a change counts: a person's, with all their tokens; that of all nodes and edges, as
 * more of them are quickly added; or the installation's. What it takes back counts to the one who made it.
 */
export async function shareOf(tx: Kysely<Database>, actor: Actor): Promise<string> {
  const { kind, id, personId, undoes, share } = actor
  if (share !== undefined) return share
  if (kind === 'node' || kind === 'edge') return 'machines'
  if (kind !== 'installation') return `person ${personId ?? id ?? 'unknown'}`
  if (undoes === undefined) return 'installation'
  const undone = await tx
    .selectFrom('changes')
    .select('share')
    .where('revision', '=', undoes)
    .executeTakeFirst()
  return undone?.share || 'installation'
}

/** What one actor has of the history. */
export interface Holding {
  share: string
  actor_kind: ActorKind | null
  actor_id: number | null
  entries: number
  bytes: number
}

export async function readHoldings(tx: Kysely<Database>): Promise<Holding[]> {
  const { rows } = await sql<Holding>`
    SELECT share, actor_kind, actor_id, count(*) AS entries, coalesce(sum(bytes), 0) AS bytes
    FROM changes WHERE folded IS NULL GROUP BY share, actor_kind, actor_id`.execute(tx)
  return rows
}

/**
 * How much each actor gives up of so much: the largest share first, never one that is smaller than what stays of
 * another, and in a share the actor with most of it first.
 */
export function divide(
  holdings: readonly Holding[],
  unit: 'entries' | 'bytes',
  excess: number,
): { holding: Holding; amount: number }[] {
  const shares = [...Map.groupBy(holdings, ({ share }) => share).values()]
  const totals = shares.map((all) => all.reduce((sum, holding) => sum + holding[unit], 0))
  return cut(totals, excess)
    .flatMap((amount, index) => {
      const all = shares[index] ?? []
      const sizes = all.map((holding) => holding[unit])
      return cut(sizes, amount).map((part, place) => ({ holding: all[place], amount: part }))
    })
    .flatMap(({ holding, amount }) => (holding && amount > 0 ? [{ holding, amount }] : []))
}

/** What is cut off of each size, so that the largest are level and together lose so much. */
function cut(sizes: readonly number[], excess: number): readonly number[] {
  if (excess <= 0) return sizes.map(() => 0)
  const sorted = [...sizes].sort((a, b) => b - a)
  let sum = 0
  for (const [index, size] of sorted.entries()) {
    sum += size
    const level = (sum - excess) / (index + 1)
    if (level >= (sorted[index + 1] ?? 0)) return sizes.map((each) => Math.max(0, Math.ceil(each - level)))
  }
  return sizes
}
