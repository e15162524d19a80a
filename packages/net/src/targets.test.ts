import { expect, test } from 'vitest'
import { findCidrs, parseCidr } from './cidr.ts'
import { findIp, type Ip } from './ip.ts'
import {
  findGatewayFault,
  findLocalFault,
  findLocalhost,
  findNodeFault,
  findSubnetFault,
  type Surroundings,
} from './targets.ts'

const ip = (text: string): Ip => findIp(text) ?? { family: 4, value: 0n }
const around: Surroundings = {
  tunnel: findCidrs(['10.64.0.0/16', 'fd00:1:2::/64']),
  behindGateways: findCidrs(['192.168.7.0/24', '172.16.5.0/24']),
  ownAddresses: [ip('172.16.5.1')],
  ownNetworks: findCidrs(['172.16.5.0/24']),
  ownPorts: [80, 443, 3000],
}

test.each([
  ['10.64.0.2', undefined],
  ['fd00:1:2::a40:2', undefined],
  ['10.64.3.1', 'reserved'],
  ['10.64.3.0', 'reserved'],
  ['10.64.3.255', 'reserved'],
  ['10.65.0.2', 'notInTunnel'],
])('a node at %s: %s', (text, fault) => expect(findNodeFault(ip(text), around.tunnel)).toBe(fault))

test.each([
  ['192.168.7.20', ['192.168.7.0/24'], undefined],
  ['192.168.8.20', ['192.168.7.0/24'], 'outside'],
  ['10.64.0.2', ['10.0.0.0/8'], 'tunnel'],
  ['127.0.0.1', ['0.0.0.0/0'], 'special'],
  ['::ffff:127.0.0.1', ['::/0'], 'special'],
  ['9.9.9.9', ['0.0.0.0/0'], 'public'],
  ['172.16.5.9', ['172.16.0.0/12'], 'ownNetwork'],
])('behind a gateway %s of %j: %s', (text, subnets, fault) => {
  expect(findGatewayFault(ip(text), findCidrs(subnets), around)).toBe(fault)
})

test.each([
  ['127.0.0.1', 3000, 'ownPort'],
  ['127.0.0.1', 3001, undefined],
  ['::1', 443, 'ownPort'],
  ['0.0.0.0', 80, 'ownPort'],
  ['0.0.0.0', 81, 'special'],
  ['172.16.5.1', 80, 'ownPort'],
  ['172.16.5.1', 81, undefined],
  ['172.16.5.9', 80, undefined],
  ['192.168.7.20', 80, 'behindGateway'],
  ['10.64.0.1', 81, 'tunnel'],
  ['9.9.9.9', 80, undefined],
])('on the local node %s port %i: %s', (text, port, fault) => {
  expect(findLocalFault(ip(text), port, around)).toBe(fault)
})

test.each([
  ['192.168.9.0/24', undefined],
  ['127.0.0.0/8', 'special'],
  ['9.9.9.0/24', 'public'],
  ['10.0.0.0/8', { network: parseCidr('10.64.0.0/16') }],
])('a subnet %s: %o', (text, fault) => {
  const used = around.tunnel.map((network) => ({ network }))
  expect(findSubnetFault(parseCidr(text), used)).toEqual(fault)
})

test.each([
  ['localhost', true],
  ['x.localhost', true],
  ['localhost.example.com', false],
])('%s is this machine itself: %s', (name, isSelf) => {
  expect(findLocalhost(name) !== undefined).toBe(isSelf)
})
