import { endpoints } from '@postern/contract/endpoints'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { keyOf } from '../../api/queries.ts'
import { APPLYING_POLL_INTERVAL, LIST_POLL_INTERVAL } from '../../util/constants.ts'

/** All HTTP services of a domain, asked for again soon while one of them is on its way to the edges. */
export function useDomainServices(domain: string) {
  const api = useApi()
  const input = { query: { domain } }
  return useQuery({
    queryKey: keyOf(endpoints.listHttpServices, input),
    queryFn: ({ signal }) => api.listPage(endpoints.listHttpServices, { ...input, signal }),
    refetchInterval: ({ state }) => {
      const isApplying = state.data?.data.some((row) => row.enabled && row.state.phase === 'applying')
      return isApplying ? APPLYING_POLL_INTERVAL : LIST_POLL_INTERVAL
    },
  })
}
