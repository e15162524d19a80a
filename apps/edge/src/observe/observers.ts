import type { Peer } from '@postern/contract/edge/desired-state'
import type { Problem } from '@postern/contract/edge/edge'
import type { EdgeMessage, EdgeVitals, HaproxyVitals } from '@postern/contract/edge/edge-messages'
import type { KeptRequest } from '@postern/contract/requests/kept'
import type { Exec } from '@postern/host/processes/exec'
import { createSingleFlight } from '@postern/host/tasks'
import type { RouteSections } from '@postern/render/resolved-route'
import type { Logger } from 'pino'
import type { HaproxyLog } from '../drivers/haproxy/logs/log.ts'
import { createFlowLog, type KeptLine } from '../drivers/nftables/flow-log.ts'
import { createRefusalLog } from '../drivers/nftables/refusal-log.ts'
import { createBackendWatch } from './backends.ts'
import { createLogRings } from './log-rings.ts'
import { createPeerObserver } from './peers.ts'
import { createVitalsReporter } from './vitals.ts'

export interface ObservedHaproxy {
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  findVitals(): Promise<HaproxyVitals | undefined>
  logs: { on(event: 'line', listener: (line: HaproxyLog) => void): unknown }
}

interface ObserversOptions {
  exec: Exec
  interface: string
  haproxy: ObservedHaproxy
  /** Reads disk space and waiting updates, for the vitals. */
  look: () => Promise<Pick<EdgeVitals, 'disk' | 'updates'>>
  now: () => number
  random: () => number
  log: Logger
  /** @returns false when there is no connection */
  send(message: EdgeMessage): boolean
  /** A request or connection has ended. */
  onEnded(request: KeptRequest): void
  /** So many of them are not known. */
  onLost(count: number): void
}

/** Watches log lines, backends, peers and the edge's own processes, and reports them to the server. */
export interface Observers {
  start(): void
  /** Sets the services whose lines somebody reads. */
  watch(services: readonly number[]): void
  setPeers(peers: readonly Peer[]): void
  setRoutes(routes: RouteSections): void
  /** The server has no reports yet. */
  onReconnect(): void
  problems(): Problem[]
  close(): Promise<void>
}

export function createObservers({ haproxy, send, onEnded, onLost, ...options }: ObserversOptions): Observers {
  const { now, log } = options
  const rings = createLogRings({ send: (lines) => send({ type: 'logs', lines }) })
  const backends = createBackendWatch({
    now,
    send: (isFirst, reports) => send({ type: 'backends', isFirst, backends: reports }),
  })
  haproxy.logs.on('line', (line) => {
    rings.push(line)
    if (line.sign) backends.note(line.service, line.sign)
    const { kept, lost } = line
    if (kept) onEnded(kept)
    if (lost) onLost(lost)
  })
  const onLine = (line: KeptLine) => {
    rings.push(line)
    if (line.kept) onEnded(line.kept)
  }
  const flowLog = createFlowLog({ ...options, onLine })
  const refusalLog = createRefusalLog({ ...options, onLine })
  let nodeStates: ReadonlyMap<number, 'up' | 'down'> = new Map()
  const tellingNodes = createSingleFlight(() =>
    haproxy
      .setNodeStates(nodeStates)
      .catch((err: unknown) => log.warn({ err }, 'HAProxy did not get the states of the nodes')),
  )
  const peers = createPeerObserver({
    ...options,
    send: (figures) => send({ type: 'peers', peers: figures }),
    setNodeStates: (states) => {
      backends.setNodeStates(states)
      nodeStates = states
      tellingNodes.trigger()
    },
  })
  const vitals = createVitalsReporter({ haproxy, look: options.look, send, log })
  return {
    start() {
      peers.start()
      vitals.start()
    },
    watch: rings.watch,
    setPeers: peers.setPeers,
    setRoutes: (routes) => {
      backends.setRoutes(routes)
      flowLog.setRoutes(routes)
      refusalLog.setRoutes(routes)
    },
    onReconnect() {
      rings.watch([])
      peers.onReconnect()
      backends.onReconnect()
      vitals.report()
    },
    problems: peers.problems,
    async close() {
      peers.close()
      await vitals.close()
      tellingNodes.close()
      await tellingNodes.idle()
      flowLog.close()
      refusalLog.close()
      rings.close()
      backends.close()
    },
  }
}
