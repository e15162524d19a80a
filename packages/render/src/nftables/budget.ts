/**
 * How many flows visitors of UDP services may hold at a time: the kernel remembers each for 30 s, or 2 minutes where
 * both sides go on. One source takes neither the kernel's table of connections nor the ports of this machine from
 * others.
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
 * How many packets an IPv4 address or a /48 of IPv6 may send to UDP services: some 55 Mbit/s. What is more would only
 * fill the queues of the tunnel and of the program behind it, where the packets of others wait.
 */
export const UDP_PACKETS = {
  perSecond: 5_000,
  /** What may come at once after a pause. */
  burst: 1024,
} as const
/** The kernel's table of connections has to be so large that UDP services leave most of it to TCP and the tunnel. */
export const CONNECTIONS_WANTED = 4 * UDP_FLOWS.all

/** The kernel looks through a list for each new flow, so the one of all is in parts, which take turns. */
const PARTS = 64
/** Where a set is full, as under a flood of made up sources, the limit of all still holds. */
const SOURCES = 'flags dynamic; size 4096'
const SENDERS = 'flags dynamic,timeout; timeout 1m; size 16384'

/** What the kernel notes by itself; no part of what is planned. */
export const BUDGET_SETS = {
  sources4: `type ipv4_addr; ${SOURCES}`,
  sources6: `type ipv6_addr; ${SOURCES}`,
  sites6: `type ipv6_addr; ${SOURCES}`,
  everyone: `type mark; flags dynamic; size ${PARTS}`,
  senders4: `type ipv4_addr; ${SENDERS}`,
  senders6: `type ipv6_addr; ${SENDERS}`,
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
