import type { ManyResult } from '@postern/contract/services/many'
import type { Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { changeIfAny, Unchanged } from '../../changes/change.ts'
import type { Touched } from '../../changes/live.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { hideNames } from '../access/hidden-names.ts'
import { RequestError } from '../errors.ts'
import { reasonOf } from './reasons.ts'

type Tx = Transaction<Database>

export interface ManyRecord {
  id: number
  updated_at?: string | undefined
}

export interface Chosen<R extends ManyRecord, F> {
  records?: R[] | undefined
  filter?: F | undefined
  after: number
  limit: number
}

/** What became of one record. */
export interface Acted {
  updated_at: string | null
  touched: Touched
  from?: ManyResult['done'][number]['from']
}

export interface Work<R extends ManyRecord, F> {
  /** Like `service`, and what is done to it, like `disabled`. */
  noun: string
  done: string
  /** The ids of what the filter finds, in their order: of so many after one of them. */
  find(filter: F, part: { after: number; limit: number }): Promise<number[]>
  /** Reads what is needed of all, so that it need not be read for each. */
  begin(tx: Tx, revision: number, ids: readonly number[]): Promise<Deed<R>>
}

export interface Deed<R extends ManyRecord> {
  /** Undefined for what is not there. */
  nameOf(id: number): string | undefined
  /**
   * Does it to one record; undefined when it is so already. What it throws it throws before it has changed anything.
   * @throws RequestError when the rules of that record forbid it
   */
  act(record: R | ManyRecord): Promise<Acted | undefined>
}

/**
 * Does the same to many records in one change: those that the rules forbid stay as they are, and the others are changed.
 * Without any that is changed there is no revision.
 */
export async function changeMany<R extends ManyRecord, F>(
  context: Context,
  actor: Actor,
  chosen: Chosen<R, F>,
  work: Work<R, F>,
): Promise<ManyResult> {
  const { records, next } = await choose(chosen, work)
  const note = { actor, what: `${work.noun} ${work.done}` }
  const result = await changeIfAny(context, note, async (tx, revision) => {
    const ids = records.map(({ id }) => id)
    const deed = await work.begin(tx, revision, ids)
    const result: ManyResult = { done: [], unchanged: 0, refused: [], next }
    const touched: Touched[] = []
    for (const record of records) {
      const acted = await attempt(result, deed, record)
      if (acted) touched.push(acted.touched)
    }
    const [first] = result.done
    if (!first) throw new Unchanged(result)
    const named = result.done.length === 1 ? (deed.nameOf(first.id) ?? '') : undefined
    if (named !== undefined) return { value: result, touched: together(touched), name: named }
    const what = `${result.done.length} ${work.noun}s ${work.done}`
    return { value: result, touched: together(touched), what }
  })
  const texts = result.refused.map(({ message }) => message)
  const hide = await hideNames(context.db, context.access, texts, chosen)
  return { ...result, refused: result.refused.map((one) => ({ ...one, message: hide(one.message) })) }
}

async function choose<R extends ManyRecord, F>(
  { records, filter, after, limit }: Chosen<R, F>,
  work: Work<R, F>,
): Promise<{ records: (R | ManyRecord)[]; next: number | null }> {
  if (filter === undefined) {
    // Named twice it is one.
    const once = new Map((records ?? []).map((record) => [record.id, record]))
    return { records: [...once.values()], next: null }
  }
  const ids = await work.find(filter, { after, limit: limit + 1 })
  const part = ids.slice(0, limit)
  return {
    records: part.map((id): ManyRecord => ({ id })),
    next: ids.length > limit ? (part.at(-1) ?? null) : null,
  }
}

/** Notes in the result what became of it. */
async function attempt<R extends ManyRecord>(
  result: ManyResult,
  deed: Deed<R>,
  record: R | ManyRecord,
): Promise<Acted | undefined> {
  const { id } = record
  try {
    const acted = await deed.act(record)
    if (!acted) result.unchanged++
    else result.done.push({ id, updated_at: acted.updated_at, ...(acted.from && { from: acted.from }) })
    return acted
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    result.refused.push({ id, name: deed.nameOf(id) ?? null, code: error.code, message: reasonOf(error) })
    return undefined
  }
}

function together(all: readonly Touched[]): Touched {
  const services = new Map(
    all.flatMap((each) => (each.services ?? []).map((service) => [service.id, service])),
  )
  return {
    services: [...services.values()],
    nodes: [...new Set(all.flatMap(({ nodes = [] }) => nodes))],
    domains: [...new Set(all.flatMap(({ domains = [] }) => domains))],
  }
}
