import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from '../db/schema.ts'

/** What a record has, by the names of its form. */
export type Fields = Record<string, unknown>

/** What became of one record in a change; the fields of one that stays are only those that differ. */
export interface ChangeRecord {
  kind: string
  id: number | null
  nodeId: number | null
  domainId: number | null
  /** As it is called then. */
  name: string
  /** Null for a new one. */
  before: Fields | null
  /** Null for a deleted one. */
  after: Fields | null
}

/** More of one change are counted, and not kept. */
const MOST_RECORDS = 2000
/** Of all records of one change. */
const MOST_BYTES = 4 * 1024 * 1024
/** What a record takes beside its name and its fields, with its place in the indexes. */
const RECORD_BYTES = 250

export interface KeptRecords {
  records: {
    kind: string
    id: number | null
    nodeId: number | null
    domainId: number | null
    name: string
    before: string | null
    after: string | null
  }[]
  leftOut: number
  bytes: number
}

/** From here on the rows of this transaction are recorded. */
export async function startRecording(tx: Transaction<Database>): Promise<void> {
  await sql`UPDATE recording SET is_on = 1`.execute(tx)
}

/**
 * What the work of this transaction has changed.
 * @param told what it says itself, of rows that nothing can be read from
 */
export async function endRecording(
  tx: Transaction<Database>,
  told: readonly ChangeRecord[],
): Promise<KeptRecords> {
  await sql`UPDATE recording SET is_on = 0`.execute(tx)
  const { rows } = await sql<Logged>`SELECT * FROM change_log ORDER BY rowid LIMIT ${MOST_LOGGED}`.execute(tx)
  if (rows.length > 0) await sql`DELETE FROM change_log`.execute(tx)
  const merged = mergeLogged(rows)
  await completeAll(tx, merged)
  return keep([...merged.flatMap(toRecord), ...told])
}

/** Several rows of the log may be about one record. */
const MOST_LOGGED = 50_000

interface Logged {
  kind: string
  record_id: number | null
  name: string | null
  node_id: number | null
  domain_id: number | null
  /** Null for the whole row of the record. */
  field: string | null
  is_list: number
  before: string | null
  after: string | null
}

interface Merged {
  kind: string
  id: number | null
  name: string | null
  nodeId: number | null
  domainId: number | null
  /** Undefined while only values of it are known. */
  row: { before: Fields | null; after: Fields | null } | undefined
  /** What came to its lists and left them, and other values. */
  lists: Map<string, { added: Set<string>; removed: Set<string> }>
  values: Map<string, { before: string | null; after: string | null }>
}

function mergeLogged(rows: readonly Logged[]): Merged[] {
  const merged = new Map<string, Merged>()
  for (const logged of rows) {
    const key = `${logged.kind} ${logged.record_id ?? logged.name}`
    const { kind, record_id: id, name, node_id: nodeId, domain_id: domainId } = logged
    const blank = { kind, id, name, nodeId, domainId, row: undefined, lists: new Map(), values: new Map() }
    const record: Merged = merged.get(key) ?? blank
    merged.set(key, record)
    if (logged.field === null) mergeRow(record, logged)
    else if (logged.is_list === 1) mergeEntry(record, logged.field, logged)
    else mergeValue(record, logged.field, logged)
  }
  return [...merged.values()]
}

function mergeRow(record: Merged, logged: Logged): void {
  const [before, after] = [readFields(logged.before), readFields(logged.after)]
  const earlier = record.row
  record.row = { before: earlier ? earlier.before : before, after: withChanged(earlier?.after, after) }
  record.name = logged.name
  record.nodeId = logged.node_id ?? record.nodeId
  record.domainId = logged.domain_id
}

/** The image was made by a trigger of ours. */
const readFields = (json: string | null) => (json === null ? null : (JSON.parse(json) as Fields))

/** A secret that was changed before, and not by the last statement, has changed all the same. */
function withChanged(earlier: Fields | null | undefined, after: Fields | null): Fields | null {
  if (!earlier || !after) return after
  const changed = Object.keys(after).filter((field) => after[field] === 'set' && earlier[field] === 'changed')
  return { ...after, ...Object.fromEntries(changed.map((field) => [field, 'changed'])) }
}

function mergeEntry({ lists }: Merged, field: string, { before, after }: Logged): void {
  const list = lists.get(field) ?? { added: new Set(), removed: new Set() }
  lists.set(field, list)
  if (before !== null && !list.added.delete(before)) list.removed.add(before)
  if (after !== null && !list.removed.delete(after)) list.added.add(after)
}

function mergeValue({ values }: Merged, field: string, { before, after }: Logged): void {
  values.set(field, { before: values.has(field) ? (values.get(field)?.before ?? null) : before, after })
}

/** Reads what the rows of values do not say: what the record is called, and the whole of its lists. */
async function completeAll(tx: Transaction<Database>, merged: readonly Merged[]): Promise<void> {
  for (const record of merged) {
    if (record.row || record.id === null) continue
    const found = await findRecord(tx, record.kind, record.id)
    record.name = found?.name ?? null
    record.nodeId = found?.nodeId ?? null
    record.domainId = found?.domainId ?? null
  }
}

async function findRecord(db: Kysely<Database>, kind: string, id: number) {
  switch (kind) {
    case 'node':
      return await db
        .selectFrom('nodes')
        .select(['name', 'id as nodeId', sql<null>`NULL`.as('domainId')])
        .where('id', '=', id)
        .executeTakeFirst()
    case 'service':
      return await db
        .selectFrom('services')
        .select(['name', 'node_id as nodeId', 'domain_id as domainId'])
        .where('id', '=', id)
        .executeTakeFirst()
    case 'domain':
      return await db
        .selectFrom('domains')
        .select(['domain as name', sql<null>`NULL`.as('nodeId'), 'id as domainId'])
        .where('id', '=', id)
        .executeTakeFirst()
    case 'edge':
      return await db
        .selectFrom('edges')
        .select(['name', sql<null>`NULL`.as('nodeId'), sql<null>`NULL`.as('domainId')])
        .where('id', '=', id)
        .executeTakeFirst()
    default:
      return await db
        .selectFrom('users')
        .select(['username as name', sql<null>`NULL`.as('nodeId'), sql<null>`NULL`.as('domainId')])
        .where('id', '=', id)
        .executeTakeFirst()
  }
}

function toRecord({ kind, id, name, nodeId, domainId, row, lists, values }: Merged): ChangeRecord[] {
  // It came and went, or it is gone with something of it that was noted last.
  if (name === null || (row && row.before === null && row.after === null)) return []
  const isThere = { before: !row || row.before !== null, after: !row || row.after !== null }
  const before: Fields = { ...row?.before }
  const after: Fields = { ...row?.after }
  for (const [field, value] of values)
    Object.assign(before, { [field]: value.before }) && Object.assign(after, { [field]: value.after })
  for (const [field, { added, removed }] of lists) {
    before[field] = [...removed].sort()
    after[field] = [...added].sort()
  }
  const whole = { kind, id, nodeId, domainId, name }
  if (!isThere.before) return [{ ...whole, before: null, after }]
  if (!isThere.after) return [{ ...whole, before, after: null }]
  const different = Object.keys({ ...before, ...after }).filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  )
  if (different.length === 0) return []
  const only = (fields: Fields) =>
    Object.fromEntries(different.map((field) => [field, fields[field] ?? null]))
  return [{ ...whole, before: only(before), after: only(after) }]
}

function keep(all: readonly ChangeRecord[]): KeptRecords {
  const kept: KeptRecords = { records: [], leftOut: 0, bytes: 0 }
  for (const record of all) {
    const [before, after] = [render(record.before), render(record.after)]
    const bytes = (before?.length ?? 0) + (after?.length ?? 0) + record.name.length + RECORD_BYTES
    if (kept.records.length >= MOST_RECORDS || kept.bytes + bytes > MOST_BYTES) kept.leftOut++
    else {
      kept.records.push({ ...record, before, after })
      kept.bytes += bytes
    }
  }
  return kept
}

/** As it was before it was rendered. */
export function parseRecord(record: KeptRecords['records'][number]): ChangeRecord {
  const read = (json: string | null): Fields | null => (json === null ? null : JSON.parse(json))
  return { ...record, before: read(record.before), after: read(record.after) }
}

const render = (fields: Fields | null) => (fields === null ? null : JSON.stringify(fields))

/** One statement for all, however many. */
export async function writeRecords(
  tx: Transaction<Database>,
  revision: number,
  { records }: KeptRecords,
): Promise<void> {
  if (records.length === 0) return
  await sql`INSERT INTO change_records (revision, position, kind, record_id, node_id, domain_id, name, before, after)
    SELECT ${revision}, key, value ->> 'kind', value ->> 'id', value ->> 'nodeId', value ->> 'domainId', value ->> 'name',
      value ->> 'before', value ->> 'after' FROM json_each(${JSON.stringify(records)})`.execute(tx)
}
