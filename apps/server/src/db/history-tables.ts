import type { ActorKind } from '@postern/contract/history/history'
import type { Generated } from 'kysely'
import type { Fixed, Flag, Json, Time } from './columns.ts'

export interface ChangesTable {
  revision: Fixed<number>
  at: Fixed<Time>
  /** The name of who or what made it, then. */
  actor: Fixed<string>
  what: Fixed<string>
  /** The name that the changed thing had then; null where `what` says it all. */
  name: Fixed<string | null>
  /** The node on whose page it is shown; it may have been deleted since. */
  node_id: Fixed<number | null>
  domain_id: Fixed<number | null>
  /** Null for a change of before there were kinds. */
  actor_kind: Fixed<ActorKind | null>
  actor_id: Fixed<number | null>
  /** The revision that this change took back. */
  undoes: Fixed<number | null>
  /** From which it was asked for. */
  address: Fixed<string | null>
  /** How many records it changed beyond those that are kept. */
  left_out: Fixed<number>
  /** In JSON, about: for the bound of all. */
  bytes: Fixed<number>
  /** To whose share of all that is kept it counts; '' before there were shares. */
  share: Fixed<string>
  /** Of the records that were kept. */
  record_count: Fixed<number>
  /** SHA-256 in hex over these records; null before the chain, and where `folded` is set. */
  records_hash: Fixed<string | null>
  /** Of an entry with which something was let go: the hash over all that had gone then. */
  gone_hash: Fixed<string | null>
  /** Whether its records were let go. */
  is_stripped: Generated<Flag>
  /** It stands for so many entries that were let go, of which it has the last one's revision, time and hash. */
  folded: Generated<number | null>
  /** With `folded`: the time of the first of them, and the hash of the entry before them. */
  first_at: Generated<Time | null>
  before_hash: Generated<string | null>
  /** SHA-256 in hex over this entry and the previous hash; null for an entry of before the chain. */
  hash: Fixed<string | null>
}

/** What became of one record in a change. */
export interface ChangeRecordsTable {
  revision: Fixed<number>
  /** From 0. */
  position: Fixed<number>
  /** Like `service`. */
  kind: Fixed<string>
  record_id: Fixed<number | null>
  node_id: Fixed<number | null>
  domain_id: Fixed<number | null>
  /** The name that it had then. */
  name: Fixed<string>
  /** Its fields as they were: all of a deleted one, those that differ of a changed one, null for a new one. */
  before: Fixed<Json | null>
  /** As they are then; null for a deleted one. */
  after: Fixed<Json | null>
}

/** The one row about the chain of hashes. */
export interface ChangeChainTable {
  /** The chain begins after this revision, with this hash. */
  start_revision: number
  start_hash: string
  /** Its newest entry. */
  head_revision: number
  head_hash: string
  /** Of all entries. */
  bytes: number
}

/** Changes that are taken back when their time comes, unless a person keeps them. */
export interface PendingChangesTable {
  revision: Fixed<number>
  /** ms since the epoch. */
  due_at: Fixed<number>
  /** Why it could not be taken back. */
  problem: string | null
}
