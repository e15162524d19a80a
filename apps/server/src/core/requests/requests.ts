import { LIMITS } from '@postern/contract/limits'
import type { FoundRequest, FoundRequests, KeptFilter } from '@postern/contract/requests/kept'
import type {
  RequestBatch,
  RequestFilters,
  RequestPage,
  RequestQuery,
  ShownRequest,
} from '@postern/contract/requests/query'
import { type Kysely, sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { type Cursor, parseCursor, renderCursor } from './cursor.ts'
import { readFilter } from './filter.ts'

type Parts = Pick<Context, 'db' | 'access' | 'edges'>

/** What one edge found. */
interface Found {
  edge: { id: number; name: string }
  answer: FoundRequests | null
}

/**
 * A page of what edges keep, the newest first. It may not be full although there is more: then the time was up.
 * @throws NotFoundError, ValidationError
 */
export async function listRequests(
  { db, access, edges }: Parts,
  { limit, before, ...filters }: RequestQuery,
  signal: AbortSignal,
): Promise<RequestPage> {
  const start = parseCursor(before)
  const filter = await readFilter({ db, access }, filters)
  const all = await listEdges(db)
  const asked = all.filter(({ id }) => start.get(id) !== null)
  const found = await Promise.all(
    asked.map(async (edge): Promise<Found> => {
      const search = { filter, limit, before: start.get(edge.id) ?? null, after: null }
      return { edge, answer: await edges.search(edge.id, search, signal) }
    }),
  )
  const { rows, next, reached } = merge(found, start, limit)
  const newest = found.flatMap(({ edge, answer }) =>
    answer?.newest ? [[edge.id, answer.newest] as const] : [],
  )
  return {
    data: await show(db, rows),
    next,
    reached,
    newest: newest.length > 0 ? renderCursor(new Map(newest)) : null,
    serviceName: await findServiceName(db, filters.service),
    silent: found.flatMap(({ edge, answer }) => (answer === null ? edge.name : [])),
  }
}

/** What came since a cursor, the newest first, and the cursor to go on from. Of an edge that is new there is nothing yet. */
export async function listNewRequests(
  { db, edges }: Parts,
  filter: KeptFilter,
  after: Cursor,
  signal: AbortSignal,
): Promise<{ batch: RequestBatch; after: Cursor }> {
  const found = await Promise.all(
    (await listEdges(db)).map(async (edge): Promise<Found> => {
      const place = after.get(edge.id) ?? null
      const limit = place === null ? 1 : LIMITS.requestPage
      return {
        edge,
        answer: await edges.search(edge.id, { filter, limit, before: null, after: place }, signal),
      }
    }),
  )
  const known = found.filter(({ edge, answer }) => answer !== null && after.has(edge.id))
  const rows = known.flatMap(({ edge, answer }) => rowsOf(edge, answer))
  const next = new Map(after)
  for (const { edge, answer } of found) if (answer?.newest) next.set(edge.id, answer.newest)
  const batch = {
    data: await show(db, rows.toSorted(newestFirst).slice(0, LIMITS.requestPage)),
    missed: rows.length > LIMITS.requestPage || known.some(({ answer }) => answer?.next),
  }
  return { batch: { ...batch, missed: Boolean(batch.missed) }, after: next }
}

/** The filter of a stream, until something changes. */
export function readStreamFilter(parts: Parts, filters: RequestFilters): Promise<KeptFilter> {
  return readFilter(parts, filters)
}

async function listEdges(db: Kysely<Database>): Promise<{ id: number; name: string }[]> {
  return await db
    .selectFrom('edges')
    .select(['id', 'name'])
    .where('joined_at', 'is not', null)
    .orderBy('id')
    .execute()
}

interface Row extends FoundRequest {
  edge: { id: number; name: string }
}

const newestFirst = (a: Row, b: Row) => b.at - a.at

function rowsOf(edge: Found['edge'], answer: FoundRequests | null): Row[] {
  return (answer?.found ?? []).map((request) => ({ ...request, edge }))
}

/**
 * What all edges together have, as far as each of them has looked: what an edge has not come to yet may be newer than
 * what another one found already.
 */
function merge(found: readonly Found[], start: Cursor, limit: number) {
  const answered = found.flatMap(({ edge, answer }) => (answer ? [{ edge, answer }] : []))
  const open = answered.filter(({ answer }) => answer.next !== null)
  const horizon = Math.max(
    Number.NEGATIVE_INFINITY,
    ...open.map(({ answer }) => answer.reached ?? Number.NEGATIVE_INFINITY),
  )
  const isAlone = answered.length === 1
  const rows = answered
    .flatMap(({ edge, answer }) => rowsOf(edge, answer))
    .toSorted(newestFirst)
    .filter(({ at }) => isAlone || at >= horizon)
    .slice(0, limit)
  const next = new Map(start)
  for (const { edge, answer } of answered) next.set(edge.id, nextOf(edge.id, answer, rows, start))
  const isEnd = answered.every(({ edge }) => next.get(edge.id) === null)
  const reached =
    open.length > 0 ? horizon : Math.min(...answered.map(({ answer }) => answer.reached ?? Infinity))
  return {
    rows,
    next: isEnd ? null : renderCursor(next),
    reached: Number.isFinite(reached) ? reached : null,
  }
}

/** Where an edge goes on: behind the last of its requests that is shown, or where it stopped when all of them are. */
function nextOf(
  edgeId: number,
  { found, next }: FoundRequests,
  rows: readonly Row[],
  start: Cursor,
): string | null {
  const shown = rows.filter(({ edge }) => edge.id === edgeId)
  if (shown.length === found.length) return next
  return shown.at(-1)?.place ?? start.get(edgeId) ?? TOP
}

/** Before everything that an edge keeps. */
const TOP = '999999999999-0'

async function show(db: Kysely<Database>, rows: readonly Row[]): Promise<ShownRequest[]> {
  const services = await readServices(
    db,
    rows.map(({ service }) => service),
  )
  return rows.map(({ place, edge, service, ...request }) => ({
    ...request,
    id: `${edge.id}-${place}`,
    edge: edge.name,
    serviceId: service,
    service: services.get(service) ?? null,
  }))
}

async function findServiceName(db: Kysely<Database>, id: number | undefined): Promise<string | null> {
  if (id === undefined) return null
  const row = await db.selectFrom('services').select('name').where('id', '=', id).executeTakeFirst()
  return row?.name ?? null
}

async function readServices(
  db: Kysely<Database>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, NonNullable<ShownRequest['service']>>> {
  const wanted = JSON.stringify([...new Set(ids)])
  const rows = await db
    .selectFrom('services')
    .innerJoin('nodes', 'nodes.id', 'services.node_id')
    .leftJoin('domains', 'domains.id', 'services.domain_id')
    .select([
      'services.id',
      'services.name',
      'services.type',
      'services.node_id as nodeId',
      'nodes.name as nodeName',
      'domains.domain',
    ])
    // A statement holds a limited number of values.
    .where('services.id', 'in', sql<number>`(SELECT value FROM json_each(${wanted}))`)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}
