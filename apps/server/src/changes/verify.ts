import type { Kysely, Selectable } from 'kysely'
import type { ChangeRecordsTable, ChangesTable } from '../db/history-tables.ts'
import type { Database } from '../db/schema.ts'
import type { Head } from './chain.ts'
import { hashGone, hashHeader, hashRecords, NOTHING_GONE } from './hashes.ts'

type Row = Selectable<ChangesTable>
type RecordRow = Selectable<ChangeRecordsTable>

/** What the history was found to be. `brokenAt`: the first revision that is not as it was written. */
export type Verdict =
  | {
      isWhole: true
      entries: number
      /** Of these entries, how many have lost their fields. */
      stripped: number
      /** Changes of which only the number is kept. */
      folded: number
      head: Head
    }
  | { isWhole: false; brokenAt: number; why: string }

const broken = (brokenAt: number, why: string): Verdict => ({ isWhole: false, brokenAt, why })

/**
 * Computes every hash again. Entries of before the chain are not looked at. What was let go must be what the newest
 * entry says that let something go, so that nobody else can let go of anything.
 */
export async function verifyChain(db: Kysely<Database>): Promise<Verdict> {
  const chain = await db.selectFrom('change_chain').selectAll().executeTakeFirstOrThrow()
  let previous: Head = { revision: chain.start_revision, hash: chain.start_hash }
  const found = { entries: 0, stripped: 0, folded: 0 }
  let said = NOTHING_GONE
  let firstGone: number | undefined
  for (let page = await readPage(db, previous); page.length > 0; page = await readPage(db, previous))
    for (const { row, records } of page) {
      const why = whyBroken(row, records, previous.hash)
      if (why !== null || row.hash === null) return broken(row.revision, why ?? CHANGED)
      if (row.folded !== null || row.is_stripped === 1) firstGone ??= row.revision
      found.entries += row.folded === null ? 1 : 0
      found.folded += row.folded ?? 0
      found.stripped += row.folded === null ? row.is_stripped : 0
      said = row.gone_hash ?? said
      previous = { revision: row.revision, hash: row.hash }
    }
  if (previous.revision !== chain.head_revision || previous.hash !== chain.head_hash)
    return broken(previous.revision + 1, 'the newest entries are missing')
  if ((await hashGone(db)) !== said)
    return broken(
      firstGone ?? chain.start_revision + 1,
      'what went from here on is not what Postern let go to make room',
    )
  return { isWhole: true, ...found, head: previous }
}

const CHANGED = 'it, or the one before it, is not as it was written'

/** What is wrong with one row by itself, after the one with this hash. */
function whyBroken(row: Row, records: readonly RecordRow[], previous: string): string | null {
  if (row.folded !== null)
    return row.before_hash === previous && records.length === 0 && row.gone_hash === null ? null : CHANGED
  const isEntry = row.first_at === null && row.before_hash === null
  if (!isEntry || hashOf(row, previous) !== row.hash) return CHANGED
  if (row.is_stripped === 1) return records.length === 0 && row.record_count > 0 ? null : CHANGED
  if (records.length === 0 && row.record_count > 0) return 'its fields were removed'
  return hashRecords(records.map(recordOf)) === row.records_hash ? null : CHANGED
}

function hashOf(row: Row, previous: string): string {
  const header = {
    ...{ revision: row.revision, at: row.at, share: row.share, what: row.what, name: row.name },
    ...{ nodeId: row.node_id, domainId: row.domain_id, leftOut: row.left_out },
    ...{ recordCount: row.record_count, recordsHash: row.records_hash ?? '', goneHash: row.gone_hash },
    actor: {
      // One of before the chain has no hash either, so that it is found to be broken.
      kind: row.actor_kind ?? 'installation',
      id: row.actor_id,
      name: row.actor,
      address: row.address,
      ...(row.undoes !== null && { undoes: row.undoes }),
    },
  }
  return hashHeader(header, previous)
}

const recordOf = ({ record_id, node_id, domain_id, kind, name, before, after }: RecordRow) => ({
  ...{ kind, name, before, after, id: record_id, nodeId: node_id, domainId: domain_id },
})

const PAGE = 500

/** The rows after a revision, in order, with their records. */
async function readPage(db: Kysely<Database>, { revision: after }: Head) {
  const rows = await db
    .selectFrom('changes')
    .selectAll()
    .where('revision', '>', after)
    .orderBy('revision')
    .limit(PAGE)
    .execute()
  const last = rows.at(-1)?.revision ?? after
  const records = await db
    .selectFrom('change_records')
    .selectAll()
    .where('revision', '>', after)
    .where('revision', '<=', last)
    .orderBy('revision')
    .orderBy('position')
    .execute()
  const byRevision = Map.groupBy(records, ({ revision }) => revision)
  return rows.map((row) => ({ row, records: byRevision.get(row.revision) ?? [] }))
}
