import type { DataPlane } from '@postern/contract/edge'
import { ownPortsOf } from '@postern/contract/settings'
import type { Exec } from '@postern/host/exec'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { createCounter } from './counts/counter.ts'
import type { HaproxyCounts } from './drivers/haproxy/driver.ts'
import type { HaproxyLog } from './drivers/haproxy/logs/line.ts'
import { createKernelWatch } from './drivers/kernel-watch.ts'
import { createNftables } from './drivers/nftables/driver.ts'
import { createFlowLog } from './drivers/nftables/flow-log.ts'
import { createRefusalLog } from './drivers/nftables/refusal-log.ts'
import { createWireGuard } from './drivers/tunnel/driver.ts'
import { Loop } from './loop.ts'
import { observeMachine } from './machine.ts'
import { createLookups, createNames, type Lookups } from './names.ts'
import { createBackendWatch } from './observe/backends.ts'
import { createLogRings } from './observe/log-rings.ts'
import { createPeerObserver } from './observe/peers.ts'
import type { HaproxyPart } from './reconcile.ts'
import { createServerLink } from './server-link.ts'
import { createSingleFlight } from './single-flight.ts'
import { createTargetFinder } from './targets.ts'

/** What the edge asks of HAProxy's driver beyond making it equal to what is wanted. */
export interface EdgeHaproxy extends HaproxyPart {
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  logs: { on(event: 'line', listener: (line: HaproxyLog) => void): unknown }
  counts: HaproxyCounts
  /** Stops listening for log lines; HAProxy goes on. */
  close(): Promise<void>
}

export interface EdgeOptions extends Config {
  exec: Exec
  version: string
  log: Logger
  /** ms since the epoch. */
  now: () => number
  random: () => number
  resolvConf: string
  lookups?: Lookups
  /** TCP ports of the edge itself, which no service may lead to. */
  edgePorts: () => readonly number[]
  haproxy: EdgeHaproxy
  /** Called once, when the data plane was made or cannot be made for now. */
  onReady(dataPlane: DataPlane | null): void
}

export interface Edge {
  start(): Promise<void>
  /** Looks now, and not only each minute, what services carry. */
  count(): Promise<void>
  /** Ends everything of this process and nothing of the data plane. */
  close(): Promise<void>
}

/** Everything that is alive, built in order; `close` ends it in reverse. */
export function createEdge(options: EdgeOptions): Edge {
  const { settings, paths, exec, haproxy, log, now, random } = options
  const tunnel = { exec, interface: settings.POSTERN_TUNNEL_INTERFACE }
  const epoch = Math.floor(random() * 2 ** 48).toString(36)
  const link = createServerLink({
    socketPath: paths.serverSocket,
    tokenFile: paths.edgeToken,
    version: options.version,
    epoch,
    random,
    log,
    onHint(hint) {
      if (hint.type === 'changed') loop.hint(hint.revision)
      else if (hint.type === 'watch') rings.watch(hint.services)
      else counter.onStored(hint.ledger, hint.seq)
    },
    onReconnect: () => {
      rings.watch([])
      loop.onReconnect()
      peers.onReconnect()
      backends.onReconnect()
      counter.onReconnect()
    },
  })
  const rings = createLogRings({ send: (lines) => link.send({ type: 'logs', lines }) })
  const backends = createBackendWatch({
    now,
    send: (isFirst, reports) => link.send({ type: 'backends', isFirst, backends: reports }),
  })
  haproxy.logs.on('line', (line) => {
    rings.push(line)
    if (line.sign) backends.note(line.service, line.sign)
  })
  let nodeStates: ReadonlyMap<number, 'up' | 'down'> = new Map()
  const tellingNodes = createSingleFlight(() =>
    haproxy.setNodeStates(nodeStates).catch((err: unknown) => log.warn({ err }, 'HAProxy was not told')),
  )
  const peers = createPeerObserver({
    ...tunnel,
    now,
    log,
    send: (figures) => link.send({ type: 'peers', peers: figures }),
    setNodeStates: (states) => {
      backends.setNodeStates(states)
      nodeStates = states
      tellingNodes.trigger()
    },
  })
  const names = createNames({
    lookups: options.lookups ?? createLookups(),
    now,
    onChange: () => loop.requestApply(),
  })
  const kernel = createKernelWatch(exec)
  const flowLog = createFlowLog({ exec, now, random, onLine: (line) => rings.push(line) })
  const refusalLog = createRefusalLog({
    exec,
    interface: tunnel.interface,
    now,
    onLine: (line) => rings.push(line),
  })
  const nftables = createNftables({
    ...tunnel,
    httpsPort: settings.POSTERN_HTTPS_PORT,
    portRange: settings.POSTERN_PORT_RANGE,
    ownPorts: ownPortsOf(settings),
  })
  const counter = createCounter({
    file: paths.counts,
    readAll: async () => [...(await haproxy.counts.reads()), nftables.readCounts],
    send: link.send,
    now,
    random,
    log,
  })
  haproxy.counts.onLast(counter.countLast)
  const loop = new Loop({
    settings,
    haproxy,
    names,
    targets: createTargetFinder(names),
    log,
    random,
    wireguard: createWireGuard({
      ...tunnel,
      dir: paths.wireguardDir,
      listenPort: settings.POSTERN_TUNNEL_PORT,
      resolvConf: options.resolvConf,
    }),
    nftables,
    hasKernelChanged: kernel.takeChanges,
    lastGoodFile: paths.lastGood,
    observeMachine: () => observeMachine(settings, options.edgePorts()),
    observerProblems: () => peers.problems(),
    fetchState: (known) => link.fetchState(known),
    report: (report) => link.send({ type: 'report', report }),
    onState: (state) => peers.setPeers(state.peers),
    onRoutes: (routes) => {
      backends.setRoutes(routes)
      flowLog.setRoutes(routes)
      refusalLog.setRoutes(routes)
    },
    onReady: options.onReady,
  })
  return {
    async start() {
      await counter.start()
      await loop.start()
      peers.start()
      link.start()
    },
    count: counter.count,
    async close() {
      peers.close()
      tellingNodes.close()
      await loop.close()
      await tellingNodes.idle()
      await counter.close()
      flowLog.close()
      refusalLog.close()
      kernel.close()
      names.close()
      rings.close()
      backends.close()
      await haproxy.close()
      await link.close()
    },
  }
}
