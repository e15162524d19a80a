import type { Service, ServiceStanding } from '@postern/contract/services/services'
import { DomainPicker, NodePicker } from '../../components/pickers/pickers.tsx'
import type { List } from '../../table/use-list.ts'
import { SearchField } from '../../ui/input/SearchField.tsx'
import { Pills, Select } from '../../ui/input/Select.tsx'

/** The keys of the page's address, and of the endpoint. */
export const FILTERS = ['state', 'node', 'domain', 'kind'] as const

const KINDS = [
  { value: '', text: 'View All' },
  { value: 'http', text: 'HTTP' },
  { value: 'tcp', text: 'TCP' },
  { value: 'udp', text: 'UDP' },
] as const

const STATES: readonly { value: ServiceStanding | ''; text: string }[] = [
  { value: '', text: 'Any state' },
  { value: 'live', text: 'Live' },
  { value: 'failed', text: 'Failed' },
  { value: 'unanswered', text: 'Not answering' },
  { value: 'node-offline', text: 'Node offline' },
  { value: 'node-disconnected', text: 'Node disconnected' },
  { value: 'checking', text: 'Checking' },
  { value: 'applying', text: 'Applying' },
  { value: 'disabled', text: 'Disabled' },
]

/** What the list of all services is narrowed by; the page's address holds it. */
export function ServiceFilters({ list: { params, change } }: { list: List<Service> }) {
  const { state = '', node = '', domain = '', kind = '' } = params.filters
  const set = (filters: Record<string, string>) => change({ filters })
  return (
    <div className="tools service-filters">
      <Pills label="Type" options={KINDS} value={kind} onValueChange={(next) => set({ kind: next })} />
      <Select
        aria-label="State"
        options={STATES}
        value={state}
        onValueChange={(next) => set({ state: next })}
      />
      <NodePicker label="Node" placeholder="Any node" value={node} onPick={(next) => set({ node: next })} />
      <DomainPicker
        label="Domain"
        placeholder="Any domain"
        value={domain}
        onPick={(next) => set({ domain: next })}
      />
      <SearchField
        label="Search services"
        placeholder="Search name, address, backend or node"
        value={params.search}
        onSearch={(search) => change({ search }, { replace: true })}
      />
    </div>
  )
}
