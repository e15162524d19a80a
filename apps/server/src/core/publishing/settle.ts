import type { FieldError } from '@postern/contract/errors'
import { type Item, placeService, removeService, vacate, type Work } from './place.ts'
import type { Known } from './publications.ts'
import type { Wanted } from './wanted.ts'

/**
 * Changes a source's services to match its set. Sending the same set again changes nothing.
 * @param known the present publications, by key
 * @returns why services of the set are not published
 */
export async function settle(
  work: Work,
  wanted: readonly Wanted[],
  known: ReadonlyMap<string, Known>,
): Promise<Map<Wanted, readonly FieldError[]>> {
  const refused = new Map<Wanted, readonly FieldError[]>()
  const items = new Map<Item, Wanted>()
  for (const each of wanted) {
    const item = itemOf(each, known)
    if (item) items.set(item, each)
    else refused.set(each, each.errors)
  }
  const kept = new Set([...items.keys()].map(({ row }) => row))
  for (const { service: row } of known.values()) if (row && !kept.has(row)) await removeService(work, row)
  const [staying, moving] = divide([...items.keys()], isInPlace)
  const [choosing, fixed] = divide(
    moving,
    ({ service: { type, form } }) => type === 'tcp' && form.port === null,
  )
  const place = async (item: Item, each = items.get(item)) => {
    const errors = await placeService(work, item)
    if (each && errors.length > 0) refused.set(each, errors)
  }
  // Services that have their address keep it; the others share what is then free.
  for (const item of staying) await place(item)
  for (const { row } of moving) if (row) await vacate(work, row)
  for (const item of [...fixed, ...choosing]) await place(item)
  return refused
}

function itemOf({ key, service }: Wanted, known: ReadonlyMap<string, Known>): Item | undefined {
  if (!service) return undefined
  const own = known.get(key)
  const row = own?.service?.type === service.type ? own.service : undefined
  return { key, service, known: own, row }
}

function divide<T>(items: readonly T[], is: (item: T) => boolean): [T[], T[]] {
  return [items.filter(is), items.filter((item) => !is(item))]
}

/** Whether the service already has the address that its source wants. */
function isInPlace({ row, service: { type, form } }: Item): boolean {
  if (!row) return false
  if (type === 'http') return row.domain === form.domain && row.path === (form.pathLocation ?? '/')
  return row.proto === form.proto && (form.port === null || form.port === row.port)
}
