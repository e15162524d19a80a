import type { DataPlane } from '@postern/contract/edge'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { createNftables } from './drivers/nftables.ts'
import { createWireGuard } from './drivers/wireguard.ts'
import type { Exec } from './exec.ts'
import { createLookups, type Lookups } from './lookups.ts'
import { createLoop } from './loop.ts'
import { observeMachine } from './machine.ts'
import { createNames } from './names.ts'
import { createLogRings } from './observe/log-rings.ts'
import { createPeerObserver } from './observe/peers.ts'
import type { HaproxyPart } from './reconcile.ts'
import { createServerLink } from './server-link.ts'

/** What the edge asks of HAProxy's driver beyond making it equal to what is wanted. */
export interface EdgeHaproxy extends HaproxyPart {
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  logs: { on(event: 'line', listener: (line: { service: number; text: string }) => void): unknown }
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
  onReady(dataPlane: DataPlane): void
}

export interface Edge {
  start(): Promise<void>
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
    onHint: (hint) => (hint.type === 'changed' ? loop.hint(hint.revision) : rings.watch(hint.services)),
    onOpen: () => {
      rings.watch([])
      loop.greet()
      peers.greet()
    },
  })
  const rings = createLogRings({ send: (lines) => link.send({ type: 'logs', lines }) })
  haproxy.logs.on('line', ({ service, text }) => rings.push(service, text))
  const peers = createPeerObserver({
    ...tunnel,
    now,
    log,
    send: (figures) => link.send({ type: 'peers', peers: figures }),
    setNodeStates: (states) =>
      void haproxy.setNodeStates(states).catch((err: unknown) => log.warn({ err }, 'HAProxy was not told')),
  })
  const names = createNames({
    lookups: options.lookups ?? createLookups(),
    now,
    onChange: () => loop.alarm(),
  })
  const loop = createLoop({
    haproxy,
    names,
    log,
    random,
    wireguard: createWireGuard({
      ...tunnel,
      dir: paths.wireguardDir,
      listenPort: settings.POSTERN_TUNNEL_PORT,
      resolvConf: options.resolvConf,
    }),
    nftables: createNftables({ ...tunnel, httpsPort: settings.POSTERN_HTTPS_PORT }),
    lastGoodFile: paths.lastGood,
    observeMachine: () => observeMachine(settings, options.edgePorts()),
    observerProblems: () => peers.problems(),
    fetchState: (known) => link.fetchState(known),
    report: (report) => link.send({ type: 'report', report }),
    onState: (state) => peers.setPeers(state.peers),
    onReady: options.onReady,
  })
  return {
    async start() {
      await loop.start()
      peers.start()
      link.start()
    },
    async close() {
      peers.close()
      await loop.close()
      names.close()
      rings.close()
      await haproxy.close()
      await link.close()
    },
  }
}
