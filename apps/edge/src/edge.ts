import type { DataPlane } from '@postern/contract/edge/edge'
import { ownPortsOf } from '@postern/contract/settings/settings'
import { observeFullest } from '@postern/host/disk'
import type { Exec } from '@postern/host/processes/exec'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { createCounter } from './counts/counter.ts'
import type { HaproxyCounts } from './drivers/haproxy/driver.ts'
import type { HaproxyLookup } from './drivers/haproxy/runtime/lookup.ts'
import { createKernelWatch } from './drivers/kernel-watch.ts'
import { createNftables } from './drivers/nftables/driver.ts'
import { createWireGuard } from './drivers/tunnel/driver.ts'
import type { HaproxyPart } from './haproxy-loop.ts'
import type { IdentityStore } from './identity/identity.ts'
import { createMembership } from './identity/membership.ts'
import { createKeptNames } from './kept-names.ts'
import { keptRequestsOf } from './kept-requests.ts'
import { createServerLink } from './link/server-link.ts'
import { createSocketWay } from './link/socket-way.ts'
import { createTlsWay } from './link/tls-way.ts'
import { Loop } from './loop.ts'
import { observeMachine } from './machine.ts'
import { createLookups, createNames, type Lookups } from './names.ts'
import { createHangWatch } from './observe/hang-watch.ts'
import { createObservers, type ObservedHaproxy } from './observe/observers.ts'
import { readUpdates, UPDATE_PLACES, type UpdatePlaces } from './observe/updates.ts'
import { createRequests } from './requests/requests.ts'
import type { Journal } from './state/journal.ts'
import { createTargetFinder } from './targets.ts'
import { createTracer } from './trace/tracer.ts'

/** What the edge needs of HAProxy's driver besides applying the wanted state. */
export interface EdgeHaproxy extends HaproxyPart, ObservedHaproxy {
  counts: HaproxyCounts
  lookup: HaproxyLookup
  /** Stops listening for log lines; HAProxy keeps running. */
  close(): Promise<void>
}

export interface EdgeOptions extends Config {
  exec: Exec
  version: string
  log: Logger
  /** What the log is told to, beside its own place. */
  journal?: Journal
  /** ms since the epoch. */
  now: () => number
  random: () => number
  resolvConfs: readonly string[]
  lookups?: Lookups
  /** TCP ports of the edge itself, to which no service may lead. */
  edgePorts: () => readonly number[]
  haproxy: EdgeHaproxy
  /** The user of HAProxy, if it is another than root. */
  proxyUid?: number | undefined
  /** Where security updates of the machine are noted, if not in the usual places. */
  updatePlaces?: UpdatePlaces
  /** Called once, when the data plane works or cannot be made for now. */
  onReady(dataPlane: DataPlane | null): void
  /** What an edge elsewhere proves itself by; absent beside the server. */
  identity?: IdentityStore | undefined
}

export interface Edge {
  start(): Promise<void>
  /** Counts the traffic of services now, not only each minute. */
  count(): Promise<void>
  /** Ends all of this process and nothing of the data plane. */
  close(): Promise<void>
}

/** Builds all long-lived parts in order; `close` ends them in reverse. */
export function createEdge(options: EdgeOptions): Edge {
  const { settings, paths, exec, haproxy, log, now, random, identity } = options
  const tunnel = { exec, interface: settings.POSTERN_TUNNEL_INTERFACE }
  const epoch = Math.floor(random() * 2 ** 48).toString(36)
  const link = createServerLink({
    way: identity
      ? createTlsWay(identity)
      : createSocketWay({ socketPath: paths.serverSocket, tokenFile: paths.edgeToken }),
    version: options.version,
    epoch,
    random,
    log,
    onHint(hint) {
      if (hint.type === 'changed') loop.hint(hint.revision)
      else if (hint.type === 'watch') observers.watch(hint.services)
      else if (hint.type === 'trace') tracer.trace(hint)
      else if (hint.type === 'counted') counter.onStored(hint.ledger, hint.seq)
      else if (hint.type === 'search') requests.search(hint)
      else requests.forget(hint.ask)
    },
    onReconnect: () => {
      // Unchecked backends first, before the report that their routes are in force.
      observers.onReconnect()
      loop.onReconnect()
      counter.onReconnect()
    },
  })
  const requests = createRequests({
    settings,
    kept: keptRequestsOf(options, undefined),
    directory: paths.requestsDir,
    now,
    log,
    exec,
    send: link.send,
    onProblem: () => loop.tell(),
  })
  const observers = createObservers({
    ...tunnel,
    haproxy,
    look: async () => ({
      disk: await observeFullest([paths.edgeDir, paths.requestsDir]),
      updates: readUpdates(options.updatePlaces ?? UPDATE_PLACES),
    }),
    now,
    random,
    log,
    send: link.send,
    onEnded: (request) => {
      requests.keep(request)
      counter.note(request)
    },
    onLost: requests.noteLost,
  })
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
    proxyUid: options.proxyUid,
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
  const tracer = createTracer({
    ...tunnel,
    settings,
    haproxy,
    heldUdpPorts: () => nftables.facts().held,
    wall: () => loop.wall(),
    send: link.send,
    log,
  })
  const membership =
    identity && createMembership({ identity, fetchCertificate: link.fetchCertificate, now, log })
  const loop = new Loop({
    settings,
    logsQueries: (said) => keptRequestsOf(options, said).hasQueries,
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
      resolvConfs: options.resolvConfs,
    }),
    nftables,
    hasKernelChanged: kernel.takeChanges,
    lastGoodFile: paths.lastGood,
    observeMachine: () => observeMachine(settings, options.edgePorts()),
    observerProblems: () => [...hangs.problems(), ...observers.problems(), ...requests.problems()],
    fetchState: (known) => link.fetchState(known),
    report: (report) => link.send({ type: 'report', report }),
    joined: () => identity?.current().known,
    onState: (state) => {
      membership?.note(state.settings)
      observers.setPeers(state.peers)
      requests.setKept(keptRequestsOf(options, state.settings.requests))
      tracer.setState(state)
    },
    onRoutes: (routes) => {
      observers.setRoutes(routes)
      requests.setRoutes(routes)
      tracer.setRoutes(routes)
    },
    onReady: options.onReady,
  })
  return {
    async start() {
      await counter.start()
      await requests.start()
      names.begin(await keptNames.find())
      await loop.start()
      observers.start()
      hangs.start()
      link.start()
      membership?.start()
      options.journal?.start(link.send)
    },
    count: counter.count,
    async close() {
      options.journal?.close()
      hangs.close()
      await loop.close()
      await observers.close()
      await requests.close()
      await counter.close()
      kernel.close()
      names.close()
      await keptNames.close()
      await haproxy.close()
      await membership?.close()
      await link.close()
    },
  }
}
