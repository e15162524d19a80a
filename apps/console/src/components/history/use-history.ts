import { history as endpoints } from '@postern/contract/endpoints/history'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useApi } from '../../api/context.ts'

/** Which changes, as the address and the API take it. */
export type HistoryQuery = Readonly<
  Partial<Record<'search' | 'actor' | 'kind' | 'id' | 'node' | 'domain' | 'from' | 'to', string>>
>

const PAGE = 50
/** More rows make a page slow; the filters or an export help further. */
const MOST_PAGES = 20

/** Changes, the newest first, page by page. */
export function useHistory(query: HistoryQuery) {
  const api = useApi()
  const pages = useInfiniteQuery({
    queryKey: [endpoints.listHistory.path, {}, query, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      api.call(endpoints.listHistory, {
        query: { ...query, limit: String(PAGE), ...(pageParam !== 0 && { before: String(pageParam) }) },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: (last) => last.next ?? undefined,
  })
  const { data } = pages
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data])
  const isFull = (data?.pages.length ?? 0) >= MOST_PAGES
  return { ...pages, rows, isFull }
}
