import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Attention } from '@postern/contract/overview'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { reload, useEndingCertificates, usePage } from '../../api/queries.ts'

/** How many are shown where there is room for a few. */
const NAMED = 5

/** How much needs a person, and the first entries: shared by Home and the sidebar, so that they show the same. */
export function useAttention(enabled: boolean) {
  useEndings(enabled)
  return usePage(endpoints.listAttention, { query: { limit: NAMED } }, { enabled })
}

/** A certificate can come to need a person by time alone, so the list is requested again then. */
export function useEndings(enabled: boolean): void {
  const client = useQueryClient()
  const ending = useEndingCertificates(enabled).length
  useEffect(() => {
    if (ending > 0) void reload(client, { queryKey: [endpoints.listAttention.path] })
  }, [client, ending])
}

/** The problem, in words. */
export function problemOf({ problem, lost }: Attention): string {
  if (lost === null) return problem ?? ''
  if (lost.services === 0) return 'It has no enabled services.'
  return lost.services === 1
    ? 'Its service is unreachable.'
    : `Its ${lost.services} services are unreachable.`
}
