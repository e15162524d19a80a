import { isDeepStrictEqual } from 'node:util'
import type { BackendReport, BackendTrouble } from '@postern/contract/edge'
import {
  findRoute,
  isPortRoute,
  isSystem,
  type ResolvedRoute,
  type RouteSections,
} from '@postern/render/resolved-route'
import type { BackendSign } from '../drivers/haproxy/logs/line.ts'
import { type ProbeTarget, probeBackend } from './backend-probe.ts'
import { createBackendReporter } from './backend-reporter.ts'

export interface BackendWatchOptions {
  /** ms. */
  now(): number
  /** @returns false when it could not be sent */
  send(isFirst: boolean, backends: BackendReport[]): boolean
}

/** Which backends answer, told by the traffic alone until one fails; from then on it is probed until it answers. */
export interface BackendWatch {
  /** Takes what a line of the log shows of a service's backend. */
  note(service: number, sign: BackendSign): void
  setRoutes(routes: RouteSections): void
  /** Services of nodes that are down are not probed: nothing of them can answer. */
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): void
  /** Reports everything again, to a server that knows nothing of it. */
  onReconnect(): void
  close(): void
}

const PROBE_EVERY = 10_000
const LOOK_EVERY = 100
/** More wait for their turn: with thousands that give no answer, each waits longer. */
const AT_ONCE = 64
/** An odd answer of an application is mostly its own, so its TLS is not looked for again for so long. */
const ODD_PAUSE = 600_000

interface Suspect {
  node: number | null
  target: ProbeTarget
  trouble: BackendTrouble | null
  /** The last sign in the traffic, until a probe has looked into it. */
  sign: BackendSign | null
  isOdd: boolean
  isProbed: boolean
  /** When it is probed next, or forgotten when nothing is wrong with it. */
  dueAt: number
}

export function createBackendWatch({ now, send }: BackendWatchOptions): BackendWatch {
  const suspects = new Map<number, Suspect>()
  let routes: RouteSections = new Map()
  let nodes: ReadonlyMap<number, 'up' | 'down'> = new Map()
  let timer: NodeJS.Timeout | undefined
  let probes = 0
  const reporter = createBackendReporter(send, (service) => suspects.get(service)?.trouble ?? null)

  const find = (service: number) => suspectOf(findRoute(routes, service))
  const setTrouble = (service: number, suspect: Suspect, trouble: BackendTrouble | null) => {
    if (suspect.trouble === trouble) return
    suspect.trouble = trouble
    reporter.report(service)
  }
  const probe = async (service: number, suspect: Suspect) => {
    probes++
    suspect.isProbed = true
    suspect.isOdd = suspect.sign === 'odd' || suspect.trouble === 'only-tls'
    suspect.sign = null
    const trouble = await probeBackend(suspect.target, suspect.isOdd)
    probes--
    suspect.isProbed = false
    if (suspects.get(service) !== suspect) return
    suspect.dueAt = now() + (trouble === null && suspect.isOdd ? ODD_PAUSE : PROBE_EVERY)
    // A visitor who got an answer meanwhile knows better.
    setTrouble(service, suspect, suspect.sign === 'answered' ? null : trouble)
    if (trouble === null) suspect.sign = null
  }
  const look = () => {
    const time = now()
    for (const [service, suspect] of suspects) {
      if (suspect.isProbed || suspect.dueAt > time) continue
      const isDown = suspect.node !== null && nodes.get(suspect.node) === 'down'
      const isSuspected = suspect.trouble !== null || suspect.sign === 'failed' || suspect.sign === 'odd'
      if (!isSuspected) suspects.delete(service)
      else if (isDown) suspect.dueAt = time + PROBE_EVERY
      else if (probes < AT_ONCE) void probe(service, suspect)
    }
    if (suspects.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    note(service, sign) {
      const suspect = suspects.get(service) ?? (sign === 'answered' ? undefined : find(service))
      if (!suspect) return
      suspects.set(service, suspect)
      timer ??= setInterval(look, LOOK_EVERY)
      // It had only been odd, and is now looked at as soon as any other.
      if (sign === 'failed' && suspect.isOdd) suspect.dueAt = Math.min(suspect.dueAt, now() + PROBE_EVERY)
      suspect.sign = sign
      if (sign === 'answered') setTrouble(service, suspect, null)
    },
    setRoutes(next) {
      routes = next
      for (const [service, suspect] of suspects) {
        if (isDeepStrictEqual(find(service)?.target, suspect.target)) continue
        suspects.delete(service)
        reporter.report(service)
      }
    },
    setNodeStates(next) {
      nodes = next
    },
    onReconnect: reporter.reportAgain,
    close() {
      clearInterval(timer)
      // A probe that comes back later finds nothing to report.
      suspects.clear()
      reporter.close()
    },
  }
}

/** Undefined for what cannot or need not be probed: the console, and services that are disabled or lead nowhere. */
function suspectOf(route: ResolvedRoute | undefined): Suspect | undefined {
  if (!route?.enabled || isSystem(route) || route.address === null) return undefined
  const { address, backend, node } = route
  const spoken = isPortRoute(route)
    ? { proto: 'tcp' as const, domain: null }
    : { proto: route.backend.proto, domain: route.domain }
  return {
    node: node.kind === 'local' ? null : node.id,
    target: { address, port: backend.port, ...spoken },
    trouble: null,
    sign: null,
    isOdd: false,
    isProbed: false,
    dueAt: 0,
  }
}
