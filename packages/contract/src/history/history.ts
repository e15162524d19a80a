import * as z from 'zod/mini'
import { domainName, idText, instant, time } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { count, searchText } from '../lists.ts'

/**
 * Who or what made a change. `token`: a program with a token of a person. `installation`: nobody asked, like for a
 * renewal.
 */
export const ActorKind = z.enum(['person', 'token', 'node', 'edge', 'installation'])
export type ActorKind = z.infer<typeof ActorKind>

/** The fields of a record, by the names of its form; of a secret only `set`, or `changed`. */
const Fields = z.record(z.string(), z.unknown())
export type Fields = z.infer<typeof Fields>

/**
 * What became of one record. Of one that stays, only the fields that differ; of lists whose entries are records of their
 * own (who may sign in, what a person is limited to), only what left in `before` and what came in `after`.
 */
export const HistoryRecord = z.object({
  /** Like `service`. */
  kind: z.string(),
  /** Null for what has none, like a setting. */
  id: z.nullable(z.number()),
  nodeId: z.nullable(z.number()),
  domainId: z.nullable(z.number()),
  /** As it was called then. */
  name: z.string(),
  /** Null for a new one. */
  before: z.nullable(Fields),
  /** Null for a deleted one. */
  after: z.nullable(Fields),
  /** Its fields are too long for a list; the change itself has them. */
  isCut: z.boolean(),
})
export type HistoryRecord = z.infer<typeof HistoryRecord>

export const HistoryEntry = z.object({
  revision: z.number(),
  at: time,
  /** Their name then. `kind` is null for a change of before it was kept. */
  actor: z.object({ kind: z.nullable(ActorKind), id: z.nullable(z.number()), name: z.string() }),
  /** From which it was asked for; null where nobody asked, or for people who are limited to a part. */
  address: z.nullable(z.string()),
  /** The revision that this change took back, and the newest one that took this back. */
  undoes: z.nullable(z.number()),
  undoneBy: z.nullable(z.number()),
  /** In a few words, like `service updated`. */
  what: z.string(),
  /** The name that the changed thing had then; null where `what` says it all. */
  name: z.nullable(z.string()),
  /** A few of them in a list. */
  records: z.array(HistoryRecord),
  /** How many there are. */
  total: z.number(),
})
export type HistoryEntry = z.infer<typeof HistoryEntry>

/** One change as a whole. */
export const WholeChange = z.extend(HistoryEntry, {
  /** Why it cannot be taken back, in a sentence; null when it can, if nothing has changed since. */
  whyNotUndone: z.nullable(z.string()),
})
export type WholeChange = z.infer<typeof WholeChange>

/** A change that is taken back soon, unless a person keeps it. */
export const PendingChange = z.object({
  revision: z.number(),
  what: z.string(),
  name: z.nullable(z.string()),
  actor: z.string(),
  /** When it is taken back. */
  dueAt: time,
  /** How long that is from now, as the two clocks may differ. */
  leftMs: z.number(),
  /** Why it could not be taken back; null before its time. */
  problem: z.nullable(z.string()),
})
export type PendingChange = z.infer<typeof PendingChange>
export const PendingChanges = z.object({ data: z.array(PendingChange) })

/** The kinds that the console filters by; a newer server may have more. */
export const RECORD_KINDS = [
  'node',
  'token',
  'domain',
  'certificate',
  'service',
  'person',
  'api-token',
  'rule',
  'channel',
  'setting',
  'provider',
  'edge',
] as const
export type RecordKind = (typeof RECORD_KINDS)[number]

/** Kinds that only administrators see. */
export const PRIVATE_KINDS: ReadonlySet<string> = new Set([
  'person',
  'api-token',
  'setting',
  'provider',
  'channel',
  'edge',
])

/** Those that are about people's ways in, which no program sees either. */
export const PEOPLE_KINDS: ReadonlySet<string> = new Set(['person', 'api-token', 'provider'])

const filters = {
  /** In what was changed, in what was done, in who did it, or in the values of fields. */
  search: searchText,
  actor: z.optional(z.string().check(z.trim(), z.minLength(1), z.maxLength(200))),
  kind: z.optional(z.string().check(z.regex(/^[a-z-]{1,40}$/, 'must be a kind of record, like service'))),
  /** With `kind`: one record. */
  id: z.optional(idText),
  /** Of a node with all that belongs to it, or of a domain by its name, also of one that is deleted. */
  node: z.optional(idText),
  domain: z.optional(domainName),
  from: z.optional(instant),
  to: z.optional(instant),
}

export const HistoryQuery = z.strictObject({
  ...filters,
  limit: z._default(count(LIMITS.maxPageSize), 50),
  /** Older than this revision. */
  before: z.optional(idText),
})
export type HistoryQuery = z.output<typeof HistoryQuery>
export type HistoryFilters = Omit<HistoryQuery, 'limit' | 'before'>

export const HistoryPage = z.object({
  data: z.array(HistoryEntry),
  /** What to go on with, also where a long search found none so far; null: there is nothing older. */
  next: z.nullable(z.number()),
})
export type HistoryPage = z.infer<typeof HistoryPage>

/** JSON lines, or CSV with a line of names. */
export const HistoryExportQuery = z.strictObject({
  ...filters,
  format: z.enum(['jsonl', 'csv']),
  token: z.optional(z.string()),
})
export type HistoryExportQuery = z.output<typeof HistoryExportQuery>
