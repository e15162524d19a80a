import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'

/** The sidebar as a drawer on narrow screens: it closes on Escape, a click outside and a new page. */
export function useDrawer() {
  const { key } = useLocation()
  const [openAt, setOpenAt] = useState<string | null>(null)
  const isOpen = openAt === key
  useEffect(() => {
    if (!isOpen) return
    const trigger = document.activeElement
    document.querySelector<HTMLElement>('#side a')?.focus()
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && setOpenAt(null)
    // A screen that grows shows the sidebar again in its own place.
    const wide = window.matchMedia('(min-width: 901px)')
    const onWide = () => setOpenAt(null)
    window.addEventListener('keydown', onKey)
    wide.addEventListener('change', onWide)
    return () => {
      window.removeEventListener('keydown', onKey)
      wide.removeEventListener('change', onWide)
      if (trigger instanceof HTMLElement) requestAnimationFrame(() => trigger.focus())
    }
  }, [isOpen])
  return { isOpen, open: () => setOpenAt(key), close: () => setOpenAt(null) }
}
