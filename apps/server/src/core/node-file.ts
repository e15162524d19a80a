import type { AgentConfig } from '@postern/contract/agent'
import { LIMITS } from '@postern/contract/limits'
import type { GatewayNetwork } from '@postern/contract/nodes'

/** A file for `wg-quick`. */
export interface NodeFile {
  filename: string
  text: string
}

/** Every value has a closed form of the contract; the node's name is not part of the text. */
export function renderNodeFile(
  config: AgentConfig,
  privateKey: string,
  tunnelNetworks: readonly string[],
): NodeFile {
  const { node, addresses, dns, gateway, peer } = config
  const lines = [
    '# Save as /etc/wireguard/postern.conf, readable by root only, and run: wg-quick up postern',
    '[Interface]',
    `PrivateKey = ${privateKey}`,
    `Address = ${addresses.join(', ')}`,
    ...(dns.length > 0 ? [`DNS = ${dns.join(', ')}`] : []),
    `MTU = ${LIMITS.tunnelMtu}`,
    ...(gateway ?? []).flatMap((network) => renderForwarding(network, tunnelNetworks)),
    '',
    '[Peer]',
    `PublicKey = ${peer.publicKey}`,
    `PresharedKey = ${peer.presharedKey}`,
    `Endpoint = ${peer.endpoint}`,
    `AllowedIPs = ${peer.allowedIps.join(', ')}`,
    `PersistentKeepalive = ${peer.keepaliveSeconds}`,
  ]
  return { filename: fileNameOf(node), text: `${lines.join('\n')}\n` }
}

/** Hosts behind the gateway answer to the gateway's own address, so they need no route to the tunnel. */
function renderForwarding({ interface: name, subnet }: GatewayNetwork, tunnel: readonly string[]): string[] {
  const isV6 = subnet.includes(':')
  const iptables = isV6 ? 'ip6tables' : 'iptables'
  const from = tunnel.find((network) => network.includes(':') === isV6)
  const forwarding = isV6 ? 'net.ipv6.conf.all.forwarding' : 'net.ipv4.ip_forward'
  const rules = [
    `-t nat %s POSTROUTING -s ${from} -d ${subnet} -o ${name} -j MASQUERADE`,
    `%s FORWARD -i %i -d ${subnet} -o ${name} -j ACCEPT`,
    `%s FORWARD -i ${name} -s ${subnet} -o %i -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT`,
  ]
  return [
    `PostUp = sysctl -q -w ${forwarding}=1`,
    ...rules.map((rule) => `PostUp = ${iptables} ${rule.replace('%s', '-A')}`),
    ...rules.map((rule) => `PreDown = ${iptables} ${rule.replace('%s', '-D')}`),
  ]
}

function fileNameOf({ id, name }: AgentConfig['node']): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 60)
  return `postern-${plain === '' ? `node-${id}` : plain}.conf`
}
