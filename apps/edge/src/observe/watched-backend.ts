import { isDeepStrictEqual } from 'node:util'
import type { BackendTrouble } from '@postern/contract/edge/edge'
import { isPortRoute, isSystem, type ResolvedRoute } from '@postern/render/resolved-route'
import type { BackendSign } from '../drivers/haproxy/logs/log.ts'
import type { ProbeTarget } from './backend-probe.ts'

/** The backend of a service that can be probed, and what is known about it. */
export interface WatchedBackend {
  route: ResolvedRoute
  /** Null for the server's own machine. */
  node: number | null
  target: ProbeTarget
  /** `unchecked` until something answered or failed to answer. */
  trouble: BackendTrouble | null
  /** When it became silent; null: it is not silent. */
  troubleSince: number | null
  /** Its first check has failed once; a program or a firewall may be just starting. */
  hasFailedFirst: boolean
  /** The last sign in the traffic, until a probe has followed it up. */
  sign: BackendSign | null
  isOdd: boolean
  isProbed: boolean
  /** While it has a problem: when it is probed next. */
  dueAt: number
  /** When it last answered a visitor or a probe. */
  answeredAt: number
}

/**
 * Undefined for services that cannot or need not be probed: the console, UDP, disabled ones, and those without a
 * target.
 */
export function watchBackend(route: ResolvedRoute | undefined): WatchedBackend | undefined {
  if (!route?.enabled || isSystem(route) || route.address === null) return undefined
  if (isPortRoute(route) && route.proto === 'udp') return undefined
  const { address, backend, node } = route
  const spoken = isPortRoute(route)
    ? { proto: 'tcp' as const, domain: null }
    : { proto: route.backend.proto, domain: route.domain }
  return {
    route,
    node: node.kind === 'local' ? null : node.id,
    target: { address, port: backend.port, ...spoken },
    trouble: 'unchecked',
    troubleSince: null,
    hasFailedFirst: false,
    sign: null,
    isOdd: false,
    isProbed: false,
    dueAt: 0,
    answeredAt: 0,
  }
}

/** A name that now has another address is still the same backend. */
export function isSameBackend(a: WatchedBackend, b: WatchedBackend): boolean {
  if (a.node !== b.node || !isDeepStrictEqual(a.route.backend, b.route.backend)) return false
  const [one, other] = [a.target, b.target]
  return (
    one.proto === other.proto &&
    one.domain === other.domain &&
    (a.route.backend.host !== null || one.address === other.address)
  )
}
