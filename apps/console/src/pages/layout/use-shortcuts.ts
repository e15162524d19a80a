import { useEffect, useEffectEvent } from 'react'
import type { Opened } from '../../components/palette/PaletteLayer.tsx'

const FIELDS = 'input, textarea, select, [contenteditable]'
const LAYERS = '[role="dialog"], [role="alertdialog"], [role="menu"]'
const SEARCH = '#main input[type="search"]'

/** The shortcuts of every page. While a person types, or answers a dialog, they are ordinary letters. */
export function useShortcuts(open: (what: Opened) => void): void {
  const handle = useEffectEvent((event: KeyboardEvent) => {
    const { target, defaultPrevented } = event
    const isTyping = target instanceof Element && target.closest(FIELDS) !== null
    if (isTyping || defaultPrevented || isLayerOpen()) return
    const opened = readShortcut(event)
    if (!opened) return
    event.preventDefault()
    const search = opened === 'search' && document.querySelector<HTMLInputElement>(SEARCH)
    if (search) search.focus()
    else open(opened === 'shortcuts' ? 'shortcuts' : 'palette')
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => handle(event)
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])
}

/** A dialog or a menu, which has the keyboard. */
export const isLayerOpen = () => document.querySelector(LAYERS) !== null

function readShortcut({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent) {
  if (altKey) return undefined
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k' && !shiftKey ? 'palette' : undefined
  if (key === '/') return 'search'
  return key === '?' ? 'shortcuts' : undefined
}
