import { budgetRules, fragmentRules, paceRules } from './budget.ts'
import { guestRules } from './guests.ts'
import type { FirewallPlan } from './plan.ts'

export interface Chain {
  name: string
  type: 'filter' | 'nat'
  hook: string
  priority: number
  rules: string[]
}

/** Before packets that came in pieces are put together, at -400. */
const PIECES = -450
/** Before connection tracking. */
const RAW = -300
const DESTINATION_NAT = -100
/** Before the chains of other programs (priority 0), so that a dropped packet costs nothing more. */
const FILTER = -10
const SOURCE_NAT = 100

/** The chains are fixed; what changes is in the sets. */
export function chainsOf(plan: FirewallPlan): Chain[] {
  const isolation = isolationOf(plan)
  return plan.isBare ? isolation : [...isolation, ...trafficOf(plan)]
}

/** The chains that isolate nodes from each other and from this machine, and its users from nodes. */
export function isolationOf(plan: FirewallPlan): Chain[] {
  return [
    filterOf('input', FILTER, inputRules(plan)),
    filterOf('forward', FILTER, forwardRules(plan)),
    filterOf('output', FILTER, outputRules(plan)),
  ]
}

function trafficOf(plan: FirewallPlan): Chain[] {
  return [
    filterOf('forward', FILTER + 5, otherRules(plan), 'forward_others'),
    translationOf('postrouting', SOURCE_NAT, sourceRules(plan)),
    translationOf('prerouting', DESTINATION_NAT, frontRules(plan), 'prerouting_fronts'),
    ...visitorChains('prerouting', `iifname != "${plan.interface}" fib daddr type local`),
    ...visitorChains('output', 'fib daddr type local'),
    filterOf('prerouting', PIECES, fragmentRules(plan.fragmentsPerSecond), 'prerouting_pieces'),
    ...loopbackChains(),
    ...answerChains(),
  ]
}

function filterOf(hook: string, priority: number, rules: string[], name = hook): Chain {
  return { name, type: 'filter', hook, priority, rules }
}

function translationOf(hook: string, priority: number, rules: string[], name = hook): Chain {
  return { name, type: 'nat', hook, priority, rules }
}

/** Matches a flow that we led to the target of a UDP service; never one that a node began. */
const TO_TARGET = ['ip daddr . udp dport @targets4', 'ip6 daddr . udp dport @targets6'].map(
  (target) => `ct status dnat ${target}`,
)
const FROM_TARGET = ['ip saddr . udp sport @targets4', 'ip6 saddr . udp sport @targets6'].map(
  (target) => `ct direction reply ct status dnat ${target}`,
)

/**
 * Nodes may open HTTPS at the edge and ping it, each from its own address in the tunnel, which WireGuard holds it to.
 * From the networks behind a gateway only answers to the edge may come; not even packets of a connection that began
 * elsewhere, which an accomplice outside could begin.
 */
function inputRules({ interface: name, httpsPort }: FirewallPlan): string[] {
  return [
    `iifname != "${name}" accept`,
    'ct direction reply ct state established,related ip daddr @tunnel4 accept',
    'ct direction reply ct state established,related ip6 daddr @tunnel6 accept',
    // Visitors on this machine keep its other addresses.
    ...FROM_TARGET.map((answer) => `${answer} accept`),
    'ip saddr != @tunnel4 drop',
    'ip6 saddr != @tunnel6 drop',
    'icmp type echo-request accept',
    'icmpv6 type echo-request accept',
    `tcp dport ${httpsPort} accept`,
    'drop',
  ]
}

/**
 * Behind a router or in a container the installation's addresses are another machine's, which may let in more from
 * here than from the internet, and leads HTTPS back as from itself. So a node finds HTTPS there without leaving, by its
 * own address, and `forwardRules` lets nothing else go there.
 */
function frontRules({ interface: name, httpsPort }: FirewallPlan): string[] {
  return FRONTS.map(
    (front) => `iifname "${name}" fib daddr type != local ${front} tcp dport ${httpsPort} redirect`,
  )
}
const FRONTS = ['ip daddr @front4', 'ip6 daddr @front6']

/** Some nodes may reach the internet, and visitors the targets of UDP services; nothing else passes the tunnel. */
function forwardRules({ interface: name }: FirewallPlan): string[] {
  const outward = `iifname "${name}" oifname != "${name}"`
  const inward = `iifname != "${name}" oifname "${name}"`
  return [
    `iifname != "${name}" oifname != "${name}" accept`,
    `oifname "${name}" tcp flags & (syn | rst) == syn tcp option maxseg size set rt mtu`,
    ...FRONTS.map((front) => `${outward} ${front} drop`),
    `${outward} ip saddr @internet4 ip daddr != @private4 accept`,
    `${outward} ip6 saddr @internet6 ip6 daddr != @private6 accept`,
    // Only while the node has the right and is a target: taking it away also cuts running flows.
    `${inward} ip daddr @internet4 ct state established,related accept`,
    `${inward} ip6 daddr @internet6 ct state established,related accept`,
    ...TO_TARGET.map((visit) => `${inward} ct direction original ${visit} accept`),
    ...FROM_TARGET.map((answer) => `${outward} ${answer} accept`),
    'drop',
  ]
}

/**
 * Root and HAProxy alone begin anything in the tunnel: for the other users of this machine a service is where
 * visitors find it, behind its IP lists and sign-in. Visitors of UDP services have passed theirs by then.
 */
function outputRules({ interface: name, dialers }: FirewallPlan): string[] {
  return [
    `oifname != "${name}" accept`,
    // Not the other way round: a socket of the kernel itself, which users can have made, has no user.
    `meta skuid { ${dialers.join(', ')} } accept`,
    // The kernel may still remember a connection of these users when somebody else begins one from its port.
    'tcp flags & (syn | ack) == syn drop',
    'meta l4proto tcp ct state established,related accept',
    // Over UDP anybody may go on from a port that one of these users has just asked from: only answers pass.
    'ct direction reply ct state established,related accept',
    ...TO_TARGET.map((visit) => `${visit} accept`),
    'meta l4proto != { icmp, ipv6-icmp } drop',
  ]
}

/**
 * Where the kernel forwards because of us, it does so for nobody else: between other networks only translated packets
 * pass, which are those of services that do not lead into the tunnel.
 */
function otherRules({ interface: name }: FirewallPlan): string[] {
  return [
    `iifname "${name}" accept`,
    `oifname "${name}" accept`,
    'ct status dnat accept',
    'meta protocol @guarded drop',
  ]
}

function sourceRules({ interface: name, guestPorts }: FirewallPlan): string[] {
  const four = `oifname != "${name}" ip saddr @internet4 ip daddr != @private4`
  const six = `oifname != "${name}" ip6 saddr @internet6 ip6 daddr != @private6`
  return [
    ...guestRules({ four, six }, guestPorts),
    // A target must answer through this machine.
    ...TO_TARGET.map((visit) => `oifname != "lo" ${visit} masquerade`),
  ]
}

/**
 * The path of a UDP service's visitors, from outside or from this machine. The IP lists apply to each packet, not
 * just to the first of a flow; an answer to this machine is no visitor.
 */
function visitorChains(hook: string, visitor: string): Chain[] {
  const asks = `${visitor} ct direction original`
  const refuse = (source: string, refused: string, condition: string) => [
    // A rule of its own: where the set is full, only the note is left out.
    `${asks} ${condition} add @${refused} { udp dport . ${source} }`,
    `${asks} ${condition} drop`,
  ]
  const lists = [
    ...refuse('ip saddr', 'refused4', 'udp dport . ip saddr @blocked4'),
    ...refuse('ip6 saddr', 'refused6', 'udp dport . ip6 saddr @blocked6'),
    ...refuse('ip saddr', 'refused4', 'udp dport @limited udp dport . ip saddr != @allowed4'),
    ...refuse('ip6 saddr', 'refused6', 'udp dport @limited udp dport . ip6 saddr != @allowed6'),
  ]
  // A packet to a program of this machine passes here twice.
  const once = hook === 'prerouting' ? `iifname != "lo" ${asks}` : asks
  const counts = [
    `${once} meta nfproto ipv4 counter name udp dport map @in4`,
    `${once} meta nfproto ipv6 counter name udp dport map @in6`,
  ]
  // A program on this machine is not a source that could crowd out others.
  const crowd = `iifname != "lo" ${visitor} udp dport @served`
  const isFromOutside = hook === 'prerouting'
  const pace = isFromOutside ? paceRules(`${crowd} ct direction original`) : []
  // Only the first packet of a flow comes here.
  const budget = isFromOutside ? budgetRules(crowd) : []
  const ways = [
    ...budget,
    `${visitor} meta nfproto ipv4 counter name udp dport map @flows4`,
    `${visitor} meta nfproto ipv6 counter name udp dport map @flows6`,
    `${visitor} dnat ip to udp dport map @udp4`,
    `${visitor} dnat ip6 to udp dport map @udp6`,
  ]
  return [
    filterOf(hook, DESTINATION_NAT - 10, [...pace, ...lists, ...counts], `${hook}_lists`),
    translationOf(hook, DESTINATION_NAT, ways, `${hook}_udp`),
  ]
}

/**
 * Where a service leads to 127.0.0.1, the edge lets the kernel route to it (drivers/nftables/forwarding.ts). Only
 * translated packets of that network may arrive from outside or leave.
 */
function loopbackChains(): Chain[] {
  const arriving = ['daddr', 'saddr'].map((side) => `iifname != "lo" ip ${side} 127.0.0.0/8 drop`)
  const leaving = ['oifname != "lo" ip saddr 127.0.0.0/8 drop']
  return [
    filterOf('prerouting', RAW, arriving, 'prerouting_loopback'),
    filterOf('postrouting', SOURCE_NAT + 10, leaving, 'postrouting_loopback'),
  ]
}

/**
 * Answers are counted while they still have the target's address: on their way out or, for a visitor on this machine
 * with a target elsewhere, on their way in. A packet that does both has been translated by then.
 */
function answerChains(): Chain[] {
  const counts = FROM_TARGET.map(
    (answer, index) => `${answer} counter name ct original proto-dst map @${index === 0 ? 'out4' : 'out6'}`,
  )
  return [
    filterOf('postrouting', SOURCE_NAT - 10, counts, 'postrouting_counts'),
    filterOf('input', FILTER + 5, counts, 'input_counts'),
  ]
}
