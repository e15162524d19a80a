/**
 * How many flows visitors of UDP services may hold at a time: the kernel remembers each for 30 s, or 2 minutes where
 * both sides keep sending. One source can exhaust neither the kernel's table of connections nor this machine's ports.
 */
export const UDP_FLOWS = {
  /** An IPv4 address, or a /64 of IPv6. */
  perSource: 1024,
  /** A /48 of IPv6. */
  perSite: 2048,
  /** Half of the ports that masquerading has for one target. */
  all: 32_768,
} as const
/**
 * How many packets an IPv4 address or a /48 of IPv6 may send to UDP services: about 55 Mbit/s. More would only fill
 * the queues of the tunnel and of the program behind it, where the packets of others wait.
 */
export const UDP_PACKETS = {
  perSecond: 5_000,
  /** How many may come at once after a pause. */
  burst: 1024,
} as const
/**
 * Pieces of packets wait for the rest in memory that all sources share: the kernel puts packets together before any other
 * rule. A full-sized piece takes 2.5 kB of it.
 */
export const FRAGMENTS = {
  /** Bytes of that memory that are wanted, for each family. */
  memory: 64 * 1024 * 1024,
  /** For how many seconds a piece should wait at most. */
  seconds: 5,
  /** How many pieces a second a source may send so that two of them do not fill it. */
  perSecond: ({ memory, seconds }: FragmentRoom) => Math.max(1, Math.floor(memory / (seconds * 2560 * 2))),
} as const

/** What the kernel has for pieces, by the poorer family. */
export interface FragmentRoom {
  /** In bytes. */
  memory: number
  seconds: number
}
/** The kernel's table of connections has to be so large that UDP services leave most of it to TCP and the tunnel. */
export const CONNECTIONS_WANTED = 4 * UDP_FLOWS.all

/** The kernel walks a list for each new flow, so the list of all flows is split into parts, which take turns. */
const PARTS = 64
/** When a set is full, as in a flood of forged sources, the limit for all still holds. */
const SOURCES = 'flags dynamic; size 4096'
const SENDERS = 'flags dynamic,timeout; timeout 1m; size 16384'

/** Sets that the kernel fills by itself; not part of the plan. */
export const BUDGET_SETS = {
  sources4: `type ipv4_addr; ${SOURCES}`,
  sources6: `type ipv6_addr; ${SOURCES}`,
  sites6: `type ipv6_addr; ${SOURCES}`,
  everyone: `type mark; flags dynamic; size ${PARTS}`,
  senders4: `type ipv4_addr; ${SENDERS}`,
  senders6: `type ipv6_addr; ${SENDERS}`,
  pieces4: `type ipv4_addr; ${SENDERS}`,
  pieces6: `type ipv6_addr; ${SENDERS}`,
} as const

/** In a chain that sees only the first packet of each flow. */
export function budgetRules(visit: string): string[] {
  const refuse = (set: keyof typeof BUDGET_SETS, key: string, most: number) =>
    `${visit} add @${set} { ${key} ct count over ${most} } drop`
  return [
    refuse('sources4', 'ip saddr', UDP_FLOWS.perSource),
    refuse('sites6', 'ip6 saddr & ffff:ffff:ffff::', UDP_FLOWS.perSite),
    refuse('sources6', 'ip6 saddr & ffff:ffff:ffff:ffff::', UDP_FLOWS.perSource),
    refuse('everyone', `numgen inc mod ${PARTS}`, UDP_FLOWS.all / PARTS),
  ]
}

/** In a chain that sees each packet. */
export function paceRules(visit: string): string[] {
  const { perSecond, burst } = UDP_PACKETS
  const refuse = (set: keyof typeof BUDGET_SETS, key: string) =>
    `${visit} update @${set} { ${key} limit rate over ${perSecond}/second burst ${burst} packets } drop`
  return [refuse('senders4', 'ip saddr'), refuse('senders6', 'ip6 saddr & ffff:ffff:ffff::')]
}

/** In a chain before the kernel puts packets together. */
export function fragmentRules(perSecond: number): string[] {
  const refuse = (set: keyof typeof BUDGET_SETS, key: string) =>
    `update @${set} { ${key} limit rate over ${perSecond}/second burst ${perSecond} packets } drop`
  return [
    'iifname "lo" accept',
    `ip frag-off & 0x3fff != 0 ${refuse('pieces4', 'ip saddr')}`,
    `exthdr frag exists ${refuse('pieces6', 'ip6 saddr & ffff:ffff:ffff::')}`,
  ]
}
