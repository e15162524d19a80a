import { useState } from 'react'
import { useEdges } from '../../api/queries.ts'
import { ChartCard } from '../../components/chart/ChartCard.tsx'
import { Select } from '../../ui/input/Select.tsx'

const ALL = { value: '', text: 'All edges' }

/** What the whole installation carried, or one of its edges. */
export function TrafficCard() {
  const [chosen, choose] = useState(ALL.value)
  const edges = (useEdges(true).data ?? []).filter(({ isJoined }) => isJoined)
  const edge = edges.find(({ id }) => String(id) === chosen)
  return (
    <ChartCard
      key={chosen}
      of={edge ? { kind: 'edge', id: edge.id } : { kind: 'all' }}
      name={edge ? edge.name : 'all services'}
    >
      <div className="of-edge">
        <Select
          aria-label="Edge"
          options={[ALL, ...edges.map(({ id, name }) => ({ value: String(id), text: name }))]}
          value={edge ? chosen : ALL.value}
          onValueChange={choose}
        />
      </div>
    </ChartCard>
  )
}
