import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/schema.ts'
import type { Actor } from './actor.ts'
import type { KeptRecords } from './records.ts'

/** One change as it is chained: everything that the history shows of it, its records by their hash. */
export interface Header {
  revision: number
  at: string
  actor: Actor
  share: string
  what: string
  name: string | null
  nodeId: number | null
  domainId: number | null
  leftOut: number
  recordCount: number
  recordsHash: string
  /** What was let go in this change, with all that went before. */
  goneHash: string | null
}

/** SHA-256 in hex. */
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Over the JSON of a header and the hash of the entry before. The order of the fields is the one here. */
export function hashHeader(header: Header, previous: string): string {
  const { revision, at, actor, share, what, name, nodeId, domainId } = header
  const by = [actor.kind, actor.id, actor.name, actor.address, actor.undoes ?? null, share]
  const of = [header.leftOut, header.recordCount, header.recordsHash, header.goneHash]
  return sha256(JSON.stringify([revision, at, by, what, name, nodeId, domainId, of, previous]))
}

/** Over the records of one change, in their order, with the very texts that are stored. */
export function hashRecords(records: KeptRecords['records']): string {
  const all = records.map((record) => [
    record.kind,
    record.id,
    record.nodeId,
    record.domainId,
    record.name,
    record.before,
    record.after,
  ])
  return sha256(JSON.stringify(all))
}

/**
 * SHA-256 in hex over the entries of the chain that have no fields any more and those that stand for many: over the
 * revisions of the first, and all that is written of the others.
 */
export async function hashGone(db: Kysely<Database>): Promise<string> {
  const inChain = sql`revision > (SELECT start_revision FROM change_chain)`
  const { rows } = await sql<{ stripped: string; folds: string }>`SELECT
    (SELECT json_group_array(revision) FROM (SELECT revision FROM changes
      WHERE ${IS_GONE} AND ${inChain} AND folded IS NULL ORDER BY revision)) AS stripped,
    (SELECT json_group_array(json(fold)) FROM (SELECT json_array(revision, at, actor, actor_kind, actor_id, share, what,
      name, node_id, domain_id, address, undoes, left_out, folded, first_at, before_hash, hash) AS fold FROM changes
      WHERE ${IS_GONE} AND ${inChain} AND folded IS NOT NULL ORDER BY revision)) AS folds`.execute(db)
  return sha256(`${rows[0]?.stripped} ${rows[0]?.folds}`)
}

/** As the index of them has it. */
const IS_GONE = sql`(folded IS NOT NULL OR is_stripped = 1)`

/** The hash for a history that has lost nothing. */
export const NOTHING_GONE = sha256('[] []')
