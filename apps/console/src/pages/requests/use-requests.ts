import { requests as endpoints } from '@postern/contract/endpoints/requests'
import { RequestBatch, type ShownRequest } from '@postern/contract/requests/query'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useApi } from '../../api/context.ts'
import { useStream } from '../../api/stream.ts'
import type { Filters } from './filters.ts'

const PAGE = 50
/** More rows make a page slow; the filters or an export help further. */
const MOST_SHOWN = 1000
/** New ones that are kept above the rest. */
const MOST_LIVE = 300

/** The requests that the filters show: what edges have kept, page by page, and above it what comes. */
export function useRequests(query: Omit<Filters, 'last'>) {
  const old = useKeptRequests(query)
  const live = useLiveRequests(query, old.newest, old.isReady)
  const rows = useMemo(() => {
    if (!old.rows) return undefined
    const known = new Set(live.shown.map(({ id }) => id))
    return [...live.shown, ...old.rows.filter(({ id }) => !known.has(id))]
  }, [live.shown, old.rows])
  return { old, live, rows }
}

export type RequestList = ReturnType<typeof useRequests>

function useKeptRequests(query: Omit<Filters, 'last'>) {
  const api = useApi()
  const [wanted, setWanted] = useState(PAGE)
  const pages = useInfiniteQuery({
    queryKey: [endpoints.listRequests.path, {}, query, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      api.call(endpoints.listRequests, {
        query: { ...query, limit: PAGE, ...(pageParam !== '' && { before: pageParam }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next ?? undefined,
    // The stream brings what is new; all pages again would be another search.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = pages
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data])
  const count = rows?.length ?? 0
  const isSearching = isFetching || (hasNextPage && !isError && count < wanted)
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError && count < wanted) void fetchNextPage()
  }, [hasNextPage, isFetching, isError, count, wanted, fetchNextPage])
  const last = data?.pages.at(-1)
  return {
    rows,
    isReady: data !== undefined,
    newest: data?.pages[0]?.newest ?? null,
    serviceName: data?.pages[0]?.serviceName ?? null,
    isSearching,
    /** How far back it has looked, in ms since the epoch. */
    reached: last?.reached ?? null,
    silent: last?.silent ?? [],
    isFull: hasNextPage && wanted >= MOST_SHOWN && count >= wanted,
    hasMore: hasNextPage && !isSearching && wanted < MOST_SHOWN,
    showMore: () => setWanted(count + PAGE),
    /** Ends the search where it is. */
    stop: () => setWanted(count),
    isError,
    error: pages.error,
    retry: () => void (data ? fetchNextPage() : pages.refetch()),
  }
}

function useLiveRequests(query: Omit<Filters, 'last'>, newest: string | null, isReady: boolean) {
  const [rows, setRows] = useState<readonly ShownRequest[]>([])
  const [held, setHeld] = useState<readonly ShownRequest[] | null>(null)
  const [missed, setMissed] = useState(false)
  const isLive = query.to === undefined
  const state = useStream(endpoints.streamRequests, {
    query: { ...query, ...(newest !== null && { after: newest }) },
    reconnect: true,
    enabled: isReady && isLive,
    onMessage(message) {
      const batch = RequestBatch.parse(message)
      if (batch.missed) setMissed(true)
      setRows((before) => {
        // A stream that was reopened begins anew.
        const known = new Set(before.map(({ id }) => id))
        return [...batch.data.filter(({ id }) => !known.has(id)), ...before].slice(0, MOST_LIVE)
      })
    },
  })
  const shown = held ?? rows
  return {
    state,
    isLive,
    shown,
    missed,
    isPaused: held !== null,
    waiting: held ? rows.filter(({ id }) => !held.some((row) => row.id === id)).length : 0,
    pause: () => setHeld(rows),
    resume: () => setHeld(null),
  }
}
