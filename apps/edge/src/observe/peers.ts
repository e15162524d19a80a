import type { Peer } from '@postern/contract/edge/desired-state'
import type { Problem } from '@postern/contract/edge/edge'
import type { PeerFigures } from '@postern/contract/edge/edge-messages'
import { LIMITS } from '@postern/contract/limits'
import type { Exec } from '@postern/host/processes/exec'
import { createSingleFlight } from '@postern/host/tasks'
import type { WgPeer } from '@postern/host/wg-dump'
import type { Logger } from 'pino'
import { findTunnel } from '../drivers/tunnel/wg.ts'
import { createEndpointWatch, hostOf } from './endpoint-watch.ts'
import { createFiguresPublisher } from './figures-publisher.ts'
import { createHandshakeAges } from './handshake-ages.ts'
import { createProber } from './prober.ts'

export interface PeerObserverOptions {
  exec: Exec
  interface: string
  /** ms since the epoch, as WireGuard counts its handshakes. */
  now: () => number
  /** Monotonic, in ms. */
  elapsed?: () => number
  send(peers: PeerFigures[]): void
  /** `up`: in the tunnel, and has not become silent. */
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): void
  log: Logger
}

export interface PeerObserver {
  start(): void
  /** The peers that are wanted now. */
  setPeers(peers: readonly Peer[]): void
  /** Sends all figures again, to a server that has none. */
  onReconnect(): void
  problems(): Problem[]
  close(): void
}

const CHECK_INTERVAL = 2000
/** Nodes that change at the same time are published together. */
const PUBLISH_AFTER = 50
/** A peer that is connecting is observed more often, for so many times. */
const CONNECTING = { lookEvery: 200, looks: 30 }

export function createPeerObserver(options: PeerObserverOptions): PeerObserver {
  let peers: readonly Peer[] = []
  /** By public key; undefined before the first observation. */
  let seen: ReadonlyMap<string, WgPeer> | undefined
  let look: NodeJS.Timeout | undefined
  let nextLook: NodeJS.Timeout | undefined
  let nextPublish: NodeJS.Timeout | undefined
  let connectingLooks = 0

  const watch = createEndpointWatch(options.now)
  const ages = createHandshakeAges(options.now, options.elapsed ?? (() => performance.now()))
  const isFresh = (peer: Peer) => ages.ageOf(peer.publicKey) < LIMITS.handshakeStale
  const figuresOfAll = () =>
    seen &&
    peers.map((peer) =>
      figuresOf(peer, seen?.get(peer.publicKey), isFresh(peer) && prober.isReachable(peer.address4)),
    )
  const figures = createFiguresPublisher({ ...options, figures: figuresOfAll })
  const prober = createProber({
    ...options,
    onChange: () => (nextPublish ??= setTimeout(publish, PUBLISH_AFTER)),
  })
  const isUp = (peer: Peer) => isFresh(peer) && !prober.isSilent(peer.address4)
  const publish = () => {
    nextPublish = undefined
    if (!seen) return
    options.setNodeStates(new Map(peers.map((peer) => [peer.nodeId, isUp(peer) ? 'up' : 'down'])))
    prober.probe(peers.filter(isFresh).map((peer) => peer.address4))
    figures.publish()
  }
  const observing = createSingleFlight(async () => {
    seen = await findPeers(options)
    watch.look(seen)
    if (ages.look(seen)) prober.restart()
    // Closed meanwhile: no further observation is due.
    if (!look) return
    publish()
    connectingLooks = peers.some((peer) => isConnecting(seen?.get(peer.publicKey))) ? connectingLooks + 1 : 0
    if (connectingLooks > 0 && connectingLooks < CONNECTING.looks)
      nextLook = setTimeout(observe, CONNECTING.lookEvery)
  })

  /** An observation that is due while another is under way is skipped. */
  const observe = () => observing.isBusy() || observing.trigger()
  return {
    start() {
      look = setInterval(observe, CHECK_INTERVAL)
      observe()
    },
    setPeers(next) {
      if (next === peers) return
      peers = next
      publish()
    },
    onReconnect: figures.publishAgain,
    problems() {
      const message = prober.problem()
      const own: Problem[] = message === null ? [] : [{ scope: { kind: 'edge' }, message }]
      return [...own, ...peers.flatMap((peer) => twinProblem(peer, watch.findTwins(peer.publicKey)))]
    },
    close() {
      clearInterval(look)
      look = undefined
      clearTimeout(nextLook)
      clearTimeout(nextPublish)
      figures.close()
      prober.close()
    },
  }
}

/** The peers of the tunnel; empty when there is none. */
async function findPeers(options: PeerObserverOptions): Promise<Map<string, WgPeer>> {
  try {
    const tunnel = await findTunnel(options.exec, options.interface)
    return new Map(tunnel?.peers.map((peer) => [peer.publicKey, peer]))
  } catch (err) {
    options.log.debug({ err }, 'the tunnel cannot be observed')
    return new Map()
  }
}

/** Not in the tunnel yet, or contacted without an answer so far. */
function isConnecting(seen: WgPeer | undefined): boolean {
  return !seen || (seen.endpoint !== null && seen.latestHandshake === null)
}

function figuresOf(peer: Peer, seen: WgPeer | undefined, reachable: boolean): PeerFigures {
  return {
    nodeId: peer.nodeId,
    latestHandshake: seen?.latestHandshake ?? null,
    rx: seen?.rx ?? 0,
    tx: seen?.tx ?? 0,
    clientIp: seen?.endpoint ? hostOf(seen.endpoint) : null,
    reachable,
  }
}

function twinProblem({ nodeId }: Peer, twins: readonly string[] | undefined): Problem[] {
  if (!twins) return []
  const message = `Two hosts use this node's configuration: ${twins.join(' and ')}. Give each host a node of its own.`
  return [{ scope: { kind: 'node', id: nodeId }, message }]
}
