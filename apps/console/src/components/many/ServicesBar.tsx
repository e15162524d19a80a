import type { ServicePlace } from '@postern/contract/services/many'
import type { Service } from '@postern/contract/services/services'
import { ArrowRightLeft, Power, Trash2 } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { List } from '../../table/use-list.ts'
import type { Selection } from '../../table/use-selection.ts'
import { ManyBar } from './ManyBar.tsx'
import { useManyServices } from './many-services.ts'
import { NOUNS } from './many-text.ts'
import { reachOf, whichOf } from './which.ts'

const MoveDialog = lazy(async () => ({ default: (await import('./MoveDialog.tsx')).MoveDialog }))

interface Props {
  list: List<Service>
  selection: Selection<Service>
}

/** What can be done with many services. */
export function ServicesBar({ list, selection }: Props) {
  const many = useManyServices()
  const [isMoving, setMoving] = useState(false)
  const { search, filters } = list.params
  const { node } = filters
  const which = whichOf(selection, { search, ...filters, ...(node && { node: Number(node) }) })
  const { count, clear } = selection
  const change = (action: 'enable' | 'disable' | 'delete') =>
    void many.change(action, { which, count, reach: reachOf(selection) }, clear)
  const move = (to: ServicePlace) => {
    setMoving(false)
    clear()
    void many.move(to, which)
  }
  return (
    <>
      <ManyBar
        selection={selection}
        noun={NOUNS.service}
        actions={[
          { text: 'Enable', icon: Power, run: () => change('enable') },
          { text: 'Disable', icon: Power, run: () => change('disable') },
          { text: 'Move', icon: ArrowRightLeft, run: () => setMoving(true) },
          { text: 'Delete', icon: Trash2, danger: true, run: () => change('delete') },
        ]}
      />
      <Suspense>
        {isMoving && (
          <MoveDialog
            count={count}
            note={reachOf(selection)}
            onMove={move}
            onClose={() => setMoving(false)}
          />
        )}
      </Suspense>
    </>
  )
}
