import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactNode } from 'react'

interface TooltipPopupProps {
  anchor: HTMLElement | null
  /** Its text is part of the trigger's name. */
  hidden: boolean
  side: 'top' | 'left'
  onClose: () => void
  children: ReactNode
}

/** The text of a tooltip, beside its trigger; Escape closes it. */
export function TooltipPopup({ anchor, hidden, side, onClose, children }: TooltipPopupProps) {
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Positioner
          anchor={anchor}
          className="floating tip-layer"
          side={side}
          sideOffset={6}
          align={side === 'top' ? 'start' : 'center'}
        >
          <Base.Popup className="tooltip" aria-hidden={hidden || undefined}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
