import type { DataPlane } from '@postern/contract/edge'
import { ownPortsOf } from '@postern/contract/settings'
import type { Exec } from '@postern/host/exec'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { createCounter } from './counts/counter.ts'
import type { HaproxyCounts } from './drivers/haproxy/driver.ts'
import { createKernelWatch } from './drivers/kernel-watch.ts'
import { createNftables } from './drivers/nftables/driver.ts'
import { createWireGuard } from './drivers/tunnel/driver.ts'
import type { HaproxyPart } from './haproxy-loop.ts'
import { createKeptNames } from './kept-names.ts'
import { Loop } from './loop.ts'
import { observeMachine } from './machine.ts'
import { createLookups, createNames, type Lookups } from './names.ts'
import { createHangWatch } from './observe/hang-watch.ts'
import { createObservers, type ObservedHaproxy } from './observe/observers.ts'
import { createServerLink } from './server-link.ts'
import { createTargetFinder } from './targets.ts'

/** What the edge asks of HAProxy's driver beyond making it equal to what is wanted. */
export interface EdgeHaproxy extends HaproxyPart, ObservedHaproxy {
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
      else if (hint.type === 'watch') observers.watch(hint.services)
      else counter.onStored(hint.ledger, hint.seq)
    },
    onReconnect: () => {
      // What is not checked yet, before the report that has it in force.
      observers.onReconnect()
      loop.onReconnect()
      counter.onReconnect()
    },
  })
  const observers = createObservers({ ...tunnel, haproxy, now, random, log, send: link.send })
  const names = createNames({
    lookups: options.lookups ?? createLookups(),
    now,
    onChange: () => {
      keptNames.save(names)
      loop.requestApply()
    },
  })
  const keptNames = createKeptNames(paths.names, log)
  const kernel = createKernelWatch(exec)
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
  const hangs = createHangWatch({
    ...tunnel,
    log,
    onEnded: () => loop.repairTunnel(),
    onProblem: () => loop.tell(),
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
      dataDir: settings.POSTERN_DATA_DIR,
      dir: paths.wireguardDir,
      listenPort: settings.POSTERN_TUNNEL_PORT,
      gatewayNetworks: settings.POSTERN_GATEWAY_NETWORKS,
      resolvConf: options.resolvConf,
    }),
    nftables,
    hasKernelChanged: kernel.takeChanges,
    lastGoodFile: paths.lastGood,
    observeMachine: () => observeMachine(settings, options.edgePorts()),
    observerProblems: () => [...hangs.problems(), ...observers.problems()],
    fetchState: (known) => link.fetchState(known),
    report: (report) => link.send({ type: 'report', report }),
    onState: (state) => observers.setPeers(state.peers),
    onRoutes: observers.setRoutes,
    onReady: options.onReady,
  })
  return {
    async start() {
      await counter.start()
      names.begin(await keptNames.find())
      await loop.start()
      observers.start()
      hangs.start()
      link.start()
    },
    count: counter.count,
    async close() {
      hangs.close()
      await loop.close()
      await observers.close()
      await counter.close()
      kernel.close()
      names.close()
      await keptNames.close()
      await haproxy.close()
      await link.close()
    },
  }
}
