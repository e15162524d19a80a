import type { Page } from '@postern/contract/lists'
import type { SelectQueryBuilder } from 'kysely'

interface PageQuery {
  page?: number | undefined
  limit?: number | undefined
}

/** Where a page begins and how long it is. */
export interface Slice {
  limit: number
  offset: number
}

/**
 * A page when the query has a `limit`, otherwise all rows.
 * @param found all rows
 * @param read called without a slice for all
 */
export async function listOrPage<T, DB, TB extends keyof DB>(
  { page = 1, limit }: PageQuery,
  found: SelectQueryBuilder<DB, TB, object>,
  read: (slice?: Slice) => Promise<T[]>,
): Promise<T[] | Page<T>> {
  if (limit === undefined) return await read()
  const offset = (page - 1) * limit
  const data = await read({ limit, offset })
  // The last page shows how long the list is, and a search with few results has read every row already.
  if (data.length < limit && (data.length > 0 || page === 1))
    return { data, page, limit, total: offset + data.length }
  const { total } = await found
    .select(({ fn }) => fn.countAll().as('total'))
    .$castTo<{ total: number }>() // The tables are unknown here, and so is the column's type.
    .executeTakeFirstOrThrow()
  return { data, page, limit, total }
}
