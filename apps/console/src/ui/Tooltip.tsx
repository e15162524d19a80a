import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactNode } from 'react'
import './Menu.css'
import './Tooltip.css'

export interface TooltipProps {
  /** Shown under the pointer and on focus; also read out, as part of the trigger's name, when `focusable`. */
  text: ReactNode
  /** A tab stop of its own: for what is said nowhere else. */
  focusable?: boolean
  className?: string
  children: ReactNode
}

export function Tooltip({ text, focusable = false, className, children }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger
        delay={250}
        closeOnClick={false}
        className={className}
        render={focusable ? <button type="button" /> : <span />}
        tabIndex={focusable ? 0 : undefined}
      >
        {children}
        {focusable && <span className="sr">: {text}</span>}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="floating tip-layer" sideOffset={6} align="start">
          <Base.Popup className="tooltip" aria-hidden={focusable || undefined}>
            {text}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
