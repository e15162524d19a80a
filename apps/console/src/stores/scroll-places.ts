import * as z from 'zod/mini'

const KEY = 'scroll'
/** Entries of the history, the latest ones. */
const MOST = 50

const Places = z.array(z.tuple([z.string(), z.number()]))

type Store = Pick<Storage, 'getItem' | 'setItem'>

/** How far down each entry of this tab's history was left, by the router's keys. */
export function readScrollPlaces(store: Store = sessionStorage): Map<string, number> {
  try {
    return new Map(Places.parse(JSON.parse(store.getItem(KEY) ?? '[]')))
  } catch {
    // Written by another version, or no storage: pages begin at their top.
    return new Map()
  }
}

export function keepScrollPlaces(places: ReadonlyMap<string, number>, store: Store = sessionStorage): void {
  store.setItem(KEY, JSON.stringify([...places].slice(-MOST)))
}
