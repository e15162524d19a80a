import type { Domain } from '@postern/contract/domains'
import { ChevronDown, ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from '../../ui/IconButton.tsx'
import type { Column } from '../../ui/Table.tsx'
import { formatDate } from '../../util/dates.ts'
import { domainUrl } from '../../util/domain-url.ts'
import { CertificateCell } from './CertificateCell.tsx'

interface Rows {
  publicUrl: string | undefined
  isOpen: (domain: Domain) => boolean
  onToggle: (domain: Domain) => void
  renderMenu: (domain: Domain) => ReactNode
}

export function domainColumns({ publicUrl, isOpen, onToggle, renderMenu }: Rows): Column<Domain>[] {
  return [
    {
      head: 'Services',
      hiddenHead: true,
      width: 'w-exp',
      className: 'c-exp',
      render: (domain) => (
        <IconButton
          label={`Services of ${domain.domain}`}
          icon={isOpen(domain) ? ChevronDown : ChevronRight}
          aria-expanded={isOpen(domain)}
          onClick={() => onToggle(domain)}
        />
      ),
    },
    {
      head: 'Domain',
      width: 'w-30',
      className: 'c-name',
      render: ({ domain }) => (
        <a className="mono" href={domainUrl(domain, publicUrl)} target="_blank" rel="noreferrer">
          {domain}
        </a>
      ),
    },
    { head: 'SSL Certs', className: 'c-full', render: (domain) => <CertificateCell domain={domain} /> },
    {
      head: 'Created At',
      width: 'w-day',
      className: 'tn',
      label: 'Created At',
      render: (domain) => formatDate(domain.created_at),
    },
    { head: 'Actions', hiddenHead: true, width: 'w-act', className: 'c-act', render: renderMenu },
  ]
}
