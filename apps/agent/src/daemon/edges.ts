import { createBackoff } from '@postern/host/backoff'
import type { WgPeer } from '@postern/host/wg-dump'
import type { WantedPeer } from '../wanted.ts'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import { type Health, judgeHealth } from './health.ts'

export interface EdgesOptions {
  listAddresses(host: string): Promise<string[]>
  isAnswering(address: string): Promise<boolean>
  /** An edge that was away answers. */
  onBack(): void
  now(): number
  random(): number
}

/** What the agent knows of one edge: where it is, and whether it answers. Edges do not wait for each other. */
export interface EdgeWatch {
  peer: WantedPeer
  /** There is no other. */
  isOnly: boolean
  endpoint: Pick<Endpoint, 'current' | 'all'>
  /** Looks for the endpoint again, and takes the next address when `moveOn` is set. @returns a problem in words. */
  refresh(moveOn: boolean): Promise<string | undefined>
  /** Has not answered several times in a row. */
  isBroken(): boolean
  /** Has missed an answer, which may be one lost packet. */
  isUnsure(): boolean
  /** Whether to look for it anew, because it is broken: each time after a longer pause. */
  isRetryDue(): boolean
  /**
   * Asks it, and judges by what WireGuard says of the peer.
   * @param isPatient waits for its answer although it is broken
   */
  judge(found: WgPeer | undefined, isPatient: boolean): Promise<Health>
}

/** Missed answers in a row before an edge counts as broken. */
const MISSES = 3

export function createEdges(options: EdgesOptions) {
  let watches: EdgeWatch[] = []
  return {
    /** The watches of these edges, in their order. What is known of an edge stays while its key and host do. */
    follow(peers: readonly WantedPeer[]): readonly EdgeWatch[] {
      const isSame = (a: WantedPeer, b: WantedPeer) =>
        a.id === b.id && a.publicKey === b.publicKey && a.host === b.host
      watches = peers.map((peer) => {
        const known = watches.find((watch) => isSame(watch.peer, peer))
        return Object.assign(known ?? watchEdge(peer, options), { peer, isOnly: peers.length === 1 })
      })
      return watches
    },
    forget(): void {
      watches = []
    },
  }
}

function watchEdge(peer: WantedPeer, options: EdgesOptions): EdgeWatch {
  const { now, random, isAnswering, onBack } = options
  const endpoint = createEndpoint(options.listAddresses)
  const backoff = createBackoff({ first: 1000, most: 60_000, random })
  let misses = 0
  let retryAt = 0
  let probe: Promise<boolean> | undefined
  let isBack = false

  function ask(address: string): Promise<boolean> {
    probe ??= isAnswering(address).finally(() => {
      probe = undefined
    })
    return probe
  }

  /** A broken edge would let the others wait for its silence: the last answer counts until there is a new one. */
  async function isHeard(address: string, isPatient: boolean): Promise<boolean> {
    if (isPatient || misses < MISSES) return await ask(address)
    const was = isBack
    isBack = false
    if (!was && !probe)
      void ask(address).then((answers) => {
        isBack = answers
        if (answers) onBack()
      })
    return was
  }

  const watch: EdgeWatch = {
    peer,
    isOnly: true,
    endpoint,
    refresh: (moveOn) => endpoint.refresh(watch.peer.host, moveOn),
    isBroken: () => misses >= MISSES,
    isUnsure: () => misses > 0 && misses < MISSES,
    isRetryDue() {
      if (misses < MISSES || now() < retryAt) return false
      retryAt = now() + backoff.next()
      return true
    },
    async judge(found, isPatient) {
      const answers = await isHeard(watch.peer.edgeAddress, isPatient)
      const health = judgeHealth(watch, found, answers, now())
      misses = health.state === 'online' ? 0 : misses + 1
      if (misses === 0) backoff.reset()
      return health
    },
  }
  return watch
}
