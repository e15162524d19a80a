import { type HistoryFilters, PEOPLE_KINDS, PRIVATE_KINDS } from '@postern/contract/history/history'
import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../../db/schema.ts'
import type { Access } from '../access/access.ts'

type Eb = ExpressionBuilder<Database, 'changes'>

const list = (ids: readonly (string | number)[]) =>
  sql<never>`(SELECT value FROM json_each(${JSON.stringify(ids)}))`

/** An administrator in person. */
export const seesAll = ({ role, reach, isProgram }: Access): boolean =>
  role === 'admin' && !reach && isProgram !== true

/** Whether a record is hidden from somebody, wherever it is. */
function isHiddenRecord({ role }: Access): RawBuilder<SqlBool> {
  const isOf = (kinds: ReadonlySet<string>) => sql<SqlBool>`change_records.kind IN ${list([...kinds])}`
  if (role !== 'admin') return isOf(PRIVATE_KINDS)
  // One setting names a person.
  return sql<SqlBool>`(${isOf(PEOPLE_KINDS)} OR change_records.kind = 'setting' AND change_records.name = 'passwordRule')`
}

/** Whether a person may see a record of a change; `change_records` is in scope. */
export function isVisibleRecord(access: Access): RawBuilder<SqlBool> {
  const { reach } = access
  if (seesAll(access)) return sql<SqlBool>`1`
  const isPrivate = isHiddenRecord(access)
  if (reach)
    // Others have services at a domain, too.
    return sql<SqlBool>`(NOT ${isPrivate} AND (change_records.node_id IN ${list(reach.nodes)}
      OR change_records.kind IN ('domain', 'certificate') AND change_records.domain_id IN ${list(reach.domains)}))`
  return sql<SqlBool>`NOT ${isPrivate}`
}

/**
 * Whether a person may see that there was this change: an administrator each; others none about people and settings;
 * people with limits those with something in them.
 */
function isVisible(eb: Eb, access: Access): Expression<SqlBool>[] {
  const { reach } = access
  if (seesAll(access)) return []
  const all = eb
    .selectFrom('change_records')
    .whereRef('change_records.revision', '=', 'changes.revision')
    .select(sql<1>`1`.as('one'))
  if (!reach) {
    const hidden = all.where(isHiddenRecord(access))
    // One without records may be about anything: it is shown where it says what it is about.
    const told = eb.or([eb('node_id', 'is not', null), eb('domain_id', 'is not', null), eb.exists(all)])
    // And of one whose records were let go it is not known.
    const isThere = sql<SqlBool>`(changes.is_stripped = 0 AND changes.folded IS NULL)`
    return [isThere, eb.not(eb.exists(hidden)), told]
  }
  return [eb.exists(all.where(isVisibleRecord(access))), eb.not(eb.exists(all.where(isHiddenRecord(access))))]
}

/** The conditions on `changes` for what a person asks for, but for its words, among what that person may see. */
export function conditionsOf(eb: Eb, access: Access, filters: HistoryFilters): Expression<SqlBool>[] {
  const { actor, from, to, node, domain } = filters
  const conditions = isVisible(eb, access)
  if (actor !== undefined) conditions.push(eb('actor', '=', actor))
  if (from !== undefined) conditions.push(eb('at', '>=', from))
  if (to !== undefined) conditions.push(eb('at', '<', to))
  if (node !== undefined)
    conditions.push(
      eb.or([
        isAbout(eb, 'node_id', sql<number>`(SELECT ${node})`),
        sql<SqlBool>`changes.revision IN (SELECT revision FROM change_records WHERE ${isOfMoved(node)})`,
      ]),
    )
  if (domain !== undefined) conditions.push(isAbout(eb, 'domain_id', idsOfDomain(domain)))
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

/** A record of a service which has been on this node, from the time when it was elsewhere. */
export function isOfMoved(node: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`(change_records.kind = 'service' AND change_records.node_id IS NOT ${node} AND change_records.record_id IN
    (SELECT record_id FROM change_records AS here WHERE here.node_id = ${node} AND here.kind = 'service'))`
}

/** Which records are asked for; undefined for all. */
export function recordConditions({ kind, id }: HistoryFilters): RawBuilder<SqlBool> | undefined {
  if (kind === undefined) return undefined
  const ofKind = sql<SqlBool>`change_records.kind = ${kind}`
  return id === undefined ? ofKind : sql<SqlBool>`(${ofKind} AND change_records.record_id = ${id})`
}
