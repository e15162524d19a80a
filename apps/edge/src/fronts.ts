import type { Peer, TunnelSettings } from '@postern/contract/edge/desired-state'
import { findIp, formatIp } from '@postern/net/ip'
import type { DnsQuery, Names } from './names.ts'

/**
 * The addresses at which visitors find this installation. Behind a router, or in a container, they belong to another
 * machine, which may let in more from here than from the internet.
 */
export interface Fronts {
  /** Sorted; none while no node has internet access. While the public host's name cannot be resolved, the last ones. */
  find(state: { settings: Pick<TunnelSettings, 'publicHost'>; peers: readonly Peer[] }): readonly string[]
  /** The look-ups that the last `find` needed. */
  queries(): readonly DnsQuery[]
}

export const needsInternet = (peers: readonly Pick<Peer, 'allowInternet'>[]) =>
  peers.some((peer) => peer.allowInternet)

export function createFronts(names: Pick<Names, 'find'>): Fronts {
  let last: { host: string; addresses: readonly string[] } = { host: '', addresses: [] }
  let queries: readonly DnsQuery[] = []
  return {
    find({ settings: { publicHost: host }, peers }) {
      queries = []
      if (!needsInternet(peers)) return []
      const ip = findIp(host)
      if (ip) return [formatIp(ip)]
      // Former names do not count: they may be somebody else's by now.
      const query: DnsQuery = { name: host, server: null, families: [4, 6] }
      queries = [query]
      const { addresses } = names.find(query)
      if (addresses.length > 0 || last.host !== host) last = { host, addresses: [...addresses].sort() }
      return last.addresses
    },
    queries: () => queries,
  }
}
