import { PortRoute, Route, type RouteNode } from '@postern/contract/edge/desired-state'
import { isReservedPath } from '@postern/contract/reserved-paths'
import { isIp } from '@postern/net/ip'
import { isPortRoute, isSystem, type ResolvedHttpRoute, type ResolvedRoute } from '../../resolved-route.ts'
import { type Digest, type RenderedList, renderList } from './lists.ts'

/** Stands in the keys for the installation itself: any IP literal and the public host. No host name is spelled so. */
export const OWN_HOST = '*'

/** The fields of a route's line, in this order, separated by `|`, and those that may follow them. */
const ALWAYS = ['service', 'node', 'address', 'port', 'flags', 'list'] as const
const FIELDS = [...ALWAYS, 'domain', 'prefix'] as const
type Field = (typeof FIELDS)[number]
export type RouteLine = Record<Field, string>

/** HAProxy's converter from the line of a route to one of its fields. */
export function routeField(name: Field): string {
  return `field(${FIELDS.indexOf(name) + 1},|)`
}

/** The fields of a route's line; empty when there is no line. */
export function parseRouteLine(line: string): RouteLine {
  const parts = line.split('|')
  const fields = FIELDS.map((name, index) => [name, parts[index] ?? ''])
  // Each field has its name.
  return Object.fromEntries(fields) as RouteLine
}

/** One letter each among the flags of a route. */
export const FLAGS = {
  console: 'c',
  /** Visitors sign in first. */
  guarded: 'g',
  disabled: 'd',
  /** The IP list of its service does not apply, and does not end its connections. */
  agent: 'a',
  https: 's',
  /** TLS of a TCP service ends here. */
  tls: 't',
  /** No address to dial. */
  unreachable: 'u',
  /** The console, at an edge that does not pass it on. */
  away: 'w',
  /** It shares a host with the console: its answers must not act as the console, nor have a lasting effect there. */
  beside: 'x',
} as const

/**
 * Agents must reach the server and its root certificate even where the console's IP list or sign-in excludes them;
 * and so must visitors of services who come back from the provider.
 */
const OPEN_PATHS = ['/api/agent', '/install', '/.postern']
/** An edge that passes no console on sees no password, and no token of an agent. */
const VISITORS_PATHS = ['/.postern']

/** No blank, `|`, `;` or control character may reach a map: they end keys, fields and commands. */
const LINE = /^[A-Za-z0-9.:/~_*|-]*$/

/** What the line of a route depends on besides the route. */
export interface Around {
  /** The hosts of the installation itself besides its addresses, in lower case. */
  ownHosts: ReadonlySet<string>
  digest: Digest
  /** True for a service at a host where the console answers. */
  isBeside: boolean
  /** True at an edge that passes no console on, only what visitors of services need of the server. */
  isConsoleAway: boolean
}

/** One route as lines of the maps. */
export interface RenderedRoute {
  route: ResolvedRoute
  /** Key → value; empty when there is a problem. */
  lines: ReadonlyMap<string, string>
  list: RenderedList
  problem: string | undefined
}

/** For one route alone: the table of all routes decides whether another one has its address. */
export function renderRoute(route: ResolvedRoute, around: Around): RenderedRoute {
  const list = renderList(route, around.digest)
  const lines = linesOf(route, list, around)
  const problem = findProblem(route, lines, around)
  return { route, list, problem, lines: new Map(problem === undefined ? lines : []) }
}

/** No service has it. */
const NOBODY = 0

/**
 * What stands for the console at an edge whose state has no route of it: the page that says so, and the way to the server
 * for visitors of services.
 */
export function renderMissingConsole(digest: Digest): RenderedRoute {
  const route: ResolvedHttpRoute = {
    ...{ id: NOBODY, domain: null, path: '/', system: true, enabled: true, stripPath: false, signIn: null },
    ...{ node: { kind: 'local' }, backend: { proto: 'http', host: null, port: 0 }, address: null },
    ...{ allowedIps: [], blockedIps: [] },
  }
  const away = fieldsOf(route, FLAGS.console + FLAGS.away, '')
  const open = fieldsOf(route, FLAGS.console + FLAGS.agent, '')
  const paths = VISITORS_PATHS.map((path): [string, string] => [keyOf(OWN_HOST, path), open])
  const lines = new Map([[keyOf(OWN_HOST, '/'), away], ...paths])
  return { route, list: renderList(route, digest), problem: undefined, lines }
}

function findProblem(
  route: ResolvedRoute,
  lines: readonly [string, string][],
  around: Around,
): string | undefined {
  const { isBeside } = around
  const isClean = lines.every(([key, value]) => LINE.test(key) && LINE.test(value))
  const shape = isPortRoute(route) ? PortRoute : Route
  if (!isClean || !shape.safeParse(route).success) return 'The service is malformed'
  if (isGuarded(route) && !canAskWho(route, around))
    return 'Only a service with a domain of its own can require sign-in'
  if (!isBeside || isPortRoute(route) || !isReservedPath(route.path)) return undefined
  return `${route.path} belongs to the console at this host. Give the service another path or domain.`
}

/** A sign-in counts only at its own domain. The public host belongs to the console alone. */
function canAskWho(route: ResolvedHttpRoute, { ownHosts }: Around): boolean {
  return route.domain !== null && (route.system || hostOf(route, ownHosts) !== OWN_HOST)
}

function linesOf(route: ResolvedRoute, { name }: RenderedList, around: Around): [string, string][] {
  const flags = flagsOf(route, around)
  if (isPortRoute(route)) return [[`:${route.port}/`, fieldsOf(route, flags, name)]]
  return hostsOf(route, around.ownHosts).flatMap((host): [string, string][] => {
    const line: [string, string] = [keyOf(host, route.path), fieldsOf(route, flags, name)]
    if (!route.system) return [line]
    const open = fieldsOf(route, FLAGS.console + FLAGS.agent, '')
    const paths = around.isConsoleAway ? VISITORS_PATHS : OPEN_PATHS
    return [line, ...paths.map((path): [string, string] => [keyOf(host, path), open])]
  })
}

/** The console stays at the installation's own host even when it has a domain: agents look for it there. */
function hostsOf(route: ResolvedHttpRoute, ownHosts: Around['ownHosts']): string[] {
  const host = hostOf(route, ownHosts)
  return route.system && host !== OWN_HOST ? [host, OWN_HOST] : [host]
}

/** The host of a route as keys spell it. */
export function hostOf({ domain }: ResolvedHttpRoute, ownHosts: Around['ownHosts']): string {
  return domain === null || ownHosts.has(domain) ? OWN_HOST : domain
}

function keyOf(host: string, path: string): string {
  return path === '/' ? `${host}/` : `${host}${path}/`
}

function fieldsOf(route: ResolvedRoute, flags: string, list: string): string {
  const line: RouteLine = {
    service: String(route.id),
    node: String(nodeId(route.node)),
    address: dialled(route) ?? '-',
    port: String(route.backend.port),
    flags,
    list,
    // The name that a TLS hello at its port must have.
    domain: ('tls' in route && route.tls?.domain) || '',
    // The part of the path that is cut off before the backend.
    prefix: !isPortRoute(route) && route.stripPath && route.path !== '/' ? route.path : '',
  }
  const values = FIELDS.map((name) => line[name])
  while (values.length > ALWAYS.length && values.at(-1) === '') values.pop()
  return values.join('|')
}

/** A route that is not known to be open is guarded. */
function isGuarded(route: ResolvedRoute): route is ResolvedHttpRoute {
  return !isPortRoute(route) && route.signIn !== null
}

function flagsOf(route: ResolvedRoute, { isBeside, isConsoleAway }: Around): string {
  if (isSystem(route) && isConsoleAway) return FLAGS.console + FLAGS.away
  if (isSystem(route)) return FLAGS.console + (isGuarded(route) ? FLAGS.guarded : '')
  const flags: [string, boolean][] = [
    [FLAGS.guarded, isGuarded(route)],
    [FLAGS.disabled, !route.enabled],
    [FLAGS.https, !isPortRoute(route) && route.backend.proto === 'https'],
    [FLAGS.unreachable, dialled(route) === undefined],
    [FLAGS.beside, isBeside],
    [FLAGS.tls, 'tls' in route && route.tls !== null],
  ]
  return flags.map(([letter, isSet]) => (isSet ? letter : '')).join('')
}

function dialled(route: ResolvedRoute): string | undefined {
  return !isSystem(route) && route.address !== null && isIp(route.address) ? route.address : undefined
}

/** The local node has no row in the map of node states. */
function nodeId(node: RouteNode): number {
  return node.kind === 'local' ? 0 : node.id
}
