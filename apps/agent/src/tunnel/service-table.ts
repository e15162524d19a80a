import type { Wanted } from '../wanted.ts'
import type { Held } from './owners.ts'

/** One table for each interface, so that two agents on one machine do not interfere. */
export function serviceTable(name: string): string {
  return `postern_services_${name.replaceAll('-', '_')}`
}

export type ServiceTableInput = Pick<Wanted, 'addresses' | 'gateway' | 'targets'> & { held?: Held }

/** Before connection tracking. */
const RAW = -300
/** After other programs, so that packets that Docker leads to a container keep their way. */
const DESTINATION_NAT = -95
const FILTER = -10
const SOURCE_NAT = 100
const DNS_PORT = 53

/**
 * The parts of this node that the edge can reach through the tunnel, for `nft`: only the published ports. If a
 * program listens on the tunnel's address it gets the traffic; other published ports lead to 127.0.0.1. A port that a
 * user holds is not given to another user.
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

/** The sets of held ports; a restarted agent reads them back. */
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
 * The kernel itself checks for each new connection whether a program listens, so no list of ours can be out of date.
 * It does not check whose program it is, so ports with a known owner are decided before. With `route_localnet`,
 * nothing else keeps the tunnel's packets away from 127.0.0.0/8.
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

/** By the port that the edge addressed: other programs may have redirected it, such as into a container. */
const PUBLISHED = (['tcp', 'udp'] as const).flatMap((proto) => {
  const asked = (address: string) =>
    `ct original ${address} meta l4proto ${proto} ct original proto-dst @${proto}_ports`
  return [
    `${asked('ip daddr @own4')} accept`,
    `${asked('ip6 daddr @own6')} ct original proto-dst != @${proto}_ipv4 accept`,
  ]
})

/** By number: nft takes the name from /etc/protocols, which a small machine may lack. */
const ICMPV6 = 58
const ANSWERS = [
  'ct direction reply ct state established accept',
  `ct state related meta l4proto { icmp, ${ICMPV6} } accept`,
]

/** The gateway's own table decides what is forwarded; its addresses there are hosts of its networks. */
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
