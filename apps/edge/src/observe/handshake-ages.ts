import type { WgPeer } from '@postern/host/wg-dump'

/** Knows how old handshakes are, whatever happens to the clock by which WireGuard dates them. */
export interface HandshakeAges {
  /** @returns whether the clock was changed since the last observation */
  look(peers: ReadonlyMap<string, WgPeer>): boolean
  /** In ms; infinite where there was none. */
  ageOf(publicKey: string): number
}

/** A clock that is only adjusted differs by less between two observations. */
const JUMP = 1000

interface Seen {
  handshake: number
  /** When it was made, by the monotonic clock. */
  made: number
}

/**
 * A handshake that is new since the last observation was made just now. Only one from before the first is judged by
 * its date.
 */
export function createHandshakeAges(now: () => number, elapsed: () => number): HandshakeAges {
  let known: ReadonlyMap<string, Seen> | undefined
  let offset = now() - elapsed()
  return {
    look(peers) {
      const before = known
      const at = elapsed()
      known = new Map(
        [...peers].flatMap(([key, { latestHandshake: handshake }]) => {
          if (handshake === null) return []
          const same = before?.get(key)
          if (same?.handshake === handshake) return [[key, same]]
          const age = before ? 0 : Math.max(now() - handshake, 0)
          return [[key, { handshake, made: at - age }]]
        }),
      )
      const next = now() - at
      const hasJumped = Math.abs(next - offset) > JUMP
      offset = next
      return hasJumped
    },
    ageOf(publicKey) {
      const seen = known?.get(publicKey)
      return seen ? elapsed() - seen.made : Number.POSITIVE_INFINITY
    },
  }
}
