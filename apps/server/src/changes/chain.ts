import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../db/schema.ts'
import type { Actor } from './actor.ts'
import { type Header, hashHeader, hashRecords } from './hashes.ts'
import { type HistoryBounds, letGo } from './letting-go.ts'
import type { KeptRecords } from './records.ts'
import { shareOf } from './shares.ts'

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

/** Adds an entry to the end of the chain, and lets go of what is too much. */
export async function appendEntry(
  tx: Transaction<Database>,
  { kept, ...entry }: Entry,
  bounds: HistoryBounds,
): Promise<void> {
  const { revision, at, actor, what, name, nodeId, domainId } = entry
  const share = await shareOf(tx, actor)
  const holding = { share, actor_kind: actor.kind, actor_id: actor.id, entries: 1, bytes: kept.bytes }
  const goneHash = await letGo(tx, bounds, revision, holding)
  const chain = await tx.selectFrom('change_chain').selectAll().executeTakeFirstOrThrow()
  const counts = { leftOut: kept.leftOut, recordCount: kept.records.length }
  const recordsHash = hashRecords(kept.records)
  const header: Header = { ...entry, share, ...counts, recordsHash, goneHash }
  const hash = hashHeader(header, chain.head_hash)
  await tx
    .insertInto('changes')
    .values({
      ...{ revision, at, what, name, hash, actor: actor.name, actor_kind: actor.kind, actor_id: actor.id },
      ...{ share, address: actor.address, undoes: actor.undoes ?? null },
      ...{ node_id: nodeId, domain_id: domainId, left_out: kept.leftOut, bytes: kept.bytes },
      ...{ record_count: counts.recordCount, records_hash: recordsHash, gone_hash: goneHash },
    })
    .execute()
  const bytes = chain.bytes + kept.bytes
  await tx.updateTable('change_chain').set({ head_revision: revision, head_hash: hash, bytes }).execute()
}

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
