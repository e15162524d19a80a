import { Route, type RouteNode } from '@postern/contract/desired-state'
import { isIp } from '@postern/net/ip'
import { type Digest, type RenderedList, renderList } from './haproxy-lists.ts'
import type { ResolvedRoute } from './resolved-route.ts'

/** The lines of HAProxy's maps, and the services that could not become lines. */
export interface RenderedRoutes {
  /** `host/path/` → `id|node|address|port|flags|list`. */
  routes: Map<string, string>
  lists: Map<string, string>
  refused: { service: number; message: string }[]
}

/** The host of the installation itself in the keys: any IP literal and the public host. No host is spelt so. */
export const OWN_HOST = '*'

/** One letter each in the fifth field of a route. */
export const FLAGS = {
  console: 'c',
  disabled: 'd',
  /** Not held to the IP list of its service, and its connections are not ended by one. */
  agent: 'a',
  https: 's',
  /** No address to dial. */
  unreachable: 'u',
  /** Answers of services that share the console's host must not act as the console. */
  sandbox: 'x',
} as const

/** Agents must reach the server, and what they trust it by, also when the console's IP list does not name them. */
const AGENT_PATHS = ['/api/agent', '/install']

/** No blank, `|`, `;` or control character may ever reach a map: they end keys, fields and commands. */
const LINE = /^[A-Za-z0-9.:/~_*|-]*$/

export function renderRoutes(
  all: readonly ResolvedRoute[],
  publicHost: string,
  digest: Digest,
): RenderedRoutes {
  const rendered: RenderedRoutes = { routes: new Map(), lists: new Map(), refused: [] }
  for (const route of [...all].sort(systemFirst)) {
    const { lines, list } = renderRoute(route, publicHost.toLowerCase(), digest)
    const taken = lines?.map(([key]) => rendered.routes.get(key)).find((line) => line !== undefined)
    if (!lines || taken !== undefined) {
      const message = lines
        ? `The address is taken by service ${taken?.split('|')[0]}`
        : 'The service is malformed'
      rendered.refused.push({ service: route.id, message })
      continue
    }
    for (const [key, value] of lines) rendered.routes.set(key, value)
    for (const [key, value] of list.parts) rendered.lists.set(key, value)
  }
  return rendered
}

interface RenderedRoute {
  publicHost: string
  digest: Digest
  /** Undefined: it is malformed. */
  lines: [string, string][] | undefined
  list: RenderedList
}

/** Of thousands of routes a change leaves all but a few the objects they were, and their lines with them. */
const made = new WeakMap<ResolvedRoute, RenderedRoute>()

function renderRoute(route: ResolvedRoute, publicHost: string, digest: Digest): RenderedRoute {
  const before = made.get(route)
  if (before?.publicHost === publicHost && before.digest === digest) return before
  const list = renderList(route, digest)
  const lines = Route.safeParse(route).success ? linesOf(route, list, publicHost) : undefined
  const rendered = { publicHost, digest, lines, list }
  made.set(route, rendered)
  return rendered
}

function systemFirst(a: ResolvedRoute, b: ResolvedRoute): number {
  return Number(b.system) - Number(a.system) || a.id - b.id
}

/** @returns the lines of one route, or undefined when a value holds what must not reach a map. */
function linesOf(
  route: ResolvedRoute,
  { name }: RenderedList,
  publicHost: string,
): [string, string][] | undefined {
  const lines = hostsOf(route, publicHost).flatMap((host): [string, string][] => {
    const flags = flagsOf(route, host)
    const line: [string, string] = [keyOf(host, route.path), fieldsOf(route, flags, name)]
    if (!route.system) return [line]
    const open = fieldsOf(route, flags + FLAGS.agent, '')
    return [line, ...AGENT_PATHS.map((path): [string, string] => [keyOf(host, path), open])]
  })
  return lines.every(([key, value]) => LINE.test(key) && LINE.test(value)) ? lines : undefined
}

/** The console stays at the installation's own host when it has a domain as well: agents look for it there. */
function hostsOf(route: ResolvedRoute, publicHost: string): string[] {
  const host = route.domain === null || route.domain === publicHost ? OWN_HOST : route.domain
  return route.system && host !== OWN_HOST ? [host, OWN_HOST] : [host]
}

function keyOf(host: string, path: string): string {
  return path === '/' ? `${host}/` : `${host}${path}/`
}

function fieldsOf(route: ResolvedRoute, flags: string, list: string): string {
  const address = dialled(route) ?? '-'
  return [route.id, nodeId(route.node), address, route.backend.port, flags, list].join('|')
}

function flagsOf(route: ResolvedRoute, host: string): string {
  if (route.system) return FLAGS.console
  const flags: [string, boolean][] = [
    [FLAGS.disabled, !route.enabled],
    [FLAGS.https, route.backend.proto === 'https'],
    [FLAGS.unreachable, dialled(route) === undefined],
    [FLAGS.sandbox, host === OWN_HOST],
  ]
  return flags.map(([letter, isSet]) => (isSet ? letter : '')).join('')
}

function dialled(route: ResolvedRoute): string | undefined {
  return !route.system && route.address !== null && isIp(route.address) ? route.address : undefined
}

/** The local node has no row in the map of node states. */
function nodeId(node: RouteNode): number {
  return node.kind === 'local' ? 0 : node.id
}
