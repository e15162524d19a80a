import type { Page } from '@postern/contract/lists'

interface PageQuery {
  page?: number | undefined
  limit?: number | undefined
}

/** Where a page begins and how long it is. */
export interface Slice {
  limit: number
  offset: number
}

/** A page when the query has a `limit`, otherwise all rows. `read` gets no slice for all. */
export async function listOrPage<T>(
  { page = 1, limit }: PageQuery,
  count: () => Promise<number>,
  read: (slice: Slice | undefined) => Promise<T[]>,
): Promise<T[] | Page<T>> {
  if (limit === undefined) return await read(undefined)
  const data = await read({ limit, offset: (page - 1) * limit })
  return { data, page, limit, total: await count() }
}
