import { clsx } from 'clsx'
import { useContext, useEffect, useRef } from 'react'
import type { Column } from '../ui/data/Table.tsx'
import './TickColumn.css'
import { SelectionContext } from './use-selection.ts'

interface Ticked {
  id: number
  name?: string
  domain?: string
}

/** The first column of a table with a box in front of what it shows: the columns stay what they are. */
export function withTicks<T extends Ticked>(column: Column<T>): Column<T> {
  return {
    ...column,
    width: clsx(column.width, 'w-tick'),
    className: clsx(column.className, 'c-tick'),
    leadHead: () => <PageTick />,
    // Only the boxes are drawn anew when one is ticked.
    render: (row) => (
      <div className="ticked">
        <RowTick id={row.id} name={row.name ?? row.domain ?? ''} />
        <div>{column.render(row)}</div>
      </div>
    ),
    ...(column.reads && { reads: [...column.reads, 'id', 'name'] as readonly (keyof T)[] }),
  }
}

function RowTick({ id, name }: { id: number; name: string }) {
  const selection = useContext(SelectionContext)
  if (!selection?.canTick(id)) return null
  return (
    <label className="tick">
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        tabIndex={selection.isStop ? undefined : -1}
        checked={selection.has(id)}
        // A box changes by a click, whatever key makes it.
        onChange={({ nativeEvent }) =>
          selection.toggle(id, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
    </label>
  )
}

function PageTick() {
  const selection = useContext(SelectionContext)
  const box = useRef<HTMLInputElement>(null)
  const { isWhole = false, isSome = false, canTick = false } = selection?.page ?? {}
  useEffect(() => {
    if (box.current) box.current.indeterminate = isSome && !isWhole
  }, [isSome, isWhole])
  return (
    <label className="tick">
      <input
        ref={box}
        type="checkbox"
        aria-label="Select all rows of this page"
        disabled={!canTick}
        checked={isWhole}
        onChange={() => selection?.togglePage()}
      />
    </label>
  )
}
