import type { KeyboardEvent, MouseEvent } from 'react'

/**
 * Marks the link or button by which a row opens as a whole. It is the row's tab stop, with the keys, the context menu
 * and the name that its kind has anyway; so a table stays a table, which a screen reader reads cell by cell.
 */
export const OPENS_ROW = { 'data-opens': '' } as const
const OPENER = '[data-opens]'
/** Not reached by Tab, but by the arrow keys from what opens its row: a row is one stop, and its menu another. */
export const INSIDE_ROW = { tabIndex: -1 } as const

/** Marks what only tells something: in a row a click on it opens the row, as one beside it does. */
export const TELLS = { 'data-tells': '' } as const

const CONTROLS = 'a, button:not([data-tells]), input, select, textarea, label'

type RowEvent = MouseEvent<HTMLTableRowElement>

/** What a click beside the row's own controls opens. */
function findOpener({ currentTarget: row, target }: RowEvent): HTMLElement | null {
  // What the row's menu shows elsewhere is in the row only for React.
  if (!(target instanceof Element) || !row.contains(target) || target.closest(CONTROLS)) return null
  return row.querySelector<HTMLElement>(OPENER)
}

function openInNewTab(opener: HTMLElement | null): void {
  if (opener instanceof HTMLAnchorElement) window.open(opener.href, '_blank', 'noopener')
}

const isMiddle = ({ button }: RowEvent) => button === 1

/** A row does by a pointer what its link does; text can be selected in it. */
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

/** Up and down go from row to row, left and right to what else is in a row. */
export function moveInRows(event: KeyboardEvent<HTMLTableSectionElement>): void {
  const { key, target, currentTarget: body } = event
  if (!isStep(key) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
  if (!(target instanceof HTMLElement)) return
  const row = target.closest('tr')
  if (row?.parentElement !== body || row.className.includes('expand')) return
  const isAcross = key === 'ArrowLeft' || key === 'ArrowRight'
  // A menu opens by the arrow down.
  if (!isAcross && target.hasAttribute('aria-haspopup')) return
  const stops = isAcross
    ? [...row.querySelectorAll<HTMLElement>('a[href], button:not(:disabled)')]
    : [...body.querySelectorAll<HTMLElement>(`:scope > tr:not(.expand) ${OPENER}`)]
  const from = isAcross ? target : row.querySelector<HTMLElement>(OPENER)
  const at = from ? stops.indexOf(from) : -1
  const next = at < 0 ? undefined : stops[at + STEPS[key]]
  if (!next) return
  event.preventDefault()
  next.focus()
}
