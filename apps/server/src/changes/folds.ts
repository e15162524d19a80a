import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import type { ChangesTable } from '../db/history-tables.ts'
import type { Database } from '../db/schema.ts'

type Row = Pick<
  Selectable<ChangesTable>,
  'revision' | 'at' | 'share' | 'actor' | 'actor_kind' | 'actor_id' | 'hash' | 'folded' | 'first_at'
> & {
  /** The hash of the entry before; null at the beginning of the chain. */
  previous: string | null
  /** In the chain, from any number. */
  place: number
}

/**
 * Lets go of entries: each run of them becomes one that says how many there were, with the hashes before and after. The
 * oldest of the chain leave none; it begins after them.
 * @param revisions may include entries older than the chain
 */
export async function foldEntries(tx: Transaction<Database>, revisions: readonly number[]): Promise<void> {
  const list = sql`(SELECT value FROM json_each(${JSON.stringify(revisions)}))`
  const { start_revision } = await tx
    .selectFrom('change_chain')
    .select('start_revision')
    .executeTakeFirstOrThrow()
  const rows = await findRows(tx, list, start_revision)
  const gone = JSON.stringify([...revisions, ...rows.map(({ revision }) => revision)])
  for (const table of ['change_records', 'changes', 'pending_changes'])
    await sql`DELETE FROM ${sql.table(table)} WHERE revision IN (SELECT value FROM json_each(${gone}))`.execute(
      tx,
    )
  for (const run of runsOf(rows)) {
    const [first, last] = [run[0], run.at(-1)]
    if (!first || last?.hash == null) continue
    if (first.previous === null)
      await tx
        .updateTable('change_chain')
        .set({ start_revision: last.revision, start_hash: last.hash })
        .execute()
    else
      await tx
        .insertInto('changes')
        .values(foldOf(run, first, last, first.previous))
        .execute()
  }
}

/** Those that go, in the chain, and the folds beside them, which they join. */
async function findRows(tx: Transaction<Database>, list: RawBuilder<unknown>, start: number): Promise<Row[]> {
  const inChain = sql`SELECT revision FROM changes WHERE revision > ${start}`
  const { rows } = await sql<Row>`
    WITH bounds AS (SELECT min(value) AS first, max(value) AS last FROM ${list} WHERE value > ${start}),
    near AS (
      SELECT revision, folded IS NOT NULL AS is_fold, revision IN ${list} AS goes,
        row_number() OVER chain AS place, lag(revision) OVER chain AS before
      FROM changes WHERE revision BETWEEN
        coalesce((${inChain} AND revision < (SELECT first FROM bounds) ORDER BY revision DESC LIMIT 1), ${start} + 1)
        AND coalesce((${inChain} AND revision > (SELECT last FROM bounds) ORDER BY revision LIMIT 1), (SELECT last FROM bounds))
      WINDOW chain AS (ORDER BY revision)
    ),
    beside AS (SELECT *, lag(goes) OVER (ORDER BY place) AS follows, lead(goes) OVER (ORDER BY place) AS precedes FROM near)
    SELECT own.revision, own.at, own.share, own.actor, own.actor_kind, own.actor_id, own.hash, own.folded, own.first_at, place,
      coalesce(own.before_hash, (SELECT hash FROM changes WHERE revision = beside.before)) AS previous
    FROM beside JOIN changes AS own ON own.revision = beside.revision
    WHERE goes OR (is_fold AND (follows OR precedes)) ORDER BY place`.execute(tx)
  return rows
}

/** Rows that are beside each other in the chain. */
function runsOf(rows: readonly Row[]): Row[][] {
  const runs: Row[][] = []
  for (const row of rows) {
    const run = runs.at(-1)
    if (run?.at(-1)?.place === row.place - 1) run.push(row)
    else runs.push([row])
  }
  return runs
}

function foldOf(run: readonly Row[], first: Row, last: Row, before_hash: string) {
  const folded = run.reduce((sum, row) => sum + (row.folded ?? 1), 0)
  const first_at = first.first_at ?? first.at
  const { revision, at, hash } = last
  const isOf = ({ actor, actor_kind, actor_id }: Row) =>
    actor === first.actor && actor_kind === first.actor_kind && actor_id === first.actor_id
  const { actor, actor_kind, actor_id, share } = first
  const by = run.every(isOf)
    ? { actor, actor_kind, actor_id, share }
    : { actor: actor.endsWith(OTHERS) ? actor : actor + OTHERS, actor_kind: null, actor_id: null, share: '' }
  return {
    ...{ revision, at, hash, ...by, what: wordsOf(folded, first_at, at), name: null },
    ...{ node_id: null, domain_id: null, undoes: null, address: null, left_out: 0, bytes: 0 },
    ...{ record_count: 0, records_hash: null, gone_hash: null, is_stripped: 0 as const },
    ...{ folded, first_at, before_hash },
  }
}

const OTHERS = ' and others'

function wordsOf(count: number, from: string, to: string): string {
  const [first, last] = [from.slice(0, 10), to.slice(0, 10)]
  const when = first === last ? `of ${first}` : `from ${first} to ${last}`
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'change' : 'changes'} ${when}, no longer kept`
}
