import type { ShownRequest } from '@postern/contract/requests/query'
import { useMemo, useState } from 'react'
import { errorMessage, failureOf, isTold } from '../../api/api-error.ts'
import { Button } from '../../ui/Button.tsx'
import { Table } from '../../ui/data/Table.tsx'
import { EmptyState, ErrorPanel } from '../../ui/feedback/EmptyState.tsx'
import { columnsFor } from './columns.tsx'
import { FilterChips, useNames } from './FilterChips.tsx'
import { FilterDialog } from './FilterDialog.tsx'
import type { Filters } from './filters.ts'
import { Foot, LiveBar, Notes } from './ListNotes.tsx'
import { RequestDialog } from './RequestDialog.tsx'
import { useRequests } from './use-requests.ts'

interface Props {
  filters: Filters
  query: Omit<Filters, 'last'>
  onChange: (filters: Filters) => void
  /** Looks again from the newest on. */
  onReload: () => void
  /** The dialog of all filters is open. */
  isFiltering: boolean
  onFiltered: () => void
}

/** What the filters show; another filter is another list. */
export function RequestList({ filters, query, onChange, onReload, isFiltering, onFiltered }: Props) {
  const list = useRequests(query)
  const { old, live, rows } = list
  const [opened, setOpened] = useState<ShownRequest | null>(null)
  const columns = useMemo(() => columnsFor(setOpened), [])
  const names = useNames(filters, old.serviceName)
  const isEmpty = rows?.length === 0 && !old.isSearching
  const isStopped = isEmpty && old.hasMore
  const head = (
    <>
      <FilterChips filters={filters} names={names} onChange={onChange} />
      {isFiltering && (
        <FilterDialog
          filters={filters}
          names={names}
          onClose={onFiltered}
          onSave={(next) => {
            onFiltered()
            onChange(next)
          }}
        />
      )}
    </>
  )
  if (!old.isReady && old.isError)
    return (
      <>
        {head}
        <div className="panel">
          <ErrorPanel
            title="The requests could not be loaded"
            text={!isTold(old.error) && errorMessage(old.error)}
            failure={failureOf(old.error)}
            busy={old.isSearching}
            onRetry={old.retry}
          />
        </div>
      </>
    )
  return (
    <>
      {head}
      <LiveBar live={live} />
      <Notes list={list} onReload={onReload} />
      <div className="panel">
        {isEmpty ? (
          <Nothing filters={filters} isStopped={isStopped} onChange={onChange} />
        ) : (
          <Table
            className="requests"
            caption="Requests"
            columns={columns}
            rows={rows?.length === 0 ? undefined : rows}
            rowKey={({ id }) => id}
            skeletonRows={8}
          />
        )}
      </div>
      {(!isEmpty || isStopped) && <Foot list={list} />}
      {opened && <RequestDialog request={opened} filters={filters} onClose={() => setOpened(null)} />}
    </>
  )
}

interface NothingProps extends Pick<Props, 'filters' | 'onChange'> {
  /** There are older ones that nobody has looked at. */
  isStopped: boolean
}

function Nothing({ filters, isStopped, onChange }: NothingProps) {
  if (isStopped)
    return (
      <EmptyState door="dashed" title="Nothing found yet" text="The search was stopped before its end." />
    )
  if (Object.keys(filters).length === 0)
    return (
      <EmptyState
        door="ajar"
        title="No requests yet"
        text="Requests and connections to your services appear here once they have ended."
      />
    )
  return (
    <EmptyState door="dashed" title="No requests match" text="None of the kept requests match these filters.">
      <Button onClick={() => onChange({})}>Show all requests</Button>
    </EmptyState>
  )
}
