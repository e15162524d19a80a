import type { Route } from '@postern/contract/desired-state'
import type { Problem } from '@postern/contract/edge'
import type { ResolvedRoute } from '@postern/render/resolved-route'
import type { Names } from './names.ts'
import {
  findQuestion,
  literalAddress,
  type Question,
  type Surroundings,
  whyForbidden,
} from './target-rules.ts'

export interface Targets {
  routes: ResolvedRoute[]
  problems: Problem[]
}

/** Gives every route the one address that HAProxy may dial for it, or says as the service's problem why none. */
export function resolveTargets(routes: readonly Route[], around: Surroundings, names: Names): Targets {
  const targets: Targets = { routes: [], problems: [] }
  for (const route of routes) {
    const found = route.system || !route.enabled ? { address: null } : findTarget(route, around, names)
    targets.routes.push(withAddress(route, found.address))
    if ('reason' in found)
      targets.problems.push({ scope: { kind: 'service', id: route.id }, message: found.reason })
  }
  return targets
}

/** The same object as long as route and address are the same: what is rendered from it is kept with it. */
const resolved = new WeakMap<Route, ResolvedRoute>()

function withAddress(route: Route, address: string | null): ResolvedRoute {
  const before = resolved.get(route)
  if (before?.address === address) return before
  const after = { ...route, address }
  resolved.set(route, after)
  return after
}

/** The look-ups that these routes need. */
export function questionsOf(routes: readonly Route[]): Question[] {
  return routes
    .filter((route) => route.enabled && !route.system)
    .flatMap((route) => findQuestion(route) ?? [])
}

type Found = { address: string } | { address: null; reason: string }

function findTarget(route: Route, around: Surroundings, names: Names): Found {
  const question = findQuestion(route)
  const known = question ? names.find(question) : { addresses: [literalAddress(route)], reason: null }
  if (known.reason !== null) return { address: null, reason: known.reason }
  for (const address of known.addresses) {
    const reason = whyForbidden(route, address, around)
    // One forbidden answer condemns all: whoever gives it would give another one at the next look-up.
    if (reason)
      return { address: null, reason: question ? `${question.name} leads astray: ${reason}` : reason }
  }
  // The smallest, so that a name server that turns its answers around does not move the route.
  const [address] = [...known.addresses].sort()
  return address === undefined ? { address: null, reason: 'The name has no address.' } : { address }
}
