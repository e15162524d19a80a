import { endpoints } from '@postern/contract/endpoints'
import { LIMITS } from '@postern/contract/limits'
import { Plus } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Page } from '../../components/Page.tsx'
import { DomainDialog } from '../../forms/dialogs.ts'
import { useList } from '../../table/use-list.ts'
import { useListParams } from '../../table/use-list-params.ts'
import { Button } from '../../ui/Button.tsx'
import { SearchField } from '../../ui/SearchField.tsx'
import { DomainsTable } from './DomainsTable.tsx'
import '../../styles/domains.css'

export function DomainsPage() {
  const [params, setParams] = useListParams(LIMITS.pageSize)
  const [isAdding, setAdding] = useState(false)
  const domains = useList({
    endpoint: endpoints.listDomains,
    params,
    onPage: (page) => setParams({ page }, { replace: true }),
  })
  return (
    <Page title="Domains">
      <header className="head">
        <h1>Domains</h1>
        <div className="acts">
          <Button variant="primary" icon={Plus} onClick={() => setAdding(true)}>
            Add Domain
          </Button>
        </div>
      </header>
      <div className="tools">
        <SearchField
          label="Search domains"
          placeholder="Search domain"
          value={params.search}
          onSearch={(search) => setParams({ search }, { replace: true })}
        />
      </div>
      <DomainsTable domains={domains} params={params} onParams={setParams} onAdd={() => setAdding(true)} />
      <Suspense>{isAdding && <DomainDialog onClose={() => setAdding(false)} />}</Suspense>
    </Page>
  )
}
