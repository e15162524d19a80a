import { endpoints as people } from '@postern/contract/endpoints/console-endpoints'
import { history as endpoints } from '@postern/contract/endpoints/history'
import { ListFilter } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { useAnswer } from '../../api/queries.ts'
import { Chips } from '../../components/filters/Chips.tsx'
import { ExportMenu } from '../../components/filters/ExportMenu.tsx'
import { HistoryList } from '../../components/history/HistoryList.tsx'
import { Page } from '../../components/Page.tsx'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { SearchField } from '../../ui/input/SearchField.tsx'
import { addressOf, chipText, FILTER_KEYS, type Filters, readFilters } from './filters.ts'
import { HistoryFilterDialog } from './HistoryFilterDialog.tsx'

/** What was changed, by whom and from where, the newest first. */
export function HistoryPage() {
  const [address, setAddress] = useSearchParams()
  const [isFiltering, setFiltering] = useState(false)
  const filters = useMemo(() => readFilters(address), [address])
  const node = useNodeName(filters.node)
  const show = (next: Filters) => setAddress(addressOf(next))
  const keys = FILTER_KEYS.filter((key) => filters[key] !== undefined && key !== 'search')
  return (
    <Page title="History">
      <header className="head">
        <h1>History</h1>
        <ExportMenu label="Export these changes" endpoint={endpoints.exportHistory} query={filters} />
      </header>
      <div className="tools history-tools">
        <SearchField
          label="Search history"
          placeholder="Search names, people and values"
          value={filters.search ?? ''}
          onSearch={(search) => setAddress(addressOf({ ...filters, search }), { replace: true })}
        />
        <Button icon={ListFilter} onClick={() => setFiltering(true)}>
          Filter
        </Button>
      </div>
      <Chips
        chips={keys.map((key) => ({ key, text: chipText(key, filters[key] ?? '', node) }))}
        onRemove={(key) => show({ ...filters, [key]: undefined, ...(key === 'kind' && { id: undefined }) })}
        onClear={() => show({})}
      />
      <HistoryList
        key={addressOf(filters).toString()}
        caption="Changes"
        query={filters}
        empty={<Nothing isNarrowed={Object.keys(filters).length > 0} onAll={() => show({})} />}
      />
      {isFiltering && (
        <HistoryFilterDialog
          filters={filters}
          node={node}
          onClose={() => setFiltering(false)}
          onSave={(next) => {
            setFiltering(false)
            show(next)
          }}
        />
      )}
    </Page>
  )
}

function useNodeName(id: string | undefined): string | undefined {
  const answer = useAnswer(
    people.getNode,
    { params: { id: id ?? '' } },
    { enabled: id !== undefined, staleTime: 60_000 },
  )
  return id === undefined ? undefined : answer.data?.name
}

function Nothing({ isNarrowed, onAll }: { isNarrowed: boolean; onAll: () => void }) {
  if (!isNarrowed)
    return (
      <EmptyState door="ajar" title="No changes yet" text="What people and programs change appears here." />
    )
  return (
    <EmptyState door="dashed" title="No changes match" text="None of the kept changes match these filters.">
      <Button onClick={onAll}>Show all changes</Button>
    </EmptyState>
  )
}
