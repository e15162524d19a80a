import { endpoints } from '@postern/contract/console-endpoints'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useEndingCertificates, usePage } from '../../api/queries.ts'

/** The first of all that needs a person. A certificate becomes one by time alone. */
export function useAttention(limit: number) {
  const client = useQueryClient()
  const ending = useEndingCertificates(true).length
  const query = usePage(endpoints.listAttention, { query: { limit } })
  useEffect(() => {
    if (ending > 0) void client.invalidateQueries({ queryKey: [endpoints.listAttention.path] })
  }, [client, ending])
  return query
}
