import type { KeyboardEvent, MouseEvent } from 'react'

/**
 * Marks the link or button that opens a row. It is the row's tab stop, with its native keys, context menu and name,
 * so the table stays a table that a screen reader reads cell by cell.
 */
export const OPENS_ROW = { 'data-opens': '' } as const
const OPENER = '[data-opens]'
/** Not reached by Tab, but by the arrow keys from the row's opener: a row is one tab stop, and its menu another. */
export const INSIDE_ROW = { tabIndex: -1 } as const

/** Marks purely informative elements: in a row, a click on one opens the row. */
export const TELLS = { 'data-tells': '' } as const

const CONTROLS = 'a, button:not([data-tells]), input, select, textarea, label'

type RowEvent = MouseEvent<HTMLTableRowElement>

/** The control that a click beside the row's other controls opens. */
function findOpener({ currentTarget: row, target }: RowEvent): HTMLElement | null {
  // The row's open menu is inside the row only for React.
  if (!(target instanceof Element) || !row.contains(target) || target.closest(CONTROLS)) return null
  return row.querySelector<HTMLElement>(OPENER)
}

function openInNewTab(opener: HTMLElement | null): void {
  if (opener instanceof HTMLAnchorElement) window.open(opener.href, '_blank', 'noopener')
}

const isMiddle = ({ button }: RowEvent) => button === 1

/** A click on a row acts like its link, but text in it can be selected. */
export const ROW_EVENTS = {
  onClick(event: RowEvent) {
    const opener = findOpener(event)
    if (!opener || getSelection()?.isCollapsed === false) return
    if (event.ctrlKey || event.metaKey) openInNewTab(opener)
    else opener.click()
  },
  onAuxClick(event: RowEvent) {
    if (isMiddle(event)) openInNewTab(findOpener(event))
  },
  onMouseDown(event: RowEvent) {
    // Some browsers scroll by the middle button.
    if (isMiddle(event) && findOpener(event)) event.preventDefault()
  },
}

const STEPS = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 } as const

function isStep(key: string): key is keyof typeof STEPS {
  return Object.hasOwn(STEPS, key)
}

const TICK = '.c-tick input'

/** Space ticks the row whose link has the focus, and with Shift all from the one before. */
function tickRow({ key, shiftKey, target, preventDefault }: Pressed): boolean {
  if (key !== ' ' || !(target instanceof HTMLElement) || target.closest('button, input, select, textarea'))
    return false
  const box = target.closest('tr')?.querySelector(TICK)
  if (!box) return false
  preventDefault()
  return box.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey }))
}

interface Pressed {
  key: string
  shiftKey: boolean
  target: EventTarget
  preventDefault: () => void
}

/** Up and down go from row to row, left and right to a row's other controls; Space ticks it. */
export function moveInRows(event: KeyboardEvent<HTMLTableSectionElement>): void {
  const { key, shiftKey, target, currentTarget: body } = event
  if (tickRow({ key, shiftKey, target, preventDefault: () => event.preventDefault() })) return
  if (!isStep(key) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
  if (!(target instanceof HTMLElement)) return
  const row = target.closest('tr')
  if (row?.parentElement !== body || row.className.includes('expand')) return
  const isAcross = key === 'ArrowLeft' || key === 'ArrowRight'
  // A menu opens by the arrow down.
  if (!isAcross && target.hasAttribute('aria-haspopup')) return
  const stop = target.matches(TICK) ? TICK : OPENER
  const stops = isAcross
    ? [...row.querySelectorAll<HTMLElement>('a[href], button:not(:disabled), input:not(:disabled)')]
    : [...body.querySelectorAll<HTMLElement>(`:scope > tr:not(.expand) ${stop}`)]
  const from = isAcross ? target : row.querySelector<HTMLElement>(stop)
  const at = from ? stops.indexOf(from) : -1
  const next = at < 0 ? undefined : stops[at + STEPS[key]]
  if (!next) return
  event.preventDefault()
  next.focus()
}
