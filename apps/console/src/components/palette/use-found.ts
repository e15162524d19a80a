import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Found } from '@postern/contract/find'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { keyOf } from '../../api/queries.ts'
import { useSettled } from '../../ui/use-settled.ts'
import { FIND_DELAY } from '../../util/constants.ts'

const NOTHING: Found = { nodes: [], domains: [], services: [] }

/** What the server finds for a text; nothing for an empty one. */
export function useFound(wanted: string) {
  const api = useApi()
  const text = useSettled(wanted, FIND_DELAY)
  const input = { query: { text } }
  const query = useQuery({
    queryKey: keyOf(endpoints.find, input),
    queryFn: ({ signal }) => api.call(endpoints.find, { ...input, signal }),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  })
  return {
    found: (wanted !== '' && query.data) || NOTHING,
    isPending: wanted !== text || query.isPlaceholderData || (text !== '' && query.isPending),
    error: wanted === '' ? null : query.error,
  }
}
