import type { TraceQuestion } from '@postern/contract/why/trace'
import { isIp } from '@postern/net/ip'
import { FLAGS, OWN_HOST, type RouteLine } from '@postern/render/haproxy/maps/routes'
import {
  findRoute,
  portRoutesOf,
  type ResolvedPortRoute,
  type ResolvedRoute,
} from '@postern/render/resolved-route'
import type { Around } from './around.ts'

/** The service that the data plane has for an address, as it runs. */
export interface Found {
  service: number
  /** 0: the server's own machine. */
  node: number
  path: string
  isDisabled: boolean
  isConsole: boolean
  isGuarded: boolean
  isHttps: boolean
  /** TLS of a TCP service ends at the edge, for this name; null: for none. */
  isTls: boolean
  tlsName: string | null
  /** The list in HAProxy's map; null: it has none. */
  list: string | null
  /** What the backend does not get of a path. */
  prefix: string
  /** Where its traffic goes; null: nowhere. It is as this edge has judged it, and not only as HAProxy holds it. */
  target: { address: string; port: number } | null
  /** Of UDP, which the kernel carries. */
  udp: ResolvedPortRoute | null
}

type Question<K extends TraceQuestion['kind']> = Extract<TraceQuestion, { kind: K }>

type Hosts = Pick<Around, 'publicHost' | 'formerHosts'>

export function isOwnHost(host: string, { publicHost, formerHosts }: Hosts): boolean {
  return isIp(host) || host === publicHost || formerHosts.includes(host)
}

export async function findOnWeb(
  { host, path }: Question<'http'>,
  around: Around,
): Promise<Found | undefined> {
  const site = isOwnHost(host, around) ? OWN_HOST : host
  const found = await around.haproxy.lookup.findRoute(`${site}${path}/`)
  if (!found) return undefined
  const own = found.key.slice(site.length)
  return toFound(found.line, own === '/' ? '/' : own.replace(/\/$/, ''), around)
}

export async function findOnPort(question: Question<'port'>, around: Around): Promise<Found | undefined> {
  if (question.proto === 'udp') return findUdp(question.port, around)
  const found = await around.haproxy.lookup.findRoute(`:${question.port}/`)
  return found && toFound(found.line, '/', around)
}

function toFound(line: RouteLine, path: string, { routes }: Around): Found {
  const has = (flag: keyof typeof FLAGS) => line.flags.includes(FLAGS[flag])
  return {
    service: Number(line.service),
    node: Number(line.node),
    path,
    isDisabled: has('disabled'),
    isConsole: has('console'),
    isGuarded: has('guarded'),
    isHttps: has('https'),
    isTls: has('tls'),
    tlsName: line.domain || null,
    list: line.list || null,
    prefix: line.prefix,
    target: targetOf(line, findRoute(routes, Number(line.service))),
    udp: null,
  }
}

function targetOf({ address, port }: RouteLine, judged: ResolvedRoute | undefined): Found['target'] {
  if (!judged || judged.address === null) return null
  const isSame = judged.address === address && judged.backend.port === Number(port)
  return isSame ? { address: judged.address, port: judged.backend.port } : null
}

function findUdp(port: number, { routes }: Around): Found | undefined {
  const route = portRoutesOf(routes).find((one) => one.proto === 'udp' && one.port === port)
  if (!route) return undefined
  return {
    service: route.id,
    node: route.node.kind === 'local' ? 0 : route.node.id,
    path: '/',
    isDisabled: !route.enabled,
    isConsole: false,
    isGuarded: false,
    isHttps: false,
    isTls: false,
    tlsName: null,
    list: null,
    prefix: '',
    target: route.address === null ? null : { address: route.address, port: route.backend.port },
    udp: route,
  }
}
