import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import {
  keepPreviousData,
  type QueryClient,
  type QueryFilters,
  type QueryKey,
  useQuery,
} from '@tanstack/react-query'
import { useApi } from './context.ts'
import type { Answer, CallInput, RawInput } from './types.ts'

/**
 * The cache key of an endpoint's answer. It starts with the endpoint's path, so that
 * `reload(queries, { queryKey: ['/api/nodes'] })` reaches every page of that list.
 */
export function keyOf<E extends Endpoint>(endpoint: E, input: CallInput<E>) {
  // CallInput is RawInput narrowed by the endpoint.
  const { params, query } = input as RawInput
  return [endpoint.path, params ?? {}, query ?? {}] as const
}

interface AnswerOptions<T> {
  staleTime?: number
  /** In ms; can depend on the last answer. */
  refetchInterval?: number | false | ((answer: T | undefined) => number | undefined)
  enabled?: boolean
}

/** The answer of a GET endpoint. */
export function useAnswer<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  { refetchInterval = false, ...options }: AnswerOptions<Answer<E>> = {},
) {
  const api = useApi()
  return useQuery({
    queryKey: keyOf(endpoint, input),
    queryFn: ({ signal }) => api.call(endpoint, { ...input, signal }),
    refetchInterval: ({ state }) =>
      typeof refetchInterval === 'function' ? refetchInterval(state.data) : refetchInterval,
    ...options,
  })
}

/** One page of a list endpoint, whose query has `limit`; the previous one while the next is loaded. */
export function usePage<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  { refetchInterval = false, enabled }: { refetchInterval?: number | false; enabled?: boolean } = {},
) {
  const api = useApi()
  return useQuery({
    queryKey: keyOf(endpoint, input),
    queryFn: ({ signal }) => api.listPage(endpoint, { ...input, signal }),
    placeholderData: keepPreviousData,
    refetchInterval,
    enabled,
  })
}

/**
 * Repeats requests whose answers may be out of date. A first answer that is still under way may be from before the
 * change, and `invalidateQueries` takes it for the new one, so it is requested again when it has arrived.
 */
export async function reload(queries: QueryClient, filters: QueryFilters): Promise<void> {
  const awaited = queries
    .getQueryCache()
    .findAll({ ...filters, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined)
  for (const { promise, queryKey } of awaited) {
    if (promise === undefined || followed.has(promise)) continue
    followed.add(promise)
    const again = () => queries.invalidateQueries({ queryKey, exact: true })
    // A failure is shown in place of the answer.
    void promise.then(again, () => undefined)
  }
  await queries.invalidateQueries(filters)
}

/** First requests under way that will be repeated. */
const followed = new WeakSet<Promise<unknown>>()

/** Stores what a stream sent. A request in flight may bring something older, so it is repeated. */
export function putNewer<T>(
  queries: QueryClient,
  queryKey: QueryKey,
  change: (old: T | undefined) => T | undefined,
): void {
  queries.setQueryData<T>(queryKey, change)
  if (queries.isFetching({ queryKey }) > 0) void reload(queries, { queryKey })
}

/** The installation's configuration, which changes rarely, and then by a hint. */
export const useConfig = () => useAnswer(endpoints.config, {}, { staleTime: 300_000 })

/** Who is signed in, and in which role. */
export const useMe = () => useAnswer(endpoints.me, {}, { staleTime: 300_000 })

/** The edges, and whether they have applied what the console shows. */
export const useEdges = (enabled: boolean) => useAnswer(endpoints.listEdges, {}, { enabled })

/** The certificates whose renewal fails. Time alone adds more of them, and the server says when. */
export const useEndingCertificates = (enabled: boolean) =>
  useAnswer(
    endpoints.listEndingCertificates,
    {},
    // With a margin, so that the next request does not come too early.
    { enabled, refetchInterval: (answer) => answer && answer.nextInMs + 1000 },
  ).data?.data ?? []
