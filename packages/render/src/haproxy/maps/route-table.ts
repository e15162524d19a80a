import {
  isPortRoute,
  type ResolvedHttpRoute,
  type ResolvedRoute,
  type RouteSections,
} from '../../resolved-route.ts'
import { createClaims, type RenderedRoutes } from './claims.ts'
import type { Digest } from './lists.ts'
import { hostOf, OWN_HOST, type RenderedRoute, renderRoute } from './routes.ts'

/** All routes as lines, kept up to date section by section. What it gives out changes with the next update. */
export interface RouteTable {
  /** A section that is the same array as before costs nothing, unless the console has moved. */
  update(sections: RouteSections, publicHost: string): RenderedRoutes
}

interface Section {
  routes: readonly ResolvedRoute[]
  systems: readonly ResolvedHttpRoute[]
  rendered: RenderedRoute[]
}

export function createRouteTable(digest: Digest): RouteTable {
  const claims = createClaims()
  const sections = new Map<string, Section>()
  /** What every line depends on: the public host, and the hosts where the console answers. */
  let consoleHosts: ReadonlySet<string> = new Set()
  let host = ''

  const render = (name: string, routes: readonly ResolvedRoute[]): Section => {
    const before = new Map(sections.get(name)?.rendered.map((each) => [each.route, each]))
    const fresh = (route: ResolvedRoute) => {
      const isBeside = !isPortRoute(route) && !route.system && consoleHosts.has(hostOf(route, host))
      return renderRoute(route, { publicHost: host, digest, isBeside })
    }
    return {
      routes,
      systems: systemsOf(routes),
      rendered: routes.filter(isCarried).map((route) => before.get(route) ?? fresh(route)),
    }
  }
  const replace = (name: string, after: Section | undefined) => {
    // What is in both keeps its claims, so that only the keys of what changed are touched.
    const added = new Set(after?.rendered)
    for (const rendered of sections.get(name)?.rendered ?? [])
      if (!added.delete(rendered)) claims.remove(rendered)
    for (const rendered of added) claims.add(rendered)
    if (after) sections.set(name, after)
    else sections.delete(name)
  }

  return {
    update(next, publicHost) {
      const hosts = consoleHostsOf(next, publicHost.toLowerCase())
      if (publicHost.toLowerCase() !== host || !isSame(hosts, consoleHosts))
        for (const name of [...sections.keys()]) replace(name, undefined)
      host = publicHost.toLowerCase()
      consoleHosts = hosts
      for (const name of [...sections.keys()]) if (!next.has(name)) replace(name, undefined)
      for (const [name, routes] of next)
        if (sections.get(name)?.routes !== routes) replace(name, render(name, routes))
      return claims.settle()
    },
  }

  /** Its own addresses always, so that they are kept free also while the console's own route is missing. */
  function consoleHostsOf(next: RouteSections, publicHost: string): Set<string> {
    const hosts = new Set<string>([OWN_HOST])
    for (const [name, routes] of next) {
      const kept = sections.get(name)
      const systems = kept?.routes === routes ? kept.systems : systemsOf(routes)
      for (const route of systems) hosts.add(hostOf(route, publicHost))
    }
    return hosts
  }
}

function systemsOf(routes: readonly ResolvedRoute[]): ResolvedHttpRoute[] {
  return routes.flatMap((route) => (!isPortRoute(route) && route.system ? [route] : []))
}

/** UDP is the kernel's. */
function isCarried(route: ResolvedRoute): boolean {
  return !isPortRoute(route) || route.proto === 'tcp'
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && a.isSubsetOf(b)
}
