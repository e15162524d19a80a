import type { Peer, Route, TunnelSettings } from '@postern/contract/desired-state'
import type { Problem } from '@postern/contract/edge'
import { formatCidr } from '@postern/net/cidr'
import { formatIp } from '@postern/net/ip'
import type { ResolvedRoute, RouteSections } from '@postern/render/resolved-route'
import type { Sections } from './held-state.ts'
import type { Names } from './names.ts'
import {
  findQuestion,
  literalAddress,
  type Machine,
  type Question,
  type Surroundings,
  surroundingsOf,
  whyForbidden,
} from './target-rules.ts'

export interface Targets {
  routes: RouteSections
  problems: Problem[]
}

/** What the addresses of routes are judged by. */
export interface Around {
  settings: TunnelSettings
  peers: readonly Peer[]
  machine: Machine
}

/** Finds the one address that HAProxy may dial for each route, and keeps it until something it depends on changes. */
export interface TargetFinder {
  /** A section of which nothing changed is the same array as before. What has no address is a problem of its own. */
  resolve(sections: Sections<Route>, around: Around): Targets
  /** Looks up again the names that are due, and forgets those that no route uses any more. */
  refreshNames(): void
}

interface Kept {
  rows: readonly Route[]
  around: Surroundings
  /** What the names were at; of no concern to a section without questions. */
  names: number
  questions: Question[]
  routes: readonly ResolvedRoute[]
  problems: Problem[]
}

export function createTargetFinder(names: Names): TargetFinder {
  let kept = new Map<string, Kept>()
  const surroundings = createSurroundings()
  return {
    resolve(sections, { settings, peers, machine }) {
      const around = surroundings(settings, peers, machine)
      const next = new Map<string, Kept>()
      for (const [name, rows] of sections) next.set(name, keep(kept.get(name), rows, around, names))
      kept = next
      return {
        routes: new Map([...next].map(([name, { routes }]) => [name, routes])),
        problems: [...next.values()].flatMap(({ problems }) => problems),
      }
    },
    refreshNames: () => names.refresh([...kept.values()].flatMap(({ questions }) => questions)),
  }
}

function keep(before: Kept | undefined, rows: readonly Route[], around: Surroundings, names: Names): Kept {
  const isSame = before?.rows === rows && before.around === around
  if (isSame && (before.questions.length === 0 || before.names === names.revision())) return before
  const questions = before?.rows === rows ? before.questions : questionsOf(rows)
  const old = new Map(before?.rows.map((row, index) => [row, before.routes[index]]))
  const problems: Problem[] = []
  const routes = rows.map((route) => {
    const found = route.system || !route.enabled ? { address: null } : findTarget(route, around, names)
    if ('reason' in found) problems.push({ scope: { kind: 'service', id: route.id }, message: found.reason })
    const known = old.get(route)
    return known?.address === found.address ? known : { ...route, address: found.address }
  })
  const isMoved = routes.some((route, index) => route !== before?.routes[index])
  const kept = isMoved || !before || before.rows !== rows ? routes : before.routes
  // Asking for a name that is not known yet makes it one that is looked up.
  return { rows, around, names: names.revision(), questions, routes: kept, problems }
}

/** The look-ups that these routes need. */
function questionsOf(routes: readonly Route[]): Question[] {
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
      return {
        address: null,
        reason: question ? `${question.name} resolves to an address that isn't allowed: ${reason}` : reason,
      }
  }
  // The smallest, so that a name server that turns its answers around does not move the route.
  const [address] = [...known.addresses].sort()
  return address === undefined ? { address: null, reason: 'The name has no address.' } : { address }
}

/** The same object as long as everything in it is the same: peers come and go, and few of them are gateways. */
function createSurroundings() {
  let mark = ''
  let kept: Surroundings | undefined
  return (settings: TunnelSettings, peers: readonly Peer[], machine: Machine): Surroundings => {
    const gateways = peers.filter(({ subnets }) => subnets.length > 0)
    const own = machine.ownNetworks.map(({ address, network }) => [formatIp(address), formatCidr(network)])
    const behind = gateways.map(({ nodeId, subnets }) => [nodeId, subnets])
    const { publicHost, tunnelNetwork4, tunnelNetwork6 } = settings
    const next = JSON.stringify([publicHost, tunnelNetwork4, tunnelNetwork6, machine.ownPorts, own, behind])
    if (kept && next === mark) return kept
    mark = next
    kept = surroundingsOf(settings, gateways, machine)
    return kept
  }
}
