import type { Domain } from '@postern/contract/domains'
import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { ask, attempt } from '../ask.ts'

/** Deletes a domain, after a question, and orders its certificate again. */
export function useDomainActions() {
  const api = useApi()
  const queries = useQueryClient()
  const refresh = () => reload(queries, { queryKey: [endpoints.listDomains.path] })
  return {
    remove: ({ id, domain }: Domain) =>
      ask({
        question: {
          title: 'Delete domain',
          description: (
            <>
              This permanently deletes <b className="mono">{domain}</b> and its certificate. If services still
              use it, delete them first.
            </>
          ),
          variant: 'danger',
          icon: Trash2,
          acceptButtonText: 'Yes, delete it!',
        },
        act: () => api.call(endpoints.deleteDomain, { params: { id } }),
        done: 'Domain deleted successfully!',
        subject: domain,
        refresh,
      }),
    /** Now, instead of after its wait. */
    tryAgain: async ({ id, domain }: Domain) => {
      const isOrdered = await attempt(() =>
        api.call(endpoints.retryCertificate, { params: { id }, body: {} }),
      )
      if (isOrdered) toast.success(`Requesting a new certificate for ${domain}.`)
      await refresh()
    },
  }
}
