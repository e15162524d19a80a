import type { WgPeer } from '@postern/host/wg-dump'

/**
 * Detects that two hosts use one key: WireGuard answers the one that sent last, so the endpoint goes back and forth.
 */
export interface EndpointWatch {
  /** Takes the present endpoints, by public key. */
  look(peers: ReadonlyMap<string, WgPeer>): void
  /** The two hosts that take turns with this key, or undefined. */
  findTwins(publicKey: string): [string, string] | undefined
}

interface Arrival {
  endpoint: string
  /** ms */
  at: number
}

/** A host that only moves comes back at most once in this time, in ms; two hosts each send about every 25 s. */
const WINDOW = 180_000
/** How often the endpoint must come back to a previous one: A, B, A, B are two returns. */
const RETURNS = 2
const MOST_ARRIVALS = 16

/** @param now ms */
export function createEndpointWatch(now: () => number): EndpointWatch {
  let arrivals = new Map<string, Arrival[]>()
  return {
    look(peers) {
      const next = new Map<string, Arrival[]>()
      for (const [key, { endpoint }] of peers) {
        const before = (arrivals.get(key) ?? []).filter(
          ({ at }, index, all) => index === all.length - 1 || now() - at < WINDOW,
        )
        const isNew = endpoint !== null && before.at(-1)?.endpoint !== endpoint
        const after = isNew ? [...before, { endpoint, at: now() }] : before
        if (after.length > 0) next.set(key, after.slice(-MOST_ARRIVALS))
      }
      arrivals = next
    },
    findTwins(publicKey) {
      const recent = (arrivals.get(publicKey) ?? []).map(({ endpoint }) => endpoint)
      const returns = recent.filter((endpoint, index) => recent.indexOf(endpoint) < index)
      const [one, other] = [...new Set(returns.slice(-2))].sort()
      return returns.length < RETURNS || !one || !other ? undefined : nameEnds(one, other)
    },
  }
}

/** Behind one NAT only the ports tell them apart. */
function nameEnds(one: string, other: string): [string, string] {
  const [first, second] = [hostOf(one), hostOf(other)]
  if (first === second) return [one, other]
  return first < second ? [first, second] : [second, first]
}

/** The address of `203.0.113.7:51820` or `[2001:db8::7]:51820`. */
export function hostOf(endpoint: string): string {
  return endpoint
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .replace(/%.*$/, '')
}
