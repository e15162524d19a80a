import type { Peer } from '@postern/contract/desired-state'
import type { EdgeMessage, Problem } from '@postern/contract/edge'
import type { Exec } from '@postern/host/exec'
import { createSingleFlight } from '@postern/host/tasks'
import type { RouteSections } from '@postern/render/resolved-route'
import type { Logger } from 'pino'
import type { HaproxyLog } from '../drivers/haproxy/logs/line.ts'
import { createFlowLog } from '../drivers/nftables/flow-log.ts'
import { createRefusalLog } from '../drivers/nftables/refusal-log.ts'
import { createBackendWatch } from './backends.ts'
import { createLogRings } from './log-rings.ts'
import { createPeerObserver } from './peers.ts'

export interface ObservedHaproxy {
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  logs: { on(event: 'line', listener: (line: HaproxyLog) => void): unknown }
}

interface ObserversOptions {
  exec: Exec
  interface: string
  haproxy: ObservedHaproxy
  now: () => number
  random: () => number
  log: Logger
  /** @returns false when there is no connection */
  send(message: EdgeMessage): boolean
}

/** What watches the traffic and its ends, and says it to the server: log lines, backends and peers. */
export interface Observers {
  start(): void
  /** The services whose lines somebody reads. */
  watch(services: readonly number[]): void
  setPeers(peers: readonly Peer[]): void
  setRoutes(routes: RouteSections): void
  /** The server knows nothing of what was said. */
  onReconnect(): void
  problems(): Problem[]
  close(): Promise<void>
}

export function createObservers({ haproxy, send, ...options }: ObserversOptions): Observers {
  const { now, log } = options
  const rings = createLogRings({ send: (lines) => send({ type: 'logs', lines }) })
  const backends = createBackendWatch({
    now,
    send: (isFirst, reports) => send({ type: 'backends', isFirst, backends: reports }),
  })
  haproxy.logs.on('line', (line) => {
    rings.push(line)
    if (line.sign) backends.note(line.service, line.sign)
  })
  const flowLog = createFlowLog({ ...options, onLine: rings.push })
  const refusalLog = createRefusalLog({ ...options, onLine: rings.push })
  let nodeStates: ReadonlyMap<number, 'up' | 'down'> = new Map()
  const tellingNodes = createSingleFlight(() =>
    haproxy.setNodeStates(nodeStates).catch((err: unknown) => log.warn({ err }, 'HAProxy was not told')),
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
  return {
    start: peers.start,
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
    },
    problems: peers.problems,
    async close() {
      peers.close()
      tellingNodes.close()
      await tellingNodes.idle()
      flowLog.close()
      refusalLog.close()
      rings.close()
      backends.close()
    },
  }
}
