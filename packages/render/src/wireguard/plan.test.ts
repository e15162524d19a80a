import type { Peer } from '@postern/contract/edge/desired-state'
import { parseCidr } from '@postern/net/cidr'
import { expect, test } from 'vitest'
import { admitPeers, type PlanInput, planTunnel } from './plan.ts'

const keyOf = (letter: string) => `${letter.repeat(42)}A=`
const node = (nodeId: number, changes: Partial<Peer> = {}): Peer => ({
  nodeId,
  publicKey: keyOf(String.fromCharCode(96 + nodeId)),
  presharedKey: keyOf('P'),
  address4: `10.64.0.${nodeId + 1}`,
  address6: `fd00::${nodeId + 1}`,
  subnets: [],
  keepalive: 25,
  allowInternet: false,
  ...changes,
})
const input = (peers: Peer[], changes: Partial<PlanInput> = {}): PlanInput => ({
  settings: {
    publicHost: 'edge.example.com',
    formerHosts: [],
    tunnelPrivateKey: keyOf('K'),
    tunnelNetwork4: '10.64.0.0/16',
    tunnelNetwork6: 'fd00::/64',
    signInKeys: [],
    identityKeys: [],
  },
  peers,
  ownPublicKey: keyOf('O'),
  occupied: [],
  gatewayNetworks: null,
  ...changes,
})
const plan = (...args: Parameters<typeof input>) => planTunnel(input(...args))

test('the edge holds .1 of the first /24 and of each one in use, and its ULA', () => {
  expect(plan([]).addresses).toEqual(['10.64.0.1/24', 'fd00::1/64'])
  const far = node(2, { address4: '10.64.200.7' })
  expect(plan([node(1), far]).addresses).toEqual(['10.64.0.1/24', '10.64.200.1/24', 'fd00::1/64'])
})

test('an edge elsewhere has one address by its number, from which packets to all nodes leave', () => {
  const edge = { number: 3, servesConsole: false, isDrained: false }
  const { settings } = input([])
  const changes = { settings: { ...settings, edge } }
  const gateway = node(2, { address4: '10.64.200.7', subnets: ['192.168.7.0/24'] })
  const made = plan([node(1), gateway], changes)
  expect(made.addresses).toEqual(['10.64.255.3/32', 'fd00::a40:ff03/128'])
  expect(made.sources).toEqual(['10.64.255.3', 'fd00::a40:ff03'])
  expect(made.routes).toEqual(['10.64.0.0/16', '192.168.7.0/24', 'fd00::/64'])
  expect(made.peers).toEqual(plan([node(1), gateway]).peers)
  // Nodes from before there were edges elsewhere may have addresses there.
  const [far, mine] = [node(4, { address4: '10.64.255.9' }), node(5, { address4: '10.64.255.3' })]
  const { peers, problems } = plan([far, mine, node(6, { address6: 'fd00::a40:ff03' })], changes)
  expect(peers.map(({ nodeId }) => nodeId)).toEqual([4])
  expect(problems).toEqual(
    [5, 6].map((id) => ({ scope: { kind: 'node', id }, message: 'Its address is that of this edge.' })),
  )
  const first = { settings: { ...settings, edge: { ...edge, number: 1 } } }
  expect(plan([mine], first)).toEqual(plan([mine]))
  expect(plan([mine], first)).toMatchObject({ sources: [], problems: [] })
})

test('routes lead to the tunnel and to what gateways have, once each, in one spelling', () => {
  const gateway = node(1, { subnets: ['192.168.7.9/24', '192.168.7.0/24', 'FD77::/64'] })
  const { routes, peers, problems } = plan([gateway])
  expect(routes).toEqual(['10.64.0.0/16', '192.168.7.0/24', 'fd00::/64', 'fd77::/64'])
  expect(peers[0]?.allowedIps).toEqual(['10.64.0.2/32', '192.168.7.0/24', 'fd00::2/128', 'fd77::/64'])
  expect(problems).toEqual([])
})

test.each<[string, Partial<Peer>, string]>([
  ['an address outside', { address4: '10.65.0.2' }, 'Its address is outside the tunnel network.'],
  ['the address of the edge', { address4: '10.64.3.1' }, 'Its address is outside the tunnel network.'],
  ['an address that is none', { address4: '10.64.0.999' }, 'Its address is outside the tunnel network.'],
  [
    'the key of the edge',
    { publicKey: keyOf('O') },
    'Its WireGuard key is used by another end of the tunnel.',
  ],
  [
    'the key of another',
    { publicKey: keyOf('a') },
    'Its WireGuard key is used by another end of the tunnel.',
  ],
  ['the address of another', { address4: '10.64.0.2' }, 'Its address is used by node 1.'],
  ['a key of low order', { publicKey: `${'A'.repeat(43)}=` }, 'Its WireGuard key is not valid.'],
  ['a key of odd bits', { presharedKey: `${'A'.repeat(42)}B=` }, 'Its WireGuard key is not valid.'],
])('a node with %s is left out alone', (_, changes, message) => {
  const { peers, problems } = plan([node(2, changes), node(1), node(3)])
  expect(peers.map((peer) => peer.nodeId)).toEqual([1, 3])
  expect(problems).toEqual([{ scope: { kind: 'node', id: 2 }, message }])
})

test.each([
  ['10.64.9.0/24', 'it overlaps the tunnel'],
  ['0.0.0.0/0', 'it overlaps loopback, link-local, multicast or reserved addresses'],
  ['::1/128', 'it overlaps loopback, link-local, multicast or reserved addresses'],
  ['10.9.9.9/99', 'it is not a network'],
  ['203.0.113.0/24', 'it is not a private network'],
  ['2606:4700::/32', 'it is not a private network'],
  ['192.168.0.0/16', 'this machine uses 192.168.5.1/24 on eth0'],
  ['172.16.1.0/24', 'it overlaps a network of node 1'],
])('the network %s of a gateway is left out, and only that', (subnet, reason) => {
  const occupied = [{ network: parseCidr('192.168.5.1/24'), what: '192.168.5.1/24 on eth0' }]
  const first = node(1, { subnets: ['172.16.0.0/16'] })
  const second = node(2, { subnets: [subnet, '192.168.99.0/24'] })
  const { peers, routes, problems } = plan([second, first], { occupied })
  expect(problems).toEqual([
    { scope: { kind: 'node', id: 2 }, message: `Its network ${subnet} is left out: ${reason}.` },
  ])
  expect(peers[1]?.allowedIps).toEqual(['10.64.0.3/32', '192.168.99.0/24', 'fd00::3/128'])
  expect(routes).not.toContain(subnet)
})

test('gateways have only what lies in the networks that the settings allow', () => {
  const gateway = node(1, { subnets: ['192.168.7.0/24', '192.168.0.0/16', '10.20.0.0/24', 'fd77::/64'] })
  const { routes, problems } = plan([gateway], { gatewayNetworks: ['192.168.0.0/20', 'fd77::/48'] })
  expect(routes).toEqual(['10.64.0.0/16', '192.168.7.0/24', 'fd00::/64', 'fd77::/64'])
  expect(problems.map(({ message }) => message)).toEqual(
    ['192.168.0.0/16', '10.20.0.0/24'].map(
      (subnet) => `Its network ${subnet} is left out: it is not in POSTERN_GATEWAY_NETWORKS.`,
    ),
  )
  expect(plan([gateway], { gatewayNetworks: [] }).problems).toHaveLength(4)
  const admitted = admitPeers(input([node(2), gateway], { gatewayNetworks: ['192.168.0.0/20'] }))
  expect(admitted).toEqual([node(2), { ...gateway, subnets: ['192.168.7.0/24'] }])
})
