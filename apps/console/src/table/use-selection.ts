import { createContext, useEffect, useEffectEvent, useState } from 'react'
import type { ListParams } from './list-params.ts'
import { type Ticks, tickAll, tickPage, tickRow } from './ticks.ts'
import type { List } from './use-list.ts'

/** Rows of a list that a person ticked, over its pages; another search or filter begins anew. */
export interface Selection<T> {
  /** Empty when all are ticked that the list finds. */
  rows: readonly T[]
  isAll: boolean
  count: number
  /** How many there are on all pages. */
  total: number
  /** Of the page that is shown. */
  page: { isWhole: boolean; isSome: boolean; canTick: boolean }
  canTick: (id: number) => boolean
  has: (id: number) => boolean
  /** A row's tick is a stop of the Tab key where nothing else in the row is one. */
  isStop: boolean
  /** @param isRange all from the row that was ticked before to this one */
  toggle: (id: number, isRange: boolean) => void
  togglePage: () => void
  /** Also those of other pages. */
  tickAll: () => void
  clear: () => void
}

export const SelectionContext = createContext<Selection<unknown> | undefined>(undefined)

interface Options<T> {
  list: List<T>
  /** Which rows can be ticked; the same function each time. */
  allows?: (row: T) => boolean
  isStop?: boolean
  /** How many can be ticked of all that the list finds, where some of them cannot. */
  countAll?: (total: number, params: ListParams) => number
}

const NONE = { rows: new Map<number, never>(), isAll: false, last: undefined }
const always = () => true

export function useSelection<T extends { id: number }>({
  list,
  allows = always,
  isStop = false,
  countAll = (total) => total,
}: Options<T>): Selection<T> {
  const key = keyOf(list.params)
  const [kept, setKept] = useState<{ key: string; ticks: Ticks<T> }>({ key, ticks: NONE })
  const ticks = kept.key === key ? kept.ticks : NONE
  const set = (next: Ticks<T>) => setKept({ key, ticks: next })
  const clear = () => set(NONE)
  const page = (list.query.data?.data ?? []).filter(allows)
  const has = (id: number) => ticks.isAll || ticks.rows.has(id)
  const all = countAll(list.query.data?.total ?? 0, list.params)
  const count = ticks.isAll ? all : ticks.rows.size
  useEscape(count > 0, clear)
  return {
    rows: [...ticks.rows.values()],
    isAll: ticks.isAll,
    count,
    total: all,
    page: {
      isWhole: page.length > 0 && page.every(({ id }) => has(id)),
      isSome: page.some(({ id }) => has(id)),
      canTick: page.length > 0,
    },
    canTick: (id) => page.some((row) => row.id === id),
    has: (id) => has(id) && page.some((row) => row.id === id),
    isStop,
    toggle: (id, isRange) => set(tickRow(ticks, page, id, isRange)),
    togglePage: () => set(tickPage(ticks, page)),
    tickAll: () => set(tickAll()),
    clear,
  }
}

/** Pages and orders have the same rows. */
function keyOf({ search, type, filters }: ListParams): string {
  return JSON.stringify([search, type, filters])
}

const LAYERS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]'
const FIELDS = 'input:not([type="checkbox"]), textarea, select, [contenteditable]'

/** Escape takes the ticks away, unless it closes or clears something else. */
function useEscape(enabled: boolean, clear: () => void): void {
  const onKey = useEffectEvent(({ key, target, defaultPrevented }: KeyboardEvent) => {
    const isTyping = target instanceof Element && target.closest(FIELDS) !== null
    if (key === 'Escape' && !defaultPrevented && !isTyping && !document.querySelector(LAYERS)) clear()
  })
  useEffect(() => {
    if (!enabled) return
    const listener = (event: KeyboardEvent) => onKey(event)
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [enabled])
}
