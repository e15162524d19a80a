import type { Wanted } from '../wanted.ts'
import type { Held } from './owners.ts'

/** One table for each interface, so that two agents on one machine do not interfere. */
export function serviceTable(name: string): string {
  return `postern_services_${name.replaceAll('-', '_')}`
}

export type ServiceTableInput = Pick<Wanted, 'addresses' | 'gateway'> & {
  targets: NonNullable<Wanted['targets']>
  held?: Held
}

/** Before connection tracking. */
const RAW = -300
/** After other programs, so that what Docker leads to a container keeps its way. */
const DESTINATION_NAT = -95
const FILTER = -10
const SOURCE_NAT = 100
const DNS_PORT = 53

/**
 * What of this node the edge reaches through the tunnel, for `nft`: the published ports and nothing else. What a
 * program takes at the tunnel's address goes to it; the rest of the published ports leads to 127.0.0.1. Ports that a
 * user holds are not given to another one.
 */
export function renderServiceTable(name: string, input: ServiceTableInput): string {
  const own = input.addresses.map((address) => address.split('/')[0] ?? '')
  return [
    `add table inet ${serviceTable(name)}`,
    `delete table inet ${serviceTable(name)}`,
    `table inet ${serviceTable(name)} {`,
    renderSet('own4', 'ipv4_addr', own.filter(isIpv4)),
    renderSet('own6', 'ipv6_addr', own.filter(isIpv6)),
    renderSet('tcp_ports', 'inet_service', input.targets.tcp),
    renderSet('udp_ports', 'inet_service', input.targets.udp),
    ...HELD_SETS.map(({ label, place, proto }) =>
      renderSet(label, 'inet_service', input.held?.[place][proto] ?? []),
    ),
    renderSet('subnets4', 'ipv4_addr; flags interval', (input.gateway ?? []).filter(isIpv4)),
    renderSet('subnets6', 'ipv6_addr; flags interval', (input.gateway ?? []).filter(isIpv6)),
    ...loopbackChains(name),
    ...filterChains(name, input.gateway !== null),
    '}',
    '',
  ].join('\n')
}

/** The sets of what is held; an agent that starts anew reads them back. */
export const HELD_SETS = (['loopback', 'tunnel', 'ipv4'] as const).flatMap((place) =>
  (['tcp', 'udp'] as const).map((proto) => ({ label: `${proto}_${place}`, place, proto })),
)

const isIpv6 = (text: string) => text.includes(':')
const isIpv4 = (text: string) => !isIpv6(text)

function renderSet(label: string, type: string, elements: readonly (string | number)[]): string {
  const list = elements.length > 0 ? ` elements = { ${elements.join(', ')} };` : ''
  return `  set ${label} { type ${type};${list} }`
}

function renderChain(label: string, head: string, rules: readonly string[]): string {
  const lines = rules.map((rule) => `    ${rule}\n`).join('')
  return `  chain ${label} {\n    type ${head}; policy accept;\n${lines}  }`
}

/**
 * The kernel itself says whether a program takes a new connection as it comes: no list of ours can be out of date.
 * It does not ask whose program that is, so ports of which the agent knows that are decided before.
 * With `route_localnet` nothing else keeps the tunnel's packets away from 127.0.0.0/8.
 */
function loopbackChains(name: string): string[] {
  return [
    renderChain('arriving', `filter hook prerouting priority ${RAW}`, [
      `iifname "${name}" ip daddr 127.0.0.0/8 drop`,
      `iifname "${name}" ip saddr 127.0.0.0/8 drop`,
    ]),
    renderChain('to_loopback', `nat hook prerouting priority ${DESTINATION_NAT}`, [
      `iifname != "${name}" accept`,
      ...HELD_SETS.filter(({ place }) => place === 'tunnel').map(
        ({ label, proto }) => `ip daddr @own4 ${proto} dport @${label} accept`,
      ),
      ...HELD_SETS.filter(({ place }) => place === 'loopback').map(
        ({ label, proto }) => `ip daddr @own4 ${proto} dport @${label} dnat ip to 127.0.0.1`,
      ),
      'socket transparent 0 accept',
      'socket transparent 1 accept',
      'ip daddr @own4 tcp dport @tcp_ports dnat ip to 127.0.0.1',
      'ip daddr @own4 udp dport @udp_ports dnat ip to 127.0.0.1',
    ]),
    renderChain('leaving', `filter hook postrouting priority ${SOURCE_NAT + 10}`, [
      `oifname "${name}" ip saddr 127.0.0.0/8 drop`,
    ]),
  ]
}

/** By the port that the edge asked for: other programs may have led it elsewhere, such as into a container. */
const PUBLISHED = (['tcp', 'udp'] as const).flatMap((proto) => {
  const asked = (address: string) =>
    `ct original ${address} meta l4proto ${proto} ct original proto-dst @${proto}_ports`
  return [
    `${asked('ip daddr @own4')} accept`,
    `${asked('ip6 daddr @own6')} ct original proto-dst != @${proto}_ipv4 accept`,
  ]
})

/** By its number: the name that nft knows it by is in /etc/protocols, which a small machine may lack. */
const ICMPV6 = 58
const ANSWERS = [
  'ct direction reply ct state established accept',
  `ct state related meta l4proto { icmp, ${ICMPV6} } accept`,
]

/** Behind a gateway its own table says what is forwarded; the gateway's addresses there are hosts of its networks. */
function filterChains(name: string, isGateway: boolean): string[] {
  const behind = [
    'ip daddr @subnets4 accept',
    'ip6 daddr @subnets6 accept',
    `ip daddr @own4 udp dport ${DNS_PORT} accept`,
  ]
  const filter = (hook: string, rules: readonly string[]) =>
    renderChain(hook, `filter hook ${hook} priority ${FILTER}`, [
      `iifname != "${name}" accept`,
      ...ANSWERS,
      ...rules,
      ...PUBLISHED,
      'drop',
    ])
  const pings = ['ip daddr @own4 icmp type echo-request', 'ip6 daddr @own6 icmpv6 type echo-request']
  const input = filter('input', [...pings.map((ping) => `${ping} accept`), ...(isGateway ? behind : [])])
  return isGateway ? [input] : [input, filter('forward', [])]
}
