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
/** The kernel's table of connections has to be so large that UDP services leave most of it to TCP and the tunnel. */
export const CONNECTIONS_WANTED = 4 * UDP_FLOWS.all

/** The kernel looks through a list for each new flow, so the one of all is in parts, which take turns. */
const PARTS = 64
/** Where a set is full, as under a flood of made up sources, the limit of all still holds. */
const SOURCES = 'flags dynamic; size 4096'

/** What the kernel notes by itself; no part of what is planned. */
export const BUDGET_SETS = {
  sources4: `type ipv4_addr; ${SOURCES}`,
  sources6: `type ipv6_addr; ${SOURCES}`,
  sites6: `type ipv6_addr; ${SOURCES}`,
  everyone: `type mark; flags dynamic; size ${PARTS}`,
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
