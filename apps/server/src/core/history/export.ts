import type { HistoryEntry, HistoryFilters } from '@postern/contract/history/history'
import { LIMITS } from '@postern/contract/limits'
import type { Actor } from '../../changes/actor.ts'
import { type Head, readHead } from '../../changes/chain.ts'
import { change } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Access } from '../access/access.ts'
import { renderCell } from '../csv.ts'
import { readRecords, toEntry } from './history.ts'
import { findChanges } from './search.ts'

const PAGE = 50

/**
 * All that the filters show, piece by piece, the newest first; for an administrator, then the head of the chain, which
 * proves later that none of it was changed.
 */
export async function* exportHistory(
  context: Context,
  actor: Actor,
  access: Access,
  filters: HistoryFilters,
  format: 'jsonl' | 'csv',
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { db } = context
  const isWhole = access.role === 'admin' && !access.reach
  const head = isWhole ? await noteExport(context, actor) : await readHead(db)
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`
  let before = head.revision + 1
  for (let left: number = LIMITS.exportedChanges; left > 0; left -= PAGE) {
    if (signal.aborted) return
    const part = { before, limit: PAGE, mostMs: Number.POSITIVE_INFINITY }
    const { rows, next } = await findChanges(db, access, filters, part)
    const bounds = { filters, most: Number.MAX_SAFE_INTEGER, longest: Number.MAX_SAFE_INTEGER }
    for (const row of rows) {
      const records = (await readRecords({ db }, access, [row.revision], bounds)).get(row.revision)
      const entry = toEntry(access, row, records)
      yield format === 'csv'
        ? renderLines(entry, row.hash)
        : `${JSON.stringify({ ...entry, hash: row.hash })}\n`
      before = row.revision
    }
    if (next === null) break
  }
  if (!isWhole) return
  yield format === 'csv' ? renderHead(head) : `${JSON.stringify({ head })}\n`
}

/** The head is an entry of its own, which is not let go for what others do. */
async function noteExport(context: Context, actor: Actor): Promise<Head> {
  const note = { actor: { ...actor, share: 'exports' }, what: 'history exported' }
  await change(context, note, async () => ({ value: undefined, touched: {} }))
  return await readHead(context.db)
}

const COLUMNS = [
  'revision',
  'time',
  'actor_kind',
  'actor',
  'address',
  'what',
  'name',
  'kind',
  'id',
  'record',
  'before',
  'after',
  'hash',
]

/** A line for each record, or one for a change that has none. */
function renderLines(entry: HistoryEntry, hash: string | null): string {
  const { revision, at, actor, address, what, name, records } = entry
  const common = [revision, at, actor.kind, actor.name, address, what, name]
  const fields = (of: unknown) => (of === null ? null : JSON.stringify(of))
  const lines = records.map((record) => [
    record.kind,
    record.id,
    record.name,
    fields(record.before),
    fields(record.after),
  ])
  return (lines.length > 0 ? lines : [[null, null, null, null, null]])
    .map((line) => `${[...common, ...line, hash].map(renderCell).join(',')}\r\n`)
    .join('')
}

function renderHead({ revision, hash }: { revision: number; hash: string }): string {
  const cells = COLUMNS.map((column) => ({ revision, what: 'head of the chain', hash })[column] ?? null)
  return `${cells.map(renderCell).join(',')}\r\n`
}
