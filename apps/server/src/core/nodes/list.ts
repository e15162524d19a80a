import type { Page } from '@postern/contract/lists'
import type { Node, NodeQuery } from '@postern/contract/nodes'
import { type SelectQueryBuilder, sql } from 'kysely'
import * as z from 'zod/mini'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { hasText } from '../columns.ts'
import { listOrPage, type Slice } from '../pages.ts'
import { readNodes, selectRecord, toNode } from './records.ts'

type Order = NonNullable<NodeQuery['orderBy']>
type FigureField = 'transferRx' | 'transferTx' | 'latestHandshakeTimestamp'

/** With `limit` a page, else all rows. Without `orderBy`, in order of creation. */
export async function listNodes(context: Context, query: NodeQuery): Promise<Page<Node> | Node[]> {
  const found = filter(context.db.selectFrom('nodes'), query)
  return await listOrPage(query, found, (slice) => listRows(context, query, slice))
}

async function listRows(context: Context, query: NodeQuery, slice?: Slice): Promise<Node[]> {
  const { orderBy } = query
  if (orderBy && isFigure(orderBy.field)) return await listByFigure(context, query, orderBy, slice)
  const { column, direction } = sqlOrder(orderBy)
  let rows = selectRecord(filter(context.db.selectFrom('nodes'), query))
    .orderBy(column, direction)
    .orderBy('nodes.id', direction)
  if (slice) rows = rows.limit(slice.limit).offset(slice.offset)
  return (await rows.execute()).map((row) => toNode(context, row))
}

function filter<O>(query: SelectQueryBuilder<Database, 'nodes', O>, { type, search }: NodeQuery) {
  let filtered = query
  if (type === 'gateways') filtered = filtered.where('is_gateway', '=', 1)
  if (type === 'nodes') filtered = filtered.where('is_gateway', '=', 0).where('is_local', '=', 0)
  if (!search) return filtered
  const text = search.toLowerCase()
  return filtered.where(({ or }) => or([hasText('name_folded', text), hasText('address', text)]))
}

/** The ids of what a filter finds after one of them, in their order. The local node is for no change of many. */
export async function listFilteredNodes(
  { db }: Pick<Context, 'db'>,
  query: Pick<NodeQuery, 'type' | 'search'>,
  { after, limit }: { after: number; limit: number },
): Promise<number[]> {
  const rows = await filter(db.selectFrom('nodes'), query)
    .select('nodes.id')
    .where('is_local', '=', 0)
    .where('nodes.id', '>', after)
    .orderBy('nodes.id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

function sqlOrder(orderBy: Order | undefined) {
  const column = orderBy?.field === 'name' ? 'name_folded' : orderBy ? 'created_at' : 'nodes.id'
  return { column, direction: orderBy?.direction ?? 'asc' } as const
}

function isFigure(field: Order['field']): field is FigureField {
  return field !== 'name' && field !== 'created_at'
}

/** The figures are in memory: ids are sorted there, and only the rows of the page are read. */
async function listByFigure(
  context: Context,
  query: NodeQuery,
  { field, direction }: Order,
  slice?: Slice,
): Promise<Node[]> {
  const sign = direction === 'asc' ? 1 : -1
  const sorted = (await listIds(context, query))
    .map((id) => ({ id, value: figureOf(context, id, field) }))
    .sort((a, b) => sign * (a.value - b.value || a.id - b.id))
  if (!slice) return pick(await listRows(context, { ...query, orderBy: undefined }), sorted)
  const ids = sorted.slice(slice.offset, slice.offset + slice.limit)
  const page = await readNodes(
    context,
    ids.map(({ id }) => id),
  )
  return pick(page, ids)
}

/** As one text: ten thousand rows as objects take ten times as long. */
async function listIds(context: Context, query: NodeQuery): Promise<number[]> {
  const ids = sql<string>`json_group_array(nodes.id)`.as('ids')
  const row = await filter(context.db.selectFrom('nodes'), query).select(ids).executeTakeFirstOrThrow()
  return Ids.parse(JSON.parse(row.ids))
}

const Ids = z.array(z.number())

function pick(nodes: readonly Node[], order: readonly { id: number }[]): Node[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  return order.flatMap(({ id }) => byId.get(id) ?? [])
}

/** A node that was never seen comes before all others. */
function figureOf(context: Context, id: number, field: Order['field']): number {
  const figures = context.live.find(id)
  if (field === 'transferRx') return figures?.rx ?? 0
  if (field === 'transferTx') return figures?.tx ?? 0
  return figures?.latestHandshake ?? 0
}
