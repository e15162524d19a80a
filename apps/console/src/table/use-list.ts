import type { Endpoint } from '@postern/contract/endpoints'
import type { Page } from '@postern/contract/lists'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import type * as z from 'zod/mini'
import { useApi } from '../api/context.ts'
import { keyOf } from '../api/queries.ts'
import { useStream } from '../api/stream.ts'
import type { CallInput, RawInput, RowOf } from '../api/types.ts'
import { LIST_POLL_INTERVAL } from '../util/constants.ts'
import { type ListParams, listQueryOf, stepBack } from './list-params.ts'

interface Options<E extends Endpoint> {
  endpoint: E
  params: ListParams
  onPage: (page: number) => void
  /** Further fixed keys of the endpoint's query and path. */
  input?: { params?: Record<string, string | number>; query?: Record<string, string | number> }
  /** A stream that takes the same query and sends the page's rows. */
  live?: { stream: Endpoint; rows: z.ZodMiniType<RowOf<E>[]> }
}

/** One page of a list, kept fresh; it steps back when the last row of a page goes. */
export function useList<E extends Endpoint>({ endpoint, params, onPage, input, live }: Options<E>) {
  const api = useApi()
  const client = useQueryClient()
  const query = { ...definedOnly(listQueryOf(params)), ...input?.query }
  const raw: RawInput = { ...input, query }
  // Named once for all lists; which of them an endpoint takes is its page's business.
  const callInput = raw as CallInput<E>
  const queryKey = keyOf(endpoint, callInput)
  const result = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.listPage(endpoint, { ...callInput, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: LIST_POLL_INTERVAL,
  })
  const state = useStream(live?.stream ?? endpoint, {
    query,
    reconnect: true,
    enabled: live !== undefined,
    onMessage: (message) => {
      const rows = live?.rows.safeParse(message)
      if (!rows?.success)
        return console.error('The stream sent rows that could not be understood', rows?.error)
      const before = client.getQueryData<Page<RowOf<E>>>(queryKey)
      client.setQueryData<Page<RowOf<E>>>(queryKey, (page) => page && { ...page, data: rows.data })
      // The stream has no total: other rows than before may mean another number of pages.
      if (before && !sameRows(before.data, rows.data)) void client.invalidateQueries({ queryKey })
    },
  })
  useStepBack(result.isPlaceholderData ? undefined : result.data, params, onPage)
  return { ...result, streamState: state }
}

function useStepBack(
  page: Page<unknown> | undefined,
  params: ListParams,
  onPage: (page: number) => void,
): void {
  const target = page && stepBack(params.page, params.limit, page.data.length, page.total)
  const go = useEffectEvent(onPage)
  useEffect(() => {
    if (target !== undefined) go(target)
  }, [target])
}

function sameRows(before: readonly unknown[], after: readonly unknown[]): boolean {
  const ids = (rows: readonly unknown[]) =>
    rows.map((row) => (typeof row === 'object' && row !== null && 'id' in row ? row.id : undefined)).join()
  return ids(before) === ids(after)
}

function definedOnly(query: ReturnType<typeof listQueryOf>): Record<string, string | number> {
  const entries = Object.entries(query).filter(
    (entry): entry is [string, string | number] => entry[1] !== undefined,
  )
  return Object.fromEntries(entries)
}
