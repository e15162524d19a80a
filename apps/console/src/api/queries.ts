import type { Endpoint } from '@postern/contract/endpoints'
import { queryOptions } from '@tanstack/react-query'
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
