import type { Fields } from '@postern/contract/history/history'
import type { Undone } from '../../changes/undoable.ts'
import type { Context } from '../../context.ts'
import { ConflictError, NotFoundError, quoted } from '../errors.ts'

/** Lists whose entries are records of their own: a change has only what came and what left. */
const ENTRY_LISTS: ReadonlySet<string> = new Set(['allowedEmails', 'nodes', 'domains'])

/**
 * The values of before, as a patch for the form.
 * @param current the form as it is now
 * @throws ConflictError with the fields that are not as this change left them
 */
export async function fieldsBefore(context: Context, record: Undone, current: Fields): Promise<Fields> {
  const { before, after } = record
  const fields = Object.keys(after ?? {}).filter((field) => field in current)
  const changed = fields.filter((field) => !isAsLeft(field, current[field], before?.[field], after?.[field]))
  if (changed.length > 0) await refuseSince(context, record, changed, current)
  return Object.fromEntries(
    fields.map((field) => [field, valueBefore(field, current[field], before?.[field], after?.[field])]),
  )
}

const entries = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])

function isAsLeft(field: string, now: unknown, before: unknown, after: unknown): boolean {
  if (!ENTRY_LISTS.has(field)) return JSON.stringify(now ?? null) === JSON.stringify(after ?? null)
  const there = entries(now)
  return (
    entries(after).every((entry) => there.includes(entry)) &&
    !entries(before).some((entry) => there.includes(entry))
  )
}

function valueBefore(field: string, now: unknown, before: unknown, after: unknown): unknown {
  if (!ENTRY_LISTS.has(field)) return before ?? null
  const gone = entries(after)
  return [...entries(now).filter((entry) => !gone.includes(entry)), ...entries(before)]
}

async function refuseSince(
  { db }: Context,
  { kind, id, name }: Undone,
  fields: readonly string[],
  current: Fields,
): Promise<never> {
  const last = await db
    .selectFrom('change_records')
    .innerJoin('changes', 'changes.revision', 'change_records.revision')
    .select('changes.actor')
    .where('kind', '=', kind)
    .where('record_id', 'is', id)
    .orderBy('changes.revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  const who = last?.actor ?? 'Someone else'
  throw new ConflictError(
    `${who} has changed ${quoted(name)} since, so this cannot be taken back`,
    fields.map((field) => ({ field, message: `is ${shown(current[field])} now` })),
    'stale',
  )
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'empty'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** @throws NotFoundError for what has no id, or is gone since */
export function idOf({ id, kind }: Undone): number {
  if (id === null) throw new NotFoundError(kind)
  return id
}
