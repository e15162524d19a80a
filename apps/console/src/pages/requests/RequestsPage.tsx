import { requests as endpoints } from '@postern/contract/endpoints/requests'
import { ListFilter } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { ExportMenu } from '../../components/filters/ExportMenu.tsx'
import { Page } from '../../components/Page.tsx'
import { Button } from '../../ui/Button.tsx'
import { SearchField } from '../../ui/input/SearchField.tsx'
import { addressOf, queryOf, readFilters } from './filters.ts'
import { RequestList } from './RequestList.tsx'
import './Requests.css'

/** The requests and connections of the last days, the newest first. */
export function RequestsPage() {
  const [address, setAddress] = useSearchParams()
  const [isFiltering, setFiltering] = useState(false)
  const [generation, setGeneration] = useState(0)
  const filters = useMemo(() => readFilters(address), [address])
  // A time that counts back begins when it was chosen, or each look would be another search.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another look counts back from now
  const query = useMemo(() => queryOf(filters, Date.now()), [filters, generation])
  return (
    <Page title="Requests">
      <header className="head">
        <h1>Requests</h1>
        <ExportMenu label="Export these requests" endpoint={endpoints.exportRequests} query={query} />
      </header>
      <div className="tools requests-tools">
        <SearchField
          label="Search paths"
          placeholder="Search paths"
          value={filters.path ?? ''}
          onSearch={(path) => setAddress(addressOf({ ...filters, path }), { replace: true })}
        />
        <Button icon={ListFilter} onClick={() => setFiltering(true)}>
          Filter
        </Button>
      </div>
      <RequestList
        key={`${generation} ${addressOf(filters)}`}
        filters={filters}
        query={query}
        onChange={(next) => setAddress(addressOf(next))}
        onReload={() => setGeneration(generation + 1)}
        isFiltering={isFiltering}
        onFiltered={() => setFiltering(false)}
      />
    </Page>
  )
}
