import type { TunnelEnd } from '@postern/contract/agent/agent'
import { LIMITS } from '@postern/contract/limits'
import type { GatewayNetwork } from '@postern/contract/nodes'
import { formatCidr, mergeCidrs, parseCidr } from '@postern/net/cidr'
import { gatewayTable, renderGatewayTable } from '@postern/net/gateway-table'
import type { TunnelConfig } from './agent-config.ts'

/** A file for `wg-quick`. */
export interface NodeFile {
  filename: string
  text: string
}

/**
 * With a peer for each edge. The contract restricts the form of every value; the names of node and edges are not part
 * of the text.
 */
export function renderNodeFile(config: TunnelConfig, privateKey: string): NodeFile {
  const { node, addresses, dns, gateway, peer, edges = [] } = config
  const peers = edges.length > 0 ? edges.map((edge) => edge.peer) : [peer]
  const lines = [
    '# Save as /etc/wireguard/postern.conf, readable by root only, and run: wg-quick up postern',
    '[Interface]',
    `PrivateKey = ${privateKey}`,
    `Address = ${addresses.join(', ')}`,
    ...(dns.length > 0 ? [`DNS = ${dns.join(', ')}`] : []),
    `MTU = ${LIMITS.tunnelMtu}`,
    ...(gateway ? renderForwarding(gateway) : []),
    ...peers.flatMap(renderPeer),
  ]
  return { filename: fileNameOf(node), text: `${lines.join('\n')}\n` }
}

function renderPeer(peer: TunnelEnd): string[] {
  return [
    '',
    '[Peer]',
    `PublicKey = ${peer.publicKey}`,
    `PresharedKey = ${peer.presharedKey}`,
    `Endpoint = ${peer.endpoint}`,
    `AllowedIPs = ${peer.allowedIps.join(', ')}`,
    `PersistentKeepalive = ${peer.keepaliveSeconds}`,
  ]
}

/**
 * The firewall rules of a gateway, which are in force before the tunnel comes up and until it is gone. `%i` is the
 * interface.
 */
function renderForwarding(gateway: readonly GatewayNetwork[]): string[] {
  const subnets = mergeCidrs(gateway.map(({ subnet }) => parseCidr(subnet))).map(formatCidr)
  const rules = renderGatewayTable('%i', subnets).map((line) => line.trim())
  const hasIpv6 = subnets.some((subnet) => subnet.includes(':'))
  return [
    `PreUp = nft '${rules.join(' ')}'`,
    'PostUp = sysctl -q -w net.ipv4.ip_forward=1',
    ...(hasIpv6 ? [KEEP_ADVERTISEMENTS, 'PostUp = sysctl -q -w net.ipv6.conf.all.forwarding=1'] : []),
    `PostDown = nft delete table inet ${gatewayTable('%i')}`,
  ]
}

/** A router ignores router advertisements by default, and would lose its own default route. */
const KEEP_ADVERTISEMENTS =
  'PostUp = for f in /proc/sys/net/ipv6/conf/*/accept_ra; do [ $(cat $f) != 1 ] || echo 2 > $f; done'

function fileNameOf({ id, name }: TunnelConfig['node']): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 60)
  return `postern-${plain === '' ? `node-${id}` : plain}.conf`
}
