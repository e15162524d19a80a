import type { AgentConfig } from '@postern/contract/agent/agent'

const KEY = 'YAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk='

/** A server's configuration. Some of its addresses are deliberately not in canonical form. */
export const config: AgentConfig = {
  node: { id: 2, name: 'office', enabled: true },
  addresses: ['10.64.0.2/16', 'FD64::0002/64'],
  dns: ['10.64.0.1'],
  publicKey: KEY,
  gateway: [
    { interface: 'eth0', subnet: '192.168.7.0/25' },
    { interface: 'eth0', subnet: '192.168.7.128/25' },
    { interface: 'eth0', subnet: 'fd00:7::/64' },
  ],
  peer: {
    publicKey: KEY,
    presharedKey: KEY,
    endpoint: 'edge.example:51820',
    allowedIps: ['10.64.0.0/16'],
    keepaliveSeconds: 0,
  },
  edgeAddress: '10.64.0.1',
  targets: { tcp: [], udp: [] },
}
