import type { Endpoint } from '@postern/contract/endpoint'
import { type QueryClient, type QueryKey, queryOptions } from '@tanstack/react-query'
import type { Api } from './client.ts'
import type { CallInput, RawInput } from './types.ts'

/**
 * The cache key of an endpoint's answer. It starts with the endpoint's path, so that
 * `invalidateQueries({ queryKey: ['/api/nodes'] })` reaches every page of that list.
 */
export function keyOf<E extends Endpoint>(endpoint: E, input: CallInput<E>) {
  // CallInput is RawInput narrowed by the endpoint.
  const { params, query } = input as RawInput
  return [endpoint.path, params ?? {}, query ?? {}] as const
}

/** What useQuery needs for one call of a GET endpoint. */
export function apiQuery<E extends Endpoint>(api: Api, endpoint: E, input: CallInput<E>) {
  return queryOptions({
    queryKey: keyOf(endpoint, input),
    queryFn: ({ signal }) => api.call(endpoint, { ...input, signal }),
  })
}

/** Puts in what a stream sent. An answer under way may be older, so it is asked for again. */
export function putNewer<T>(
  queries: QueryClient,
  queryKey: QueryKey,
  change: (old: T | undefined) => T | undefined,
): void {
  queries.setQueryData<T>(queryKey, change)
  if (queries.isFetching({ queryKey }) > 0) void queries.invalidateQueries({ queryKey })
}
