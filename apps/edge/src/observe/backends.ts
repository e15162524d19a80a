import type { BackendTrouble } from '@postern/contract/edge/edge'
import type { BackendReport } from '@postern/contract/edge/edge-messages'
import type { ResolvedRoute, RouteSections } from '@postern/render/resolved-route'
import type { BackendSign } from '../drivers/haproxy/logs/log.ts'
import { type ProbeTarget, probeBackend } from './backend-probe.ts'
import { createBackendReporter } from './backend-reporter.ts'
import { createProbeSlots } from './probe-slots.ts'
import { isSameBackend, type WatchedBackend, watchBackend } from './watched-backend.ts'

export interface BackendWatchOptions {
  /** ms. */
  now(): number
  /** @returns false when it could not be sent */
  send(isFirst: boolean, backends: BackendReport[]): boolean
  probe?: (target: ProbeTarget, isOdd: boolean) => Promise<BackendTrouble | null>
}

/**
 * Knows which backends answer. A new one is probed at once, and again when its node comes back; from then on the
 * traffic shows it and, where there is none, an occasional probe.
 */
export interface BackendWatch {
  /** Takes what a log line shows about a service's backend. */
  note(service: number, sign: BackendSign): void
  setRoutes(routes: RouteSections): void
  /** Services of nodes that are down are not probed: they cannot answer. */
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): void
  /** Reports everything again, to a server that knows nothing of it. */
  onReconnect(): void
  close(): void
}

const PROBE_EVERY = 10_000
/** A backend that has been silent for so long is probed less often. */
const PATIENCE = 600_000
/** The time between probes without visitors, and of backends that have been silent for long. */
const IDLE_EVERY = 60_000
/** A first check that fails is repeated once. */
const SECOND_CHECK_AFTER = 1000
/** An odd answer usually comes from the application itself, so TLS is not tried again for this long. */
const ODD_PAUSE = 600_000

const CHECK_INTERVAL = { busy: 100, idle: 1000 }
/** How many first checks one turn starts, and how many entries of the queue it skips for that at most. */
const FIRST_CHECKS = { started: 20, seen: 500 }
/** 20,000 idle services are checked within seven minutes. */
const IDLE_CHECKS = { started: 50, seen: 5000 }

export function createBackendWatch({ now, send, probe = probeBackend }: BackendWatchOptions): BackendWatch {
  const watched = new Map<number, WatchedBackend>()
  /** Those of `watched` that have a problem, or had one a moment ago. */
  const suspects = new Set<number>()
  /** Those to check as soon as there is room; when only a few came at once, a person is waiting for them. */
  const queue = new Set<number>()
  const urgent = new Set<number>()
  let routes: RouteSections = new Map()
  let nodes: ReadonlyMap<number, 'up' | 'down'> = new Map()
  let timer: NodeJS.Timeout | undefined
  let isBusyTimer = false
  let lastIdleLook = 0
  let idleRound = watched.entries()
  const slots = createProbeSlots()
  const reporter = createBackendReporter(send, (service) => watched.get(service)?.trouble ?? null)

  const isDown = ({ node }: WatchedBackend) => node !== null && nodes.get(node) === 'down'
  const isUp = ({ node }: WatchedBackend) => node === null || nodes.get(node) === 'up'
  const setTrouble = (service: number, backend: WatchedBackend, trouble: BackendTrouble | null) => {
    if (backend.trouble === trouble) return
    if (trouble === null || trouble === 'unchecked') backend.troubleSince = null
    else backend.troubleSince ??= now()
    backend.trouble = trouble
    reporter.report(service)
  }
  const nextProbe = ({ troubleSince }: WatchedBackend) =>
    now() + (troubleSince !== null && now() - troubleSince > PATIENCE ? IDLE_EVERY : PROBE_EVERY)

  /** Takes the result of a probe. */
  const learn = (
    service: number,
    backend: WatchedBackend,
    trouble: BackendTrouble | null,
    isFirst: boolean,
  ) => {
    backend.dueAt = trouble === null && backend.isOdd ? now() + ODD_PAUSE : nextProbe(backend)
    // A visitor's answer in the meantime counts more.
    if (trouble === null || backend.sign === 'answered') {
      setTrouble(service, backend, null)
      backend.answeredAt = now()
    } else if (isFirst) {
      backend.hasFailedFirst = true
      backend.dueAt = now() + SECOND_CHECK_AFTER
    } else setTrouble(service, backend, trouble)
    if (trouble === null) backend.sign = null
    else suspects.add(service)
  }
  /** @returns false when there is no room for its probe now */
  const check = (service: number, backend: WatchedBackend, kind: 'first' | 'again'): boolean => {
    if (!slots.take(backend.node, kind)) return false
    const { target } = backend
    backend.isProbed = true
    const isFirst = backend.trouble === 'unchecked' && backend.sign === null && !backend.hasFailedFirst
    backend.isOdd = backend.sign === 'odd' || backend.trouble === 'only-tls'
    backend.sign = null
    // Whatever a target makes of a probe, it ends nothing but the probe.
    const probed = probe(target, backend.isOdd).catch(() => 'unreachable' as const)
    void probed.then((trouble) => {
      slots.free(backend.node)
      backend.isProbed = false
      if (watched.get(service) === backend && backend.target === target)
        learn(service, backend, trouble, isFirst)
      wake()
    })
    return true
  }

  const lookAtSuspects = (time: number) => {
    for (const service of suspects) {
      const backend = watched.get(service)
      if (!backend) suspects.delete(service)
      if (!backend || backend.isProbed || backend.dueAt > time) continue
      const isSuspected = backend.trouble !== null || backend.sign === 'failed' || backend.sign === 'odd'
      if (!isSuspected) suspects.delete(service)
      else if (isDown(backend)) backend.dueAt = time + PROBE_EVERY
      else check(service, backend, 'again')
    }
  }
  const lookAtQueue = (waiting: Set<number>) => {
    let left = Math.min(waiting.size, FIRST_CHECKS.seen)
    let started = 0
    for (const service of waiting) {
      if (left-- <= 0 || started >= FIRST_CHECKS.started || slots.isFull()) return
      waiting.delete(service)
      const backend = watched.get(service)
      // A backend whose node is down is queued again when the node comes back.
      if (!backend || !isUp(backend)) continue
      if (!backend.isProbed && check(service, backend, 'first')) started++
      else waiting.add(service)
    }
  }
  /** Probes some of those without recent visitors, and next time the following ones. */
  const lookAtIdle = (time: number) => {
    let [left, started] = [Math.min(watched.size, IDLE_CHECKS.seen), 0]
    while (left-- > 0 && started < IDLE_CHECKS.started && !slots.isFull()) {
      const next = idleRound.next()
      if (next.done) {
        idleRound = watched.entries()
        return
      }
      const [service, backend] = next.value
      // A program that gets only bare connections may lock the edge out, as MySQL does.
      if (backend.target.proto === 'tcp' || backend.trouble !== null || backend.isProbed) continue
      if (time - backend.answeredAt < IDLE_EVERY || !isUp(backend)) continue
      if (check(service, backend, 'again')) started++
    }
  }
  const look = () => {
    timer = undefined
    const time = now()
    lookAtQueue(urgent)
    lookAtQueue(queue)
    lookAtSuspects(time)
    if (time - lastIdleLook >= CHECK_INTERVAL.idle) {
      lastIdleLook = time
      lookAtIdle(time)
    }
    wake()
  }
  /** Schedules the next turn, soon if there is work to do. */
  const wake = () => {
    const isBusy = suspects.size + queue.size + urgent.size > 0
    if (watched.size === 0 || (timer && (isBusyTimer || !isBusy))) return
    clearTimeout(timer)
    isBusyTimer = isBusy
    timer = setTimeout(look, isBusy ? CHECK_INTERVAL.busy : CHECK_INTERVAL.idle)
  }

  const queueChanged = (changed: readonly number[]) => {
    const waiting = changed.length <= FIRST_CHECKS.started ? urgent : queue
    for (const service of changed) waiting.add(service)
  }

  /** @returns whether the server must get a report before the route counts as applied */
  const setRoute = (service: number, route: ResolvedRoute | undefined, changed: number[]): boolean => {
    const before = watched.get(service)
    if (before && before.route === route) return false
    const backend = watchBackend(route)
    if (!backend) {
      if (watched.delete(service)) reporter.report(service)
      return false
    }
    changed.push(service)
    if (before && isSameBackend(before, backend)) {
      before.route = backend.route
      before.target = backend.target
      before.dueAt = 0
      return false
    }
    watched.set(service, backend)
    reporter.report(service)
    return true
  }
  const setSection = (
    before: readonly ResolvedRoute[],
    next: readonly ResolvedRoute[],
    changed: number[],
  ): boolean => {
    const there = new Set(next.map(({ id }) => id))
    for (const { id } of before) if (!there.has(id)) setRoute(id, undefined, changed)
    return next.map((route) => setRoute(route.id, route, changed)).includes(true)
  }

  return {
    note(service, sign) {
      const backend = watched.get(service)
      if (!backend) return
      if (sign === 'answered') {
        backend.answeredAt = now()
        if (backend.trouble === null && backend.sign === null) return
      } else suspects.add(service)
      // An odd target is probed less often; a failure makes it due as soon as any other.
      if (sign === 'failed' && backend.isOdd) backend.dueAt = Math.min(backend.dueAt, now() + PROBE_EVERY)
      backend.sign = sign
      if (sign === 'answered') setTrouble(service, backend, null)
      wake()
    },
    setRoutes(next) {
      let isNew = false
      const changed: number[] = []
      for (const [name, section] of next) {
        const before = routes.get(name) ?? []
        if (before !== section && setSection(before, section, changed)) isNew = true
      }
      for (const [name, section] of routes) if (!next.has(name)) setSection(section, [], changed)
      queueChanged(changed)
      routes = next
      if (isNew) reporter.flush()
      wake()
    },
    setNodeStates(next) {
      const back = new Set(
        [...next].flatMap(([id, state]) => (state === 'up' && nodes.get(id) !== 'up' ? id : [])),
      )
      nodes = next
      if (back.size === 0) return
      for (const [service, backend] of watched) {
        if (backend.node === null || !back.has(backend.node)) continue
        setTrouble(service, backend, 'unchecked')
        backend.hasFailedFirst = false
        queue.add(service)
      }
      reporter.flush()
      wake()
    },
    onReconnect: reporter.reportAgain,
    close() {
      clearTimeout(timer)
      // A probe that ends later finds nothing to report.
      watched.clear()
      reporter.close()
    },
  }
}
