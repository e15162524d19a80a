import { lazy, type ReactNode, Suspense, useMemo } from 'react'
import { Skeleton } from '../../ui/data/Table.tsx'
import { type RowKind, RowsContext } from './rows-context.ts'
import './traffic.css'

interface Props {
  of: RowKind
  /** Undefined while they are loaded. */
  rows: readonly { id: number }[] | undefined
  children: ReactNode
}

export function TrafficRows({ of, rows, children }: Props) {
  const ids = (rows ?? [])
    .map(({ id }) => id)
    .sort((a, b) => a - b)
    .join(',')
  // The same one each time, or every cell is rendered again while the figures of nodes change.
  const shown = useMemo(() => ({ of, ids }), [of, ids])
  return <RowsContext value={shown}>{children}</RowsContext>
}

/** If it cannot be loaded, the row is shown without it. */
const Loaded = lazy(async () => {
  const loaded = await import('./CarriedCell.tsx').catch((error: unknown) => {
    console.warn('The traffic of rows could not be loaded', error)
  })
  return { default: loaded?.CarriedCell ?? Nothing }
})

const Nothing = (_: CellProps) => null

interface CellProps {
  id: number
  to?: string
}

/** What the row's record carried in the last day. @param to where all of it is shown */
export function TrafficCell(props: CellProps) {
  return (
    <Suspense fallback={<Skeleton width={60} />}>
      <Loaded {...props} />
    </Suspense>
  )
}
