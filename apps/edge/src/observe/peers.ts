import type { Peer } from '@postern/contract/desired-state'
import type { PeerFigures, Problem } from '@postern/contract/edge'
import { LIMITS } from '@postern/contract/limits'
import type { Exec } from '@postern/host/exec'
import { parseWgDump, type WgPeer } from '@postern/host/wg-dump'
import type { Logger } from 'pino'
import { createEndpointWatch } from './endpoint-watch.ts'
import { hostOf } from './host-of.ts'
import { createProber } from './prober.ts'
import { createSpeaker } from './speaker.ts'

export interface PeerObserverOptions {
  exec: Exec
  interface: string
  /** ms since the epoch, as WireGuard counts its handshakes. */
  now: () => number
  send(peers: PeerFigures[]): void
  /** Which nodes are worth a visitor's wait: in the tunnel, and not silent after they had answered. */
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): void
  log: Logger
}

export interface PeerObserver {
  start(): void
  /** The peers that are wanted now. */
  setPeers(peers: readonly Peer[]): void
  /** Says all figures again, to a server that knows nothing of them. */
  greet(): void
  problems(): Problem[]
  close(): void
}

const LOOK_EVERY = 2000
/** Nodes that change at the same time are told of together. */
const TELL_AFTER = 50
/** What is about to come is seen at once, and after so many looks it is not about to come. */
const SOON = { lookEvery: 200, looks: 30 }

export function createPeerObserver(options: PeerObserverOptions): PeerObserver {
  let peers: readonly Peer[] = []
  /** By public key; undefined before the first look. */
  let seen: ReadonlyMap<string, WgPeer> | undefined
  let look: NodeJS.Timeout | undefined
  let nextLook: NodeJS.Timeout | undefined
  let nextTell: NodeJS.Timeout | undefined
  let soonLooks = 0

  const watch = createEndpointWatch(options.now)
  const isFresh = (peer: Peer) => isFreshAt(options.now(), seen?.get(peer.publicKey))
  const figuresOfAll = () =>
    seen &&
    peers.map((peer) =>
      figuresOf(peer, seen?.get(peer.publicKey), isFresh(peer) && prober.isReachable(peer.address4)),
    )
  const speaker = createSpeaker({ ...options, figures: figuresOfAll })
  const prober = createProber({ ...options, onChange: () => (nextTell ??= setTimeout(tell, TELL_AFTER)) })
  const isUp = (peer: Peer) => isFresh(peer) && !prober.isSilent(peer.address4)
  const tell = () => {
    nextTell = undefined
    if (!seen) return
    options.setNodeStates(new Map(peers.map((peer) => [peer.nodeId, isUp(peer) ? 'up' : 'down'])))
    prober.probe(peers.filter(isFresh).map((peer) => peer.address4))
    speaker.say()
  }
  const observe = oneAtATime(async () => {
    seen = await findPeers(options)
    watch.look(seen)
    // Closed meanwhile: a probe that starts now would never end.
    if (!look) return
    tell()
    soonLooks = peers.some((peer) => isAboutToCome(seen?.get(peer.publicKey))) ? soonLooks + 1 : 0
    if (soonLooks > 0 && soonLooks < SOON.looks) nextLook = setTimeout(observe, SOON.lookEvery)
  })

  return {
    start() {
      look = setInterval(observe, LOOK_EVERY)
      observe()
    },
    setPeers(next) {
      if (next === peers) return
      peers = next
      tell()
    },
    greet: speaker.sayAgain,
    problems() {
      const message = prober.problem()
      const own: Problem[] = message === null ? [] : [{ scope: { kind: 'edge' }, message }]
      return [...own, ...peers.flatMap((peer) => twinProblem(peer, watch.findTwins(peer.publicKey)))]
    },
    close() {
      clearInterval(look)
      look = undefined
      clearTimeout(nextLook)
      clearTimeout(nextTell)
      speaker.close()
      prober.close()
    },
  }
}

/** `work` must not throw; calls during a run are left out. */
function oneAtATime(work: () => Promise<void>): () => void {
  let isRunning = false
  return () => {
    if (isRunning) return
    isRunning = true
    void work().finally(() => {
      isRunning = false
    })
  }
}

/** What the tunnel shows; nobody when there is none. */
async function findPeers(options: PeerObserverOptions): Promise<Map<string, WgPeer>> {
  try {
    const args = ['show', options.interface, 'dump']
    const { code, stdout } = await options.exec.run('wg', args, { timeoutMs: 5000 })
    if (code !== 0) return new Map()
    return new Map(parseWgDump(stdout).peers.map((peer) => [peer.publicKey, peer]))
  } catch (err) {
    options.log.debug({ err }, 'the tunnel cannot be looked at')
    return new Map()
  }
}

/** A peer that the tunnel does not have yet, or that is called and has not answered yet. */
function isAboutToCome(seen: WgPeer | undefined): boolean {
  return !seen || (seen.endpoint !== null && seen.latestHandshake === null)
}

function isFreshAt(now: number, seen: WgPeer | undefined): boolean {
  const handshake = seen?.latestHandshake ?? null
  return handshake !== null && now - handshake < LIMITS.handshakeStale
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
