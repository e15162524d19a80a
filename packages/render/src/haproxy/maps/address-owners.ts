import { isSystem } from '../../resolved-route.ts'
import type { RenderedRoute } from './routes.ts'

/** The lines of HAProxy's maps, and the services that could not become lines. */
export interface RenderedRoutes {
  /** `host/path/`, or `:port/` of a TCP service → `id|node|address|port|flags|list`. */
  routes: ReadonlyMap<string, string>
  lists: ReadonlyMap<string, string>
  refused: { service: number; message: string }[]
  /** The keys of each map that this update may have changed. */
  touched: { routes: ReadonlySet<string>; lists: ReadonlySet<string> }
}

/** Decides which route has which address when several want the same one. */
export interface AddressOwners {
  add(rendered: RenderedRoute): void
  remove(rendered: RenderedRoute): void
  /** Decides the addresses that were touched since the last call. */
  settle(): RenderedRoutes
}

/**
 * If several want one address, the console wins, then the lowest id, in whatever order they came. A route has one
 * line; only the console's own has more, and without one of them it gets none.
 */
export function createAddressOwners(): AddressOwners {
  const routes = new Map<string, string>()
  const lists = createListLines()
  const faulty = new Set<RenderedRoute>()
  /** Key → the routes that want it, best first. */
  const services = new Map<string, RenderedRoute[]>()
  const consoles = new Set<RenderedRoute>()
  let areConsolesOpen = false
  let consoleKeys = new Map<string, RenderedRoute>()
  let refusedConsoles: Refusal[] = []
  /** Key → the route that has it now, and those that do not get it. */
  const winners = new Map<string, RenderedRoute>()
  const losers = new Map<string, Refusal[]>()
  const open = new Set<string>()

  const settleConsoles = () => {
    if (!areConsolesOpen) return
    areConsolesOpen = false
    for (const key of consoleKeys.keys()) open.add(key)
    consoleKeys = new Map()
    refusedConsoles = []
    for (const rendered of [...consoles].sort(byId)) {
      const keys = [...rendered.lines.keys()]
      const taken = keys.map((key) => consoleKeys.get(key)).find((other) => other !== undefined)
      if (taken) refusedConsoles.push(refusal(rendered, taken))
      else for (const key of keys) consoleKeys.set(key, rendered)
    }
    for (const key of consoleKeys.keys()) open.add(key)
  }
  const settleKey = (key: string) => {
    const all = services.get(key) ?? []
    const winner = consoleKeys.get(key) ?? all[0]
    const lost = winner ? all.filter((each) => each !== winner).map((each) => refusal(each, winner)) : []
    if (lost.length > 0) losers.set(key, lost)
    else losers.delete(key)
    const before = winners.get(key)
    const line = winner?.lines.get(key)
    if (winner && line !== undefined) {
      winners.set(key, winner)
      routes.set(key, line)
      lists.take(winner)
    } else {
      winners.delete(key)
      routes.delete(key)
    }
    if (before) lists.drop(before)
  }

  return {
    add(rendered) {
      if (rendered.problem !== undefined) faulty.add(rendered)
      else if (isSystem(rendered.route)) {
        consoles.add(rendered)
        areConsolesOpen = true
      } else
        for (const key of rendered.lines.keys()) {
          open.add(key)
          services.set(key, [...(services.get(key) ?? []), rendered].sort(byId))
        }
    },
    remove(rendered) {
      faulty.delete(rendered)
      if (consoles.delete(rendered)) areConsolesOpen = true
      if (isSystem(rendered.route)) return
      for (const key of rendered.lines.keys()) {
        open.add(key)
        const left = services.get(key)?.filter((each) => each !== rendered) ?? []
        if (left.length > 0) services.set(key, left)
        else services.delete(key)
      }
    },
    settle() {
      settleConsoles()
      const keys = new Set(open)
      open.clear()
      for (const key of keys) settleKey(key)
      const faults = [...faulty].map((each) => refusal(each))
      const refused = [...faults, ...refusedConsoles, ...[...losers.values()].flat()].sort(firstRefused)
      return {
        routes,
        lists: lists.lines,
        refused: refused.map(({ rendered, message }) => ({ service: rendered.route.id, message })),
        touched: { routes: keys, lists: lists.settle() },
      }
    },
  }
}

interface Refusal {
  rendered: RenderedRoute
  message: string
}

function refusal(rendered: RenderedRoute, winner?: RenderedRoute): Refusal {
  const taken = `The address is taken by service ${winner?.route.id}`
  return { rendered, message: rendered.problem ?? taken }
}

function byId(a: RenderedRoute, b: RenderedRoute): number {
  return a.route.id - b.route.id
}

function firstRefused({ rendered: a }: Refusal, { rendered: b }: Refusal): number {
  return Number(isSystem(b.route)) - Number(isSystem(a.route)) || byId(a, b)
}

/** The lists that lines refer to; services with the same entries share one. */
function createListLines() {
  const lines = new Map<string, string>()
  const uses = new Map<string, number>()
  let touched = new Set<string>()
  const count = (key: string, step: number) => {
    const now = (uses.get(key) ?? 0) + step
    if (now > 0) uses.set(key, now)
    else uses.delete(key)
    return now
  }
  return {
    lines,
    take({ list }: RenderedRoute) {
      for (const [key, value] of list.parts) {
        if (count(key, 1) > 1) continue
        lines.set(key, value)
        touched.add(key)
      }
    },
    drop({ list }: RenderedRoute) {
      for (const key of list.parts.keys()) {
        if (count(key, -1) > 0) continue
        lines.delete(key)
        touched.add(key)
      }
    },
    /** @returns the keys that came or went since the last call */
    settle() {
      const keys = touched
      touched = new Set()
      return keys
    },
  }
}
