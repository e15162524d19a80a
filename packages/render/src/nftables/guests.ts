import type { PortSpan } from '../haproxy/options.ts'
import { spansWithout } from '../haproxy/ports.ts'

/** How many flows of each family a node with internet access may hold: a sixteenth of the table that is wanted. */
export const GUEST_FLOWS = 8192

/** Sets that the kernel fills by itself; not part of the plan. */
export const GUEST_SETS = {
  guests4: 'type ipv4_addr; flags dynamic; size 65536',
  guests6: 'type ipv6_addr; flags dynamic; size 65536',
} as const

/** The range in which programs rarely listen. */
const QUIET: PortSpan = { from: 32_768, to: 65_535 }
const ANY: PortSpan = { from: 1024, to: 65_535 }

/**
 * The ports of this machine from which the packets of nodes with internet access leave: the widest span without one at
 * which this installation waits for packets. From any other port a node could begin a flow to a visitor of that port,
 * and would get that visitor's packets: the kernel would take them for answers.
 */
export function findGuestPorts(range: PortSpan | undefined, own: readonly number[]): PortSpan {
  const taken = new Set(own)
  for (let port = range?.from ?? 1; port <= (range?.to ?? 0); port++) taken.add(port)
  for (const within of [QUIET, ANY]) {
    const [widest] = spansWithout(within, taken).toSorted((a, b) => b.to - b.from - (a.to - a.from))
    if (widest && widest.to - widest.from >= LEAST) return widest
  }
  // Services may use all ports.
  return QUIET
}

/** With fewer, several nodes that ask one server at the same time would get in each other's way. */
const LEAST = 4096

/**
 * In a chain that sees only the first packet of a flow.
 * @param leaving what matches packets to the internet, by family
 */
export function guestRules(leaving: { four: string; six: string }, { from, to }: PortSpan): string[] {
  const { four, six } = leaving
  const count = (set: keyof typeof GUEST_SETS, key: string) =>
    `add @${set} { ${key} ct count over ${GUEST_FLOWS} } drop`
  return [
    `${four} ${count('guests4', 'ip saddr')}`,
    `${six} ${count('guests6', 'ip6 saddr')}`,
    ...[four, six].flatMap((leaves) => [
      `${leaves} meta l4proto { tcp, udp } masquerade to :${from}-${to}`,
      `${leaves} masquerade`,
    ]),
  ]
}
