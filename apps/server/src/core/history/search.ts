import { setImmediate } from 'node:timers/promises'
import type { HistoryFilters } from '@postern/contract/history/history'
import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { ChangesTable } from '../../db/history-tables.ts'
import type { Database } from '../../db/schema.ts'
import type { Access } from '../access/access.ts'
import { conditionsOf, isVisibleRecord } from './filter.ts'

export type ChangeRow = Selectable<ChangesTable> & { undone_by: number | null }

/** Revisions that are looked through at once: other requests wait for so long. */
const STEP = 10_000
/** In ms; what is older is for the next request. */
const MOST_MS = 1000

interface Part {
  /** Older than this revision; undefined: from the newest on. */
  before: number | undefined
  limit: number
  mostMs?: number
}

/** Changes with what took them back. */
export function selectChanges(db: Kysely<Database>) {
  return db
    .selectFrom('changes')
    .selectAll('changes')
    .select(
      sql<
        number | null
      >`(SELECT max(later.revision) FROM changes AS later WHERE later.undoes = changes.revision)`.as(
        'undone_by',
      ),
    )
}

/**
 * Changes, the newest first. A search reads the values of all fields, so it goes back step by step.
 * @returns `next`: the revision from which on there may be older ones; null: there is nothing older
 */
export async function findChanges(
  db: Kysely<Database>,
  access: Access,
  filters: HistoryFilters,
  { before, limit, mostMs = MOST_MS }: Part,
): Promise<{ rows: ChangeRow[]; next: number | null }> {
  const all = selectChanges(db)
    .where((eb) => eb.and(conditionsOf(eb, access, filters)))
    .orderBy('revision', 'desc')
  const rows: ChangeRow[] = []
  const whole = () => ({ rows: rows.slice(0, limit), next: rows[limit - 1]?.revision ?? null })
  const { search } = filters
  if (!search) {
    const found = before === undefined ? all : all.where('revision', '<', before)
    rows.push(...(await found.limit(limit + 1).execute()))
    return rows.length > limit ? whole() : { rows, next: null }
  }
  const { first, last } = await readEnds(db)
  const end = performance.now() + mostMs
  for (let high = Math.min(before ?? last + 1, last + 1); high > first; ) {
    const low = high - STEP
    const found = await all
      .where('revision', '<', high)
      .where('revision', '>=', low)
      .where(hasWords(search, access))
      .limit(limit + 1 - rows.length)
      .execute()
    rows.push(...found)
    if (rows.length > limit) return whole()
    high = low
    if (high > first && performance.now() >= end) return { rows, next: high }
    await setImmediate()
  }
  return { rows, next: null }
}

async function readEnds(db: Kysely<Database>): Promise<{ first: number; last: number }> {
  const { first, last } = await db
    .selectFrom('changes')
    .select(({ fn }) => [fn.min('revision').as('first'), fn.max('revision').as('last')])
    .executeTakeFirstOrThrow()
  // Both are null where a person sees none.
  return { first: Number(first ?? 0), last: Number(last ?? -1) }
}

/** Case is folded for ASCII only, as there is no folded copy of these texts. */
function hasWords(search: string, access: Access): RawBuilder<SqlBool> {
  const words = search.toLowerCase()
  const has = (text: RawBuilder<unknown>) => sql<SqlBool>`instr(lower(${text}), ${words}) > 0`
  // What a limited person is shown may have other words than these.
  const columns = access.reach ? [] : ['changes.name', 'changes.what', 'changes.actor']
  const own = [sql`0`, ...columns.map((column) => sql`coalesce(${has(sql.ref(column))}, 0)`)]
  const values = ['before', 'after'].map((column) =>
    hasValue(sql.ref(`change_records.${column}`), words, has),
  )
  const isShown = access.reach
    ? // Where a service came from, or went to, is not theirs to know.
      sql`(change_records.before IS NULL OR change_records.after IS NULL
        OR json_type(change_records.after, '$.node') IS NULL)`
    : sql`1`
  // What may not be seen must not be found out by its name either.
  const visible = isVisibleRecord(access)
  return sql<SqlBool>`(${sql.join(own, sql` OR `)} OR EXISTS (SELECT 1 FROM change_records
    WHERE change_records.revision = changes.revision AND ${visible}
    AND (${has(sql.ref('change_records.name'))} OR (${isShown} AND (${sql.join(values, sql` OR `)})))))`
}

/** First the whole text, which is quick, and then its values: names of fields do not count, and neither does the node. */
function hasValue(
  fields: RawBuilder<unknown>,
  words: string,
  has: (text: RawBuilder<unknown>) => RawBuilder<SqlBool>,
): RawBuilder<SqlBool> {
  const inJson = JSON.stringify(words).slice(1, -1)
  return sql<SqlBool>`(coalesce(instr(lower(${fields}), ${inJson}), 0) > 0 AND EXISTS (SELECT 1 FROM json_tree(${fields}) AS value
    WHERE value.type IN ('text', 'integer', 'real') AND value.fullkey <> '$.node' AND ${has(sql`value.atom`)}))`
}
