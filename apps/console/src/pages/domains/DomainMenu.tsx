import type { Domain } from '@postern/contract/domains'
import { endpoints } from '@postern/contract/endpoints'
import { useQueryClient } from '@tanstack/react-query'
import { Pencil, ScrollText, Trash2 } from 'lucide-react'
import { useNavigate } from 'react-router'
import { useApi } from '../../api/context.ts'
import { ask } from '../../components/ask.ts'
import { Menu } from '../../ui/Menu.tsx'
import { urls } from '../../util/urls.ts'

export function DomainMenu({ domain, onEdit }: { domain: Domain; onEdit: () => void }) {
  const navigate = useNavigate()
  const remove = useRemoveDomain()
  return (
    <Menu
      label={`Actions for ${domain.domain}`}
      groups={[
        [
          {
            text: 'Logs Monitor',
            icon: ScrollText,
            onSelect: () => navigate(urls.domainLogs(domain.domain)),
          },
        ],
        [{ text: 'Edit Domain', icon: Pencil, onSelect: onEdit }],
        [{ text: 'Delete Domain', icon: Trash2, danger: true, onSelect: () => remove(domain) }],
      ]}
    />
  )
}

function useRemoveDomain() {
  const api = useApi()
  const queries = useQueryClient()
  return ({ id, domain }: Domain) =>
    ask({
      question: {
        title: 'Delete domain',
        description: (
          <>
            <b>{domain}</b> and its certificate are removed for good. This is not possible while services use
            it.
          </>
        ),
        variant: 'danger',
        icon: Trash2,
        acceptButtonText: 'Yes, delete it!',
      },
      act: () => api.call(endpoints.deleteDomain, { params: { id } }),
      done: 'Domain deleted successfully!',
      refresh: () => queries.invalidateQueries({ queryKey: [endpoints.listDomains.path] }),
    })
}
