import { type Endpoint, pathOf } from '@postern/contract/endpoints/endpoint'
import type { Page } from '@postern/contract/lists'
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import type * as z from 'zod/mini'
import { keyOf, putNewer, usePage } from '../api/queries.ts'
import { type StreamState, useStream } from '../api/stream.ts'
import type { CallInput, RawInput, RowOf } from '../api/types.ts'
import { findRowCount, keepRowCount } from '../stores/row-counts.ts'
import {
  findUnusable,
  isNarrowed,
  type ListParams,
  type ListState,
  listQueryOf,
  stepBack,
} from './list-params.ts'

interface Options<E extends Endpoint> {
  endpoint: E
  /** Its page, search, filter and order. */
  state: ListState
  /** Further fixed keys of the endpoint's query and path. */
  input?: { params?: Record<string, string | number>; query?: Record<string, string | number> }
  /** In ms, for data that changes without hints. */
  refetchInterval?: number
  /** A stream that takes the same query and sends the page's rows. */
  live?: { stream: Endpoint; rows: z.ZodMiniType<RowOf<E>[]> }
}

/** One page of a list, as `QueryTable` shows it. */
export interface List<Row> {
  query: UseQueryResult<Page<Row>>
  params: ListParams
  change: ListState[1]
  streamState: StreamState
  /** How many rows will come, as far as that is known. */
  expectedRows: number | undefined
}

/** One page of a list, kept up to date; it steps back when a page has lost its last row. */
export function useList<E extends Endpoint>({
  endpoint,
  state,
  input,
  refetchInterval,
  live,
}: Options<E>): List<RowOf<E>> {
  const [asked, change] = state
  const unusable = findUnusable(endpoint, asked)
  const params = { ...asked, ...unusable }
  useDrop(unusable, asked.page, change)
  const client = useQueryClient()
  const query = { ...listQueryOf(params), ...input?.query }
  const raw: RawInput = { ...input, query }
  // Typed once for all lists; each page passes only keys that its endpoint accepts.
  const callInput = raw as CallInput<E>
  const queryKey = keyOf(endpoint, callInput)
  const result = usePage(endpoint, callInput, { refetchInterval })
  const streamState = useStream(live?.stream ?? endpoint, {
    query,
    reconnect: true,
    enabled: live !== undefined,
    onMessage: (message) => {
      const rows = live?.rows.safeParse(message)
      if (!rows?.success)
        return console.error('The stream sent rows that could not be understood', rows?.error)
      putNewer<Page<RowOf<E>>>(client, queryKey, (page) => page && { ...page, data: rows.data })
    },
  })
  const page = result.isPlaceholderData ? undefined : result.data
  useStepBack(page, [params, change])
  const expectedRows = useExpectedRows(
    `${pathOf(endpoint, input?.params)} ${JSON.stringify(input?.query)}`,
    params,
    page,
  )
  return { query: result, params, change, streamState, expectedRows }
}

/** Of a hand-written address, valid parameters are kept. */
function useDrop(unusable: Partial<ListParams> | undefined, page: number, change: ListState[1]): void {
  const isUnusable = unusable !== undefined
  const drop = useEffectEvent(() => change({ ...unusable, page }, { replace: true }))
  useEffect(() => {
    if (isUnusable) drop()
  }, [isUnusable])
}

function useStepBack(page: Page<unknown> | undefined, [params, change]: ListState): void {
  const target = page && stepBack(params.page, params.limit, page.data.length, page.total)
  const go = useEffectEvent((to: number) => change({ page: to }, { replace: true }))
  useEffect(() => {
    if (target !== undefined) go(target)
  }, [target])
}

/** As many as the list's page had when it was last shown. */
function useExpectedRows(
  list: string,
  params: ListParams,
  shown: Page<unknown> | undefined,
): number | undefined {
  const { page, limit } = params
  const isWhole = !isNarrowed(params)
  const total = isWhole ? shown?.total : undefined
  useEffect(() => {
    if (total !== undefined) keepRowCount(list, total)
  }, [list, total])
  const [known] = useState(() => findRowCount(list))
  return known === undefined ? undefined : Math.max(1, Math.min(limit, known - (page - 1) * limit))
}
