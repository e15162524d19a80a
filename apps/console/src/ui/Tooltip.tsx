import { type ReactNode, useEffect, useRef, useState } from 'react'
import { TOOLTIP_DELAY, TOOLTIP_PATIENCE } from '../util/constants.ts'
import { useLoaded } from './use-loaded.ts'
import './Menu.css'
import './Tooltip.css'

export const loadTooltips = () => import('./TooltipPopup.tsx')

export interface TooltipProps {
  /** Shown under the pointer and on focus; also read out, as part of the trigger's name, when `focusable`. */
  text: ReactNode
  /** A tab stop of its own: for what is said nowhere else. */
  focusable?: boolean
  /** When it is reached in another way than by Tab. */
  tabIndex?: -1
  className?: string
  children: ReactNode
}

export function Tooltip({ text, focusable = false, tabIndex, className, children }: TooltipProps) {
  const { isOpen, setOpen, events } = useHover()
  const close = () => setOpen(false)
  const tooltips = useLoaded(loadTooltips, isOpen, close)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  // Inside the trigger, so that the pointer may move on to the words: React's events follow its own tree.
  const popup = isOpen && tooltips && (
    <tooltips.TooltipPopup anchor={anchor} hidden={focusable} onClose={close}>
      {text}
    </tooltips.TooltipPopup>
  )
  if (!focusable)
    return (
      <span ref={setAnchor} className={className} {...events}>
        {children}
        {popup}
      </span>
    )
  return (
    <button ref={setAnchor} type="button" tabIndex={tabIndex} className={className} {...events}>
      {children}
      <span className="sr">: {text}</span>
      {popup}
    </button>
  )
}

/** Open while the pointer or the focus is there: a moment later, and a moment longer. */
function useHover() {
  const [isOpen, setOpen] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const set = (open: boolean, delay: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setOpen(open), delay)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const events = {
    onPointerEnter: () => set(true, TOOLTIP_DELAY),
    onPointerLeave: () => set(false, TOOLTIP_PATIENCE),
    onFocus: () => set(true, 0),
    onBlur: () => set(false, 0),
  }
  return { isOpen, setOpen, events }
}
