import { endpoints } from '@postern/contract/endpoints'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../api/context.ts'
import { apiQuery } from '../api/queries.ts'

/** What the installation says of itself; it changes only when the server is started again. */
export function useConfig() {
  const api = useApi()
  return useQuery({ ...apiQuery(api, endpoints.config, {}), staleTime: 300_000 })
}

/** The edges and whether what the console shows is in force on them. */
export function useEdges() {
  const api = useApi()
  return useQuery(apiQuery(api, endpoints.listEdges, {}))
}
