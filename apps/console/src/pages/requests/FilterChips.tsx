import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { useAnswer } from '../../api/queries.ts'
import { Chips } from '../../components/filters/Chips.tsx'
import { chipText, FILTER_KEYS, type Filters, type Names } from './filters.ts'

interface Props {
  filters: Filters
  names: Names
  onChange: (filters: Filters) => void
}

/** What is filtered by. The search field has the path. */
export function FilterChips({ filters, names, onChange }: Props) {
  const keys = FILTER_KEYS.filter((key) => filters[key] !== undefined && key !== 'path')
  return (
    <Chips
      chips={keys.map((key) => ({ key, text: chipText(key, filters[key] ?? '', names) }))}
      onRemove={(key) => onChange({ ...filters, [key]: undefined })}
      onClear={() => onChange({})}
    />
  )
}

/** What the filtered service and node are called, where that is known. */
export function useNames({ node }: Filters, service: string | null): Names {
  const answer = useAnswer(
    endpoints.getNode,
    { params: { id: node ?? '' } },
    { enabled: node !== undefined, staleTime: 60_000 },
  )
  return { service: service ?? undefined, node: node === undefined ? undefined : answer.data?.name }
}
