import type { AgentConfig } from '@postern/contract/agent'
import { expect, test } from 'vitest'
import { renderNodeFile } from './node-file.ts'

test('a gateway forwards and masquerades to its own networks only, and undoes it', () => {
  const config: AgentConfig = {
    node: { id: 2, name: 'gate', enabled: true },
    addresses: ['10.64.0.2/32'],
    dns: [],
    publicKey: null,
    gateway: [
      { interface: 'eth0', subnet: '192.168.7.0/24' },
      { interface: 'eth1', subnet: 'fd00:1::/64' },
    ],
    peer: { publicKey: 'P', presharedKey: 'S', endpoint: 'e:1', allowedIps: [], keepaliveSeconds: 25 },
    edgeAddress: '10.64.0.1',
  }
  const { text } = renderNodeFile(config, 'PRIVATE', ['10.64.0.0/16', 'fd01::/64'])
  const lines = text.split('\n').filter((line) => /^(PostUp|PreDown)/.test(line))
  expect(lines).toEqual([
    'PostUp = sysctl -q -w net.ipv4.ip_forward=1',
    'PostUp = iptables -t nat -A POSTROUTING -s 10.64.0.0/16 -d 192.168.7.0/24 -o eth0 -j MASQUERADE',
    'PostUp = iptables -A FORWARD -i %i -d 192.168.7.0/24 -o eth0 -j ACCEPT',
    'PostUp = iptables -A FORWARD -i eth0 -s 192.168.7.0/24 -o %i -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT',
    'PreDown = iptables -t nat -D POSTROUTING -s 10.64.0.0/16 -d 192.168.7.0/24 -o eth0 -j MASQUERADE',
    'PreDown = iptables -D FORWARD -i %i -d 192.168.7.0/24 -o eth0 -j ACCEPT',
    'PreDown = iptables -D FORWARD -i eth0 -s 192.168.7.0/24 -o %i -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT',
    'PostUp = sysctl -q -w net.ipv6.conf.all.forwarding=1',
    'PostUp = ip6tables -t nat -A POSTROUTING -s fd01::/64 -d fd00:1::/64 -o eth1 -j MASQUERADE',
    'PostUp = ip6tables -A FORWARD -i %i -d fd00:1::/64 -o eth1 -j ACCEPT',
    'PostUp = ip6tables -A FORWARD -i eth1 -s fd00:1::/64 -o %i -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT',
    'PreDown = ip6tables -t nat -D POSTROUTING -s fd01::/64 -d fd00:1::/64 -o eth1 -j MASQUERADE',
    'PreDown = ip6tables -D FORWARD -i %i -d fd00:1::/64 -o eth1 -j ACCEPT',
    'PreDown = ip6tables -D FORWARD -i eth1 -s fd00:1::/64 -o %i -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT',
  ])
})
