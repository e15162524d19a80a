import { renderGatewayTable } from '@postern/net/gateway-table'
import { expect, test } from 'vitest'
import type { TunnelConfig } from './agent-config.ts'
import { renderNodeFile } from './file.ts'

const config: TunnelConfig = {
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
const hooksOf = (gateway: TunnelConfig['gateway']) =>
  renderNodeFile({ ...config, gateway }, 'PRIVATE')
    .text.split('\n')
    .filter((line) => /^(Pre|Post)(Up|Down)/.test(line))

test('a gateway loads the table of the agent, forwards, and undoes the table', () => {
  const table = renderGatewayTable('%i', ['192.168.7.0/24', 'fd00:1::/64']).map((line) => line.trim())
  expect(hooksOf(config.gateway)).toEqual([
    `PreUp = nft '${table.join(' ')}'`,
    'PostUp = sysctl -q -w net.ipv4.ip_forward=1',
    expect.stringContaining('accept_ra'),
    'PostUp = sysctl -q -w net.ipv6.conf.all.forwarding=1',
    'PostDown = nft delete table inet postern_agent_%i',
  ])
})

test('a plain node runs nothing', () => expect(hooksOf(null)).toEqual([]))
