import { endpoints } from '@postern/contract/endpoints'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { apiQuery } from '../../api/queries.ts'
import { EDGE_POLL_INTERVAL } from '../../util/constants.ts'

export function useEdges() {
  const api = useApi()
  return useQuery({ ...apiQuery(api, endpoints.listEdges, {}), refetchInterval: EDGE_POLL_INTERVAL })
}
