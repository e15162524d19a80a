import { createHash } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from '../db/schema.ts'
import type { Actor } from './actor.ts'
import type { KeptRecords } from './records.ts'

/** How many changes are kept. */
const KEPT_CHANGES = 100_000
/** Of all records of all changes, in JSON; the oldest go first. */
const KEPT_BYTES = 256 * 1024 * 1024
/** How often it is looked whether there are too many, in revisions. */
const LOOK_EVERY = 1000

/** One change as it is chained: everything that the history shows of it. */
export interface Entry {
  revision: number
  at: string
  actor: Actor
  what: string
  name: string | null
  nodeId: number | null
  domainId: number | null
  kept: KeptRecords
}

/**
 * SHA-256 in hex over the JSON of an entry and the hash of the one before. The order of the fields is the one here, and
 * the records are in their order with the very texts that are stored.
 */
export function hashEntry(entry: Entry, previous: string): string {
  const { revision, at, actor, what, name, nodeId, domainId, kept } = entry
  const records = kept.records.map((record) => [
    record.kind,
    record.id,
    record.nodeId,
    record.domainId,
    record.name,
    record.before,
    record.after,
  ])
  const by = [actor.kind, actor.id, actor.name, actor.address, actor.undoes ?? null]
  const text = JSON.stringify([
    revision,
    at,
    by,
    what,
    name,
    nodeId,
    domainId,
    kept.leftOut,
    records,
    previous,
  ])
  return createHash('sha256').update(text).digest('hex')
}

/** Adds an entry to the end of the chain, and lets go of the oldest ones. */
export async function appendEntry(tx: Transaction<Database>, entry: Entry): Promise<void> {
  const chain = await tx.selectFrom('change_chain').selectAll().executeTakeFirstOrThrow()
  const hash = hashEntry(entry, chain.head_hash)
  const { revision, at, actor, what, name, nodeId, domainId, kept } = entry
  await tx
    .insertInto('changes')
    .values({
      ...{ revision, at, what, name, hash, actor: actor.name, actor_kind: actor.kind, actor_id: actor.id },
      ...{ address: actor.address, undoes: actor.undoes ?? null, node_id: nodeId, domain_id: domainId },
      ...{ left_out: kept.leftOut, bytes: kept.bytes },
    })
    .execute()
  const bytes = chain.bytes + kept.bytes
  await tx.updateTable('change_chain').set({ head_revision: revision, head_hash: hash, bytes }).execute()
  if (bytes > KEPT_BYTES) await dropUntil(tx, await findBytesBound(tx, bytes - KEPT_BYTES * 0.9))
  if (revision % LOOK_EVERY === 0) await dropUntil(tx, revision - KEPT_CHANGES)
}

/** The oldest revisions that have so many bytes together. */
async function findBytesBound(tx: Transaction<Database>, bytes: number): Promise<number> {
  let left = bytes
  let last = 0
  const rows = await tx
    .selectFrom('changes')
    .select(['revision', 'bytes'])
    .orderBy('revision')
    .limit(KEPT_CHANGES)
    .execute()
  for (const row of rows) {
    if (left <= 0) break
    left -= row.bytes
    last = row.revision
  }
  return last
}

/** Exported for tests. The chain then begins after the last one that went. */
export async function dropUntil(tx: Transaction<Database>, revision: number): Promise<void> {
  const last = await tx
    .selectFrom('changes')
    .select(['revision', 'hash'])
    .where('revision', '<=', revision)
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!last) return
  await tx.deleteFrom('change_records').where('revision', '<=', last.revision).execute()
  await tx.deleteFrom('changes').where('revision', '<=', last.revision).execute()
  const bytes = sql<number>`(SELECT coalesce(sum(bytes), 0) FROM changes)`
  await tx
    .updateTable('change_chain')
    .set({ bytes, ...(last.hash !== null && { start_revision: last.revision, start_hash: last.hash }) })
    .execute()
}

/** What the history was found to be. `brokenAt`: the first revision that is not as it was written. */
export type Verdict =
  | { isWhole: true; entries: number; head: Head }
  | { isWhole: false; brokenAt: number; why: string }
export interface Head {
  revision: number
  hash: string
}

/** The newest entry; its hash stands for all that are kept. */
export async function readHead(db: Kysely<Database>): Promise<Head> {
  const { head_revision, head_hash } = await db
    .selectFrom('change_chain')
    .selectAll()
    .executeTakeFirstOrThrow()
  return { revision: head_revision, hash: head_hash }
}

/** Computes every hash again. Entries of before the chain are not looked at. */
export async function verifyChain(db: Kysely<Database>): Promise<Verdict> {
  const chain = await db.selectFrom('change_chain').selectAll().executeTakeFirstOrThrow()
  let previous = { revision: chain.start_revision, hash: chain.start_hash }
  let entries = 0
  for (;;) {
    const page = await readEntries(db, previous.revision)
    for (const { entry, hash } of page) {
      if (hash === null || hashEntry(entry, previous.hash) !== hash)
        return broken(entry.revision, 'it, or the one before it, is not as it was written')
      previous = { revision: entry.revision, hash }
      entries++
    }
    if (page.length === 0) break
  }
  if (previous.revision !== chain.head_revision || previous.hash !== chain.head_hash)
    return broken(previous.revision + 1, 'the newest entries are missing')
  return { isWhole: true, entries, head: previous }
}

const broken = (brokenAt: number, why: string): Verdict => ({ isWhole: false, brokenAt, why })

const PAGE = 500

/** The entries after a revision, in order, with the hash that is stored of each. */
async function readEntries(
  db: Kysely<Database>,
  after: number,
): Promise<{ entry: Entry; hash: string | null }[]> {
  const changes = await db
    .selectFrom('changes')
    .selectAll()
    .where('revision', '>', after)
    .orderBy('revision')
    .limit(PAGE)
    .execute()
  const last = changes.at(-1)?.revision ?? after
  const records = await db
    .selectFrom('change_records')
    .selectAll()
    .where('revision', '>', after)
    .where('revision', '<=', last)
    .orderBy('revision')
    .orderBy('position')
    .execute()
  const byRevision = Map.groupBy(records, ({ revision }) => revision)
  return changes.map((row) => ({
    hash: row.hash,
    entry: {
      ...{ revision: row.revision, at: row.at, what: row.what, name: row.name },
      ...{ nodeId: row.node_id, domainId: row.domain_id },
      // Of before the chain, it has no hash either, so that it is found to be broken.
      actor: {
        kind: row.actor_kind ?? 'installation',
        id: row.actor_id,
        name: row.actor,
        address: row.address,
        ...(row.undoes !== null && { undoes: row.undoes }),
      },
      kept: {
        bytes: row.bytes,
        leftOut: row.left_out,
        records: (byRevision.get(row.revision) ?? []).map(
          ({ record_id, node_id, domain_id, kind, name, before, after }) => ({
            ...{ kind, name, before, after, id: record_id, nodeId: node_id, domainId: domain_id },
          }),
        ),
      },
    },
  }))
}
