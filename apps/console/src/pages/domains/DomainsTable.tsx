import type { Domain } from '@postern/contract/domains'
import type { Page } from '@postern/contract/lists'
import type { UseQueryResult } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { Suspense, useState } from 'react'
import { wordsForError } from '../../api/api-error.ts'
import { DomainDialog } from '../../forms/dialogs.ts'
import { useConfig } from '../../hooks/use-config.ts'
import type { ListParams } from '../../table/list-params.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorPanel } from '../../ui/ErrorPanel.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Table } from '../../ui/Table.tsx'
import { DomainMenu } from './DomainMenu.tsx'
import { DomainServices } from './DomainServices.tsx'
import { domainColumns } from './domain-columns.tsx'

interface Props {
  domains: UseQueryResult<Page<Domain>>
  params: ListParams
  onParams: (change: Partial<ListParams>) => void
  onAdd: () => void
}

/** The rows, or what there is instead of rows. */
export function DomainsTable({ domains, params, onParams, onAdd }: Props) {
  const [editing, setEditing] = useState<Domain | null>(null)
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const publicUrl = useConfig().data?.publicUrl
  const columns = domainColumns({
    publicUrl,
    isOpen: ({ id }) => open.has(id),
    onToggle: ({ id }) => setOpen((before) => before.symmetricDifference(new Set([id]))),
    renderMenu: (domain) => <DomainMenu domain={domain} onEdit={() => setEditing(domain)} />,
  })
  const page = domains.data
  return (
    <>
      <div className="panel">
        {page === undefined && domains.isError ? (
          <ErrorPanel
            title="The domains could not be loaded"
            text={wordsForError(domains.error)}
            busy={domains.isFetching}
            onRetry={() => domains.refetch()}
          />
        ) : page?.total === 0 ? (
          <NoDomains search={params.search} onClear={() => onParams({ search: '' })} onAdd={onAdd} />
        ) : (
          <Table
            className="domains"
            caption="Domains"
            columns={columns}
            rows={page?.data}
            rowKey={(domain) => domain.id}
            renderExpanded={({ id, domain }) => open.has(id) && <DomainServices domain={domain} />}
          />
        )}
      </div>
      {page && (
        <Pager
          page={params.page}
          limit={page.limit}
          total={page.total}
          onPage={(next) => onParams({ page: next })}
        />
      )}
      <Suspense>{editing && <DomainDialog domain={editing} onClose={() => setEditing(null)} />}</Suspense>
    </>
  )
}

function NoDomains({ search, onClear, onAdd }: { search: string; onClear: () => void; onAdd: () => void }) {
  if (search !== '')
    return (
      <EmptyState door="dashed" title={`Nothing matches “${search}”`} text="No domain has this in its name.">
        <Button onClick={onClear}>Clear search</Button>
      </EmptyState>
    )
  return (
    <EmptyState
      door="ajar"
      title="No domains yet"
      text="Add a domain that points to this server, then publish services under it."
    >
      <Button variant="primary" icon={Plus} onClick={onAdd}>
        Add Domain
      </Button>
    </EmptyState>
  )
}
