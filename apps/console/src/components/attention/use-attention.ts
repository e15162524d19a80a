import { endpoints } from '@postern/contract/console-endpoints'
import type { Attention } from '@postern/contract/overview'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { reload, useEndingCertificates, usePage } from '../../api/queries.ts'

/** So many are named where there is room for a few. */
const NAMED = 5

/** How much needs a person, and the first of it: one answer for Home and the sidebar, so that they say the same. */
export function useAttention(enabled: boolean) {
  useEndings(enabled)
  return usePage(endpoints.listAttention, { query: { limit: NAMED } }, { enabled })
}

/** A certificate comes to need a person by time alone: what does is asked for again. */
export function useEndings(enabled: boolean): void {
  const client = useQueryClient()
  const ending = useEndingCertificates(enabled).length
  useEffect(() => {
    if (ending > 0) void reload(client, { queryKey: [endpoints.listAttention.path] })
  }, [client, ending])
}

/** What is wrong, in words. */
export function problemOf({ problem, lost }: Attention): string {
  if (lost === null) return problem ?? ''
  if (lost.services === 0) return 'It has no enabled services.'
  return lost.services === 1
    ? 'Its service is unreachable.'
    : `Its ${lost.services} services are unreachable.`
}
