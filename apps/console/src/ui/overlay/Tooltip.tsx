import { type ReactNode, type SyntheticEvent, useEffect, useRef, useState } from 'react'
import { TOOLTIP_DELAY, TOOLTIP_PATIENCE } from '../../util/constants.ts'
import { TELLS } from '../data/row-events.ts'
import { useLoaded } from '../use-loaded.ts'
import './Menu.css'
import './Tooltip.css'

export const loadTooltips = () => import('./TooltipPopup.tsx')

export interface TooltipProps {
  /** Shown under the pointer and on focus; when `focusable`, also read out as part of the trigger's name. */
  text: ReactNode
  /** Makes it a tab stop: for information that is nowhere else. */
  focusable?: boolean
  /** When it is reached in another way than by Tab. */
  tabIndex?: -1
  className?: string
  children: ReactNode
}

export function Tooltip({ text, focusable = false, tabIndex, className, children }: TooltipProps) {
  const { events, popup } = useTooltip(text, focusable)
  // Inside the trigger for React's events, so that the pointer can move on to the tooltip.
  if (!focusable)
    return (
      <span className={className} {...events}>
        {children}
        {popup}
      </span>
    )
  return (
    <button type="button" {...TELLS} tabIndex={tabIndex} className={className} {...events}>
      {children}
      <span className="sr">: {text}</span>
      {popup}
    </button>
  )
}

/**
 * The tooltip of an element with these events.
 * @param isNamed the text is part of its name, and not read out again
 */
export function useTooltip(text: ReactNode, isNamed: boolean, side: 'top' | 'left' = 'top') {
  const { anchor, close, events } = useHover()
  const tooltips = useLoaded(loadTooltips, anchor !== null, close)
  const popup = anchor && tooltips && (
    <tooltips.TooltipPopup anchor={anchor} hidden={isNamed} side={side} onClose={close}>
      {text}
    </tooltips.TooltipPopup>
  )
  return { events, close, popup }
}

type Touch = SyntheticEvent<HTMLElement>

/** The element with the pointer or the focus, with a short delay on entering and leaving. */
function useHover() {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const set = (next: HTMLElement | null, delay: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setAnchor(next), delay)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const events = {
    onPointerEnter: ({ currentTarget }: Touch) => set(currentTarget, TOOLTIP_DELAY),
    onPointerLeave: () => set(null, TOOLTIP_PATIENCE),
    onFocus: ({ currentTarget }: Touch) => set(currentTarget, 0),
    onBlur: () => set(null, 0),
  }
  const close = () => {
    clearTimeout(timer.current)
    setAnchor(null)
  }
  return { anchor, close, events }
}
