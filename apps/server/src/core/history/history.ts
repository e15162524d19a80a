import type {
  Fields,
  HistoryEntry,
  HistoryFilters,
  HistoryPage,
  HistoryQuery,
  HistoryRecord,
  WholeChange,
} from '@postern/contract/history/history'
import { LIMITS } from '@postern/contract/limits'
import type { Reach } from '@postern/contract/sign-in/auth'
import { type SqlBool, sql } from 'kysely'
import { whyNotUndone } from '../../changes/undoable.ts'
import type { Context } from '../../context.ts'
import type { Access } from '../access/access.ts'
import { NotFoundError } from '../errors.ts'
import { conditionsOf, idsOfDomain, isOfMoved, isVisibleRecord, recordConditions } from './filter.ts'
import { withoutHidden } from './hidden.ts'
import { type ChangeRow, findChanges, selectChanges } from './search.ts'

type Db = Pick<Context, 'db'>

/**
 * What was changed, the newest first, as far as this person may see it.
 * @param mostMs after which a search goes no further back
 */
export async function listHistory(
  { db }: Db,
  access: Access,
  query: HistoryQuery,
  mostMs?: number,
): Promise<HistoryPage> {
  const { limit, before, ...filters } = query
  const { rows: page, next } = await findChanges(db, access, filters, {
    ...{ before, limit },
    ...(mostMs !== undefined && { mostMs }),
  })
  const records = await readRecords(
    { db },
    access,
    page.map(({ revision }) => revision),
    { filters, most: LIMITS.listedRecords, longest: LIMITS.listedFields },
  )
  const data = page.map((row) => toEntry(access, row, records.get(row.revision)))
  return { data, next }
}

/** @throws NotFoundError also for one that this person may not see */
export async function getChange({ db }: Db, access: Access, revision: number): Promise<WholeChange> {
  const row = await selectChanges(db)
    .where('revision', '=', revision)
    .where((eb) => eb.and(conditionsOf(eb, access, {})))
    .executeTakeFirst()
  if (!row) throw new NotFoundError('Change')
  const all = { filters: {}, most: Number.MAX_SAFE_INTEGER, longest: Number.MAX_SAFE_INTEGER }
  const entry = toEntry(access, row, (await readRecords({ db }, access, [revision], all)).get(revision))
  return { ...entry, whyNotUndone: whyNotUndone(row.actor_kind, entry.records, row.left_out, isGone(row)) }
}

/** Whether the records of a change were let go. */
export const isGone = ({ is_stripped, folded }: Pick<ChangeRow, 'is_stripped' | 'folded'>): boolean =>
  is_stripped === 1 || folded !== null

interface Bounds {
  /** Those that are asked for come first. */
  filters: HistoryFilters
  /** Of each change. */
  most: number
  /** Characters of the fields of one. */
  longest: number
}

interface RecordRow {
  revision: number
  kind: string
  record_id: number | null
  node_id: number | null
  domain_id: number | null
  name: string
  before: string | null
  after: string | null
  is_cut: number
  total: number
}

/** By revision, the records that this person may see. */
export async function readRecords(
  { db }: Db,
  access: Access,
  revisions: readonly number[],
  { filters, most, longest }: Bounds,
): Promise<Map<number, RecordRow[]>> {
  const asked = recordConditions(filters) ?? sql<SqlBool>`1`
  const { node, domain } = filters
  const near = [
    ...(node === undefined ? [] : [sql`change_records.node_id = ${node}`, isOfMoved(node)]),
    ...(domain === undefined ? [] : [sql`change_records.domain_id IN ${idsOfDomain(domain)}`]),
  ]
  const first = near.length === 0 ? asked : sql`(${asked} AND (${sql.join(near, sql` OR `)}))`
  const length = sql`(coalesce(length(before), 0) + coalesce(length(after), 0))`
  const { rows } = await sql<RecordRow>`
    SELECT revision, kind, record_id, node_id, domain_id, name, total, ${length} > ${longest} AS is_cut,
      CASE WHEN ${length} > ${longest} THEN iif(before IS NULL, NULL, '{}') ELSE before END AS before,
      CASE WHEN ${length} > ${longest} THEN iif(after IS NULL, NULL, '{}') ELSE after END AS after
    FROM (
      SELECT change_records.*, count(*) OVER (PARTITION BY revision) AS total,
        row_number() OVER (PARTITION BY revision ORDER BY ${first} DESC, position) AS place
      FROM change_records
      WHERE revision IN (SELECT value FROM json_each(${JSON.stringify(revisions)})) AND ${isVisibleRecord(access)}
    ) WHERE place <= ${most} ORDER BY revision, place`.execute(db)
  return Map.groupBy(await withoutHidden(db, access, rows), ({ revision }) => revision)
}

export function toEntry(access: Access, row: ChangeRow, records: readonly RecordRow[] = []): HistoryEntry {
  const { reach } = access
  const { revision, at, actor_kind: kind, actor_id: id } = row
  const { what, name, actor } = reach ? wordsFor(reach, row, records) : row
  return {
    ...{ revision, at, what, name, actor: { kind, id, name: actor } },
    address: reach ? null : row.address,
    ...{ undoes: row.undoes, undoneBy: row.undone_by },
    records: records.map(toRecord),
    total: (records[0]?.total ?? 0) + (reach ? 0 : row.left_out + row.is_stripped * row.record_count),
  }
}

/** A change may be called after a record that a limited person does not see, and a node too. */
export function wordsFor(
  { nodes }: NonNullable<Reach>,
  {
    what,
    name,
    actor,
    actor_kind,
    actor_id,
  }: Pick<ChangeRow, 'what' | 'name' | 'actor' | 'actor_kind' | 'actor_id'>,
  records: readonly Pick<RecordRow, 'kind' | 'name'>[],
): Pick<ChangeRow, 'what' | 'name' | 'actor'> {
  const isHidden = actor_kind === 'node' && !nodes.includes(actor_id ?? 0)
  const by = isHidden ? 'a node that you may not see' : actor
  if (name === null || records.some((record) => record.name === name)) return { what, name, actor: by }
  const kinds = [...new Set(records.map(({ kind }) => kind))]
  return { what: `${kinds.join(' and ')} changed`, name: records[0]?.name ?? null, actor: by }
}

function toRecord(row: RecordRow): HistoryRecord {
  const { kind, record_id: id, node_id: nodeId, domain_id: domainId, name } = row
  return {
    kind,
    id,
    nodeId,
    domainId,
    name,
    before: fieldsOf(row.before),
    after: fieldsOf(row.after),
    isCut: row.is_cut === 1,
  }
}

/** Written by this server. */
export function fieldsOf(json: string | null): Fields | null {
  return json === null ? null : (JSON.parse(json) as Fields)
}
