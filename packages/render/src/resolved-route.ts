import {
  type PortRoute,
  portsSectionOf,
  type Route,
  routesSectionOf,
} from '@postern/contract/edge/desired-state'
import type { Sections } from '@postern/contract/sections'

/**
 * A route with the address to dial for it: an IP literal, checked to lie where the route belongs. Null: there is none
 * (the console's own route, a disabled one, a name that does not resolve, an address that is not allowed); visitors
 * of an enabled route without one are refused, and the loop reports why.
 */
type Resolved<T> = T & { address: string | null }

export type ResolvedHttpRoute = Resolved<Route>
export type ResolvedPortRoute = Resolved<PortRoute>
export type ResolvedRoute = ResolvedHttpRoute | ResolvedPortRoute

export type RouteSections = Sections<ResolvedRoute>

export function isPortRoute<T extends Route, P extends PortRoute>(route: T | P): route is P {
  return 'port' in route
}

/** The console's own route, which leads to the server. */
export function isSystem(route: Route | PortRoute): boolean {
  return !isPortRoute(route) && route.system
}

export function inSections<T extends Route | PortRoute>(routes: readonly T[]): Map<string, T[]> {
  return Map.groupBy(routes, (route) => (isPortRoute(route) ? portsSectionOf : routesSectionOf)(route.id))
}

/** The services at ports. A section holds rows of one kind, so other sections are skipped. */
export function portRoutesOf(sections: RouteSections): ResolvedPortRoute[] {
  return [...sections.values()].flatMap((routes) =>
    routes[0] && isPortRoute(routes[0]) ? routes.filter((route) => isPortRoute(route)) : [],
  )
}

export function findRoute(sections: RouteSections, id: number): ResolvedRoute | undefined {
  const at = (name: string) => sections.get(name)?.find((route) => route.id === id)
  return at(routesSectionOf(id)) ?? at(portsSectionOf(id))
}
