import { LIMITS } from '@postern/contract/limits'
import { Plus } from 'lucide-react'
import { Suspense, useState } from 'react'
import { LiveMark } from '../../components/LiveMark.tsx'
import { Page } from '../../components/Page.tsx'
import { NodeDialog } from '../../forms/dialogs.ts'
import { useListParams } from '../../table/use-list-params.ts'
import { Button } from '../../ui/Button.tsx'
import { Pills } from '../../ui/Pills.tsx'
import { SearchField } from '../../ui/SearchField.tsx'
import { NodesTable } from './NodesTable.tsx'
import { useNodes } from './use-nodes.ts'

const TYPES = [
  { value: '', text: 'View All' },
  { value: 'nodes', text: 'Nodes' },
  { value: 'gateways', text: 'Gateways' },
] as const

export function NodesPage() {
  const [params, setParams] = useListParams(LIMITS.pageSize)
  const [isAdding, setAdding] = useState(false)
  const nodes = useNodes(params, (page) => setParams({ page }, { replace: true }))
  return (
    <Page title="Client / Nodes">
      <header className="head">
        <h1>Client / Nodes</h1>
        <div className="acts">
          <Button variant="primary" icon={Plus} onClick={() => setAdding(true)}>
            Add Client
          </Button>
        </div>
      </header>
      <div className="tools">
        <Pills
          label="Type"
          options={TYPES}
          value={params.type}
          onValueChange={(type) => setParams({ type })}
        />
        <SearchField
          label="Search nodes"
          placeholder="Search name or address"
          value={params.search}
          onSearch={(search) => setParams({ search }, { replace: true })}
        />
        <LiveMark state={nodes.streamState} />
      </div>
      <NodesTable nodes={nodes} params={params} onParams={setParams} onAdd={() => setAdding(true)} />
      <Suspense>{isAdding && <NodeDialog onClose={() => setAdding(false)} />}</Suspense>
    </Page>
  )
}
