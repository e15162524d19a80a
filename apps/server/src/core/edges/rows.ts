import type { Edge } from '@postern/contract/edge/edge'
import { FOUNDING_EDGE } from '@postern/net/tunnel-addresses'
import type { Kysely } from 'kysely'
import type { Database, EdgeRow } from '../../db/schema.ts'
import { ConflictError, NotFoundError } from '../errors.ts'

export async function findEdgeRow(db: Kysely<Database>, id: number): Promise<EdgeRow | undefined> {
  return await db.selectFrom('edges').selectAll().where('id', '=', id).executeTakeFirst()
}

/** @throws NotFoundError */
export async function getEdgeRow(db: Kysely<Database>, id: number): Promise<EdgeRow> {
  const row = await findEdgeRow(db, id)
  if (!row) throw new NotFoundError('Edge')
  return row
}

/** @throws NotFoundError */
export async function getEdge({ edges }: { edges: { list(): Promise<Edge[]> } }, id: number): Promise<Edge> {
  const edge = (await edges.list()).find((each) => each.id === id)
  if (!edge) throw new NotFoundError('Edge')
  return edge
}

/** @throws ConflictError for the edge beside the server */
export function refuseFounding({ number }: Pick<EdgeRow, 'number'>, why: string): void {
  if (number === FOUNDING_EDGE) throw new ConflictError(why, [], 'system')
}
