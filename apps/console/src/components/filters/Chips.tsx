import { X } from 'lucide-react'
import { Button } from '../../ui/Button.tsx'
import './Filters.css'

interface Props<K extends string> {
  chips: readonly { key: K; text: string }[]
  onRemove: (key: K) => void
  onClear: () => void
}

/** What a list is filtered by; each goes with a click. */
export function Chips<K extends string>({ chips, onRemove, onClear }: Props<K>) {
  if (chips.length === 0) return null
  return (
    <ul className="filter-chips" aria-label="Filters">
      {chips.map(({ key, text }) => (
        <li key={key}>
          <button type="button" aria-label={`Remove filter ${text}`} onClick={() => onRemove(key)}>
            <bdi>{text}</bdi>
            <X className="ic" />
          </button>
        </li>
      ))}
      {chips.length > 1 && (
        <li>
          <Button size="sm" variant="ghost" onClick={onClear}>
            Clear all
          </Button>
        </li>
      )}
    </ul>
  )
}
