import { type HistoryFilters, PRIVATE_KINDS } from '@postern/contract/history/history'
import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../../db/schema.ts'
import type { Access } from '../access/access.ts'

type Eb = ExpressionBuilder<Database, 'changes'>

const list = (ids: readonly (string | number)[]) =>
  sql<never>`(SELECT value FROM json_each(${JSON.stringify(ids)}))`

/** Whether a person may see a record of a change; `change_records` is in scope. */
export function isVisibleRecord({ role, reach }: Access): RawBuilder<SqlBool> {
  const isPrivate = sql<SqlBool>`change_records.kind IN ${list([...PRIVATE_KINDS])}`
  if (reach)
    return sql<SqlBool>`(NOT ${isPrivate} AND (change_records.node_id IN ${list(reach.nodes)} OR change_records.domain_id IN ${list(reach.domains)}))`
  return role === 'admin' ? sql<SqlBool>`1` : sql<SqlBool>`NOT ${isPrivate}`
}

/**
 * Whether a person may see that there was this change: an administrator each; others none about people and settings;
 * people with limits those with something in them.
 */
function isVisible(eb: Eb, access: Access): Expression<SqlBool>[] {
  const { role, reach } = access
  if (role === 'admin' && !reach) return []
  const all = eb
    .selectFrom('change_records')
    .whereRef('change_records.revision', '=', 'changes.revision')
    .select(sql<1>`1`.as('one'))
  if (!reach) {
    const hidden = all.where(sql<SqlBool>`kind IN ${list([...PRIVATE_KINDS])}`)
    // One without records may be about anything: it is shown where it says what it is about.
    const told = eb.or([eb('node_id', 'is not', null), eb('domain_id', 'is not', null), eb.exists(all)])
    return [eb.not(eb.exists(hidden)), told]
  }
  return [
    eb.or([
      sql<SqlBool>`changes.node_id IN ${list(reach.nodes)}`,
      sql<SqlBool>`changes.domain_id IN ${list(reach.domains)}`,
      eb.exists(all.where(isVisibleRecord(access))),
    ]),
    eb.not(eb.exists(all.where(sql<SqlBool>`kind IN ${list([...PRIVATE_KINDS])}`))),
  ]
}

/** The conditions on `changes` for what a person asks for, among what that person may see. */
export function conditionsOf(eb: Eb, access: Access, filters: HistoryFilters): Expression<SqlBool>[] {
  const { search, actor, from, to, node, domain } = filters
  const conditions = isVisible(eb, access)
  if (actor !== undefined) conditions.push(eb('actor', '=', actor))
  if (from !== undefined) conditions.push(eb('at', '>=', from))
  if (to !== undefined) conditions.push(eb('at', '<', to))
  if (node !== undefined) conditions.push(isAbout(eb, 'node_id', sql<number>`(SELECT ${node})`))
  if (domain !== undefined) conditions.push(isAbout(eb, 'domain_id', idsOfDomain(domain)))
  if (search) conditions.push(hasWords(search, access))
  const record = recordConditions(filters)
  if (record)
    conditions.push(sql<SqlBool>`changes.revision IN (SELECT revision FROM change_records WHERE ${record})`)
  return conditions
}

/** In brackets: that of the domain which is called so, and those of deleted ones that were. */
export function idsOfDomain(domain: string): RawBuilder<number> {
  return sql<number>`(SELECT id FROM domains WHERE domain = ${domain}
    UNION SELECT record_id FROM change_records WHERE name = ${domain} AND kind = 'domain')`
}

function isAbout(eb: Eb, column: 'node_id' | 'domain_id', ids: RawBuilder<number>): Expression<SqlBool> {
  const records = eb.selectFrom('change_records').select('change_records.revision').where(column, 'in', ids)
  return eb.or([eb(column, 'in', ids), eb('revision', 'in', records)])
}

/** Which records are asked for; undefined for all. */
export function recordConditions({ kind, id }: HistoryFilters): RawBuilder<SqlBool> | undefined {
  if (kind === undefined) return undefined
  const ofKind = sql<SqlBool>`change_records.kind = ${kind}`
  return id === undefined ? ofKind : sql<SqlBool>`(${ofKind} AND change_records.record_id = ${id})`
}

/** Case is folded for ASCII only, as there is no folded copy of these texts. */
function hasWords(search: string, access: Access): RawBuilder<SqlBool> {
  const has = (column: string) => sql<SqlBool>`instr(lower(${sql.ref(column)}), ${search.toLowerCase()}) > 0`
  const own = ['changes.name', 'changes.what', 'changes.actor'].map(
    (column) => sql`coalesce(${has(column)}, 0)`,
  )
  // What may not be seen must not be found out by its name either.
  const visible = access.role === 'admin' && !access.reach ? sql`1` : isVisibleRecord(access)
  return sql<SqlBool>`(${sql.join(own, sql` OR `)} OR changes.revision IN
    (SELECT revision FROM change_records WHERE ${has('change_records.name')} AND ${visible}))`
}
