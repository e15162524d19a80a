import { endpoints } from '@postern/contract/console-endpoints'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useEndingCertificates, usePage } from '../../api/queries.ts'

/** The first of all that needs a person. */
export function useAttention(limit: number) {
  useEndings()
  return usePage(endpoints.listAttention, { query: { limit } })
}

/** A certificate comes to need a person by time alone: what does is asked for again. */
export function useEndings(): void {
  const client = useQueryClient()
  const ending = useEndingCertificates(true).length
  useEffect(() => {
    if (ending > 0) void client.invalidateQueries({ queryKey: [endpoints.listAttention.path] })
  }, [client, ending])
}
