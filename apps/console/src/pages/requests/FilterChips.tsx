import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { X } from 'lucide-react'
import { useAnswer } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { chipText, FILTER_KEYS, type Filters, type Names } from './filters.ts'

interface Props {
  filters: Filters
  names: Names
  onChange: (filters: Filters) => void
}

/** What is filtered by; each goes with a click. The search field has the path. */
export function FilterChips({ filters, names, onChange }: Props) {
  const keys = FILTER_KEYS.filter((key) => filters[key] !== undefined && key !== 'path')
  if (keys.length === 0) return null
  return (
    <ul className="filter-chips" aria-label="Filters">
      {keys.map((key) => {
        const text = chipText(key, filters[key] ?? '', names)
        return (
          <li key={key}>
            <button
              type="button"
              aria-label={`Remove filter ${text}`}
              onClick={() => onChange({ ...filters, [key]: undefined })}
            >
              <bdi>{text}</bdi>
              <X className="ic" />
            </button>
          </li>
        )
      })}
      {keys.length > 1 && (
        <li>
          <Button size="sm" variant="ghost" onClick={() => onChange({})}>
            Clear all
          </Button>
        </li>
      )}
    </ul>
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
