import { changesOf, rowsOf } from '@postern/contract/sections'
import {
  isPortRoute,
  type ResolvedHttpRoute,
  type ResolvedRoute,
  type RouteSections,
} from '../../resolved-route.ts'
import { createAddressOwners, type RenderedRoutes } from './address-owners.ts'
import type { Digest } from './lists.ts'
import { hostOf, OWN_HOST, type RenderedRoute, renderMissingConsole, renderRoute } from './routes.ts'

/** All routes as lines, kept up to date section by section. The next update changes the returned objects. */
export interface RouteTable {
  /** A section that is still the same array costs nothing, unless the console has moved. */
  update(sections: RouteSections, ownHosts: readonly string[], isConsoleAway?: boolean): RenderedRoutes
}

export function createRouteTable(digest: Digest): RouteTable {
  const owners = createAddressOwners()
  const rendered = new Map<ResolvedRoute, RenderedRoute>()
  /** The console's own routes. */
  const systems = new Set<ResolvedHttpRoute>()
  let sections: RouteSections = new Map()
  /** All that every line depends on: the installation's own hosts, and the hosts where the console answers. */
  let own: ReadonlySet<string> = new Set()
  let consoleHosts: ReadonlySet<string> = new Set()
  let isAway = false
  const missing = renderMissingConsole(digest)
  let isMissing = false

  const remove = (route: ResolvedRoute) => {
    const lines = rendered.get(route)
    if (lines && rendered.delete(route)) owners.remove(lines)
  }
  const add = (route: ResolvedRoute) => {
    if (!isCarried(route)) return
    const isBeside = !isPortRoute(route) && !route.system && consoleHosts.has(hostOf(route, own))
    const lines = renderRoute(route, { ownHosts: own, digest, isBeside, isConsoleAway: isAway })
    rendered.set(route, lines)
    owners.add(lines)
  }

  return {
    update(next, ownHosts, isConsoleAway = false) {
      const { gone, come } = changesOf(sections, next)
      sections = next
      for (const route of gone) if (isConsole(route)) systems.delete(route)
      for (const route of come) if (isConsole(route)) systems.add(route)
      const lower = new Set(ownHosts.map((host) => host.toLowerCase()))
      // Always its own addresses too, so that they stay reserved while the console's own route is missing.
      const hosts = new Set([OWN_HOST, ...[...systems].map((route) => hostOf(route, lower))])
      const isMoved = !isSame(lower, own) || !isSame(hosts, consoleHosts) || isAway !== isConsoleAway
      own = lower
      isAway = isConsoleAway
      consoleHosts = hosts
      for (const route of isMoved ? [...rendered.keys()] : gone) remove(route)
      for (const route of isMoved ? rowsOf(next) : come) add(route)
      if (isMissing !== (isAway && systems.size === 0)) {
        isMissing = !isMissing
        if (isMissing) owners.add(missing)
        else owners.remove(missing)
      }
      return owners.settle()
    },
  }
}

function isConsole(route: ResolvedRoute): route is ResolvedHttpRoute {
  return !isPortRoute(route) && route.system
}

/** The kernel carries UDP. */
function isCarried(route: ResolvedRoute): boolean {
  return !isPortRoute(route) || route.proto === 'tcp'
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && a.isSubsetOf(b)
}
