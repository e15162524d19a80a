import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router'
import { takeArrival } from '../../stores/arrival.ts'
import { isLayerOpen } from './use-shortcuts.ts'

/** After a sign-in or a click on a link, the keyboard and a screen reader start at the heading of the new page. */
export function useHeadingFocus(): void {
  const { pathname } = useLocation()
  const last = useRef<string | null>(null)
  useEffect(() => {
    const isFirst = last.current === null
    if (last.current === pathname) return
    last.current = pathname
    if (!isFirst || takeArrival()) return keepHeadingFocused()
  }, [pathname])
}

/** While a page loads its heading may be replaced; the focus follows until the person does something. */
function keepHeadingFocused(): () => void {
  const end = new AbortController()
  const focus = () => {
    const heading = document.querySelector<HTMLElement>('#main h1')
    // Someone who opens the palette while a page loads keeps typing in it.
    if (!heading || isLayerOpen()) return
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(() => {
    if (document.activeElement === document.body) focus()
  })
  observer.observe(document.body, { childList: true, subtree: true })
  end.signal.addEventListener('abort', () => observer.disconnect())
  for (const event of ['keydown', 'pointerdown'])
    window.addEventListener(event, () => end.abort(), { signal: end.signal, capture: true })
  focus()
  return () => end.abort()
}
