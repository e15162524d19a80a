import { ChevronDown, ChevronUp } from 'lucide-react'

export interface Sort {
  field: string
  direction: 'asc' | 'desc'
}

interface Props {
  column: { head: string; hiddenHead?: boolean; sortBy?: string; className?: string }
  sort: Sort | undefined
  onSort: ((sort: Sort) => void) | undefined
}

/** A column's head; a sortable one turns round when it is the current order. */
export function SortHead({ column, sort, onSort }: Props) {
  const { head, sortBy, hiddenHead } = column
  const isCurrent = sortBy !== undefined && sort?.field === sortBy
  const descending = isCurrent && sort?.direction === 'desc'
  const Icon = descending ? ChevronDown : ChevronUp
  return (
    <th
      // biome-ignore lint/a11y/noRedundantRoles: display drops the role on narrow screens
      role="columnheader"
      scope="col"
      className={column.className?.includes('r') ? column.className : undefined}
      aria-sort={isCurrent ? (descending ? 'descending' : 'ascending') : undefined}
    >
      {sortBy && onSort ? (
        <button
          type="button"
          onClick={() => onSort({ field: sortBy, direction: isCurrent && !descending ? 'desc' : 'asc' })}
        >
          {head}
          {isCurrent && <Icon className="ic sort" />}
        </button>
      ) : (
        <span className={hiddenHead ? 'sr' : undefined}>{head}</span>
      )}
    </th>
  )
}
