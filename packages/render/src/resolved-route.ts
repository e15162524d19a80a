import { type Route, routesSectionOf } from '@postern/contract/desired-state'

/**
 * A route with the address that HAProxy dials for it: an IP literal, checked to lie where the route belongs.
 * Null: there is none (the console's own route, a disabled one, a name that does not resolve, an address that is
 * not allowed); an enabled route without one is answered by our own page, and the loop reports why.
 */
export interface ResolvedRoute extends Route {
  address: string | null
}

/** Section name → its routes; the same array as long as nothing in it changes. */
export type RouteSections = ReadonlyMap<string, readonly ResolvedRoute[]>

export function inSections<T extends { id: number }>(routes: readonly T[]): Map<string, T[]> {
  return Map.groupBy(routes, ({ id }) => routesSectionOf(id))
}

export function findRoute(sections: RouteSections, id: number): ResolvedRoute | undefined {
  return sections.get(routesSectionOf(id))?.find((route) => route.id === id)
}
