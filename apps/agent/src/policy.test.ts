import { NOTHING_BEYOND } from '@postern/contract/agent/agent-report'
import { describe, expect, it, test } from 'vitest'
import { applyPolicy, findGatewayNetworks, PLAIN, type Policy, policyOf, tunnelOf } from './policy.ts'
import { config } from './wanted.fixture.ts'
import { parseWanted } from './wanted.ts'

const TUNNEL = tunnelOf(config)
const permitting = (policy: Partial<Policy>) => ({ ...PLAIN, tunnel: TUNNEL, ...policy })
const peer = (...allowedIps: string[]) => ({ ...config, peer: { ...config.peer, allowedIps } })
const gateway = (...subnets: string[]) => ({
  ...config,
  gateway: subnets.map((subnet) => ({ interface: 'eth0', subnet })),
})
const apply = (wanted: typeof config, policy: Partial<Policy> = {}) =>
  applyPolicy(parseWanted(wanted), permitting(policy))

test('the tunnel is the /16 and the /64 of the addresses', () => {
  expect(TUNNEL).toEqual(['10.64.0.0/16', 'fd64::/64'])
})

describe('a plain node', () => {
  it("forwards nothing, sends only the tunnel's traffic through it, and keeps its name servers", () => {
    const { wanted, beyond, leftOut } = apply({ ...config, peer: peer('0.0.0.0/0', '::/0').peer })
    expect(wanted).toMatchObject({ gateway: null, dns: [], peers: [{ allowedIps: TUNNEL }] })
    expect(beyond).toEqual([
      'The server wants this node to forward to 192.168.7.0/24,fd00:7::/64. To allow that: postern connect --gateway=192.168.7.0/24,fd00:7::/64',
      'The server wants all traffic of this node. To allow that: postern connect --all-traffic',
      "The server wants to set this node's name servers. To allow that: postern connect --dns",
    ])
    const gateway = ['192.168.7.0/24', 'fd00:7::/64']
    expect(leftOut).toEqual({ gateway, tunnel: [], allTraffic: true, dns: true })
  })

  it('gets no address and no route outside the tunnel that it connected to', () => {
    const odd = { ...peer('10.64.0.0/16', '10.20.0.0/16'), addresses: ['10.64.0.2/16', '198.18.0.1/15'] }
    const { wanted, beyond, leftOut } = apply(odd)
    expect(wanted).toMatchObject({ addresses: ['10.64.0.2/16'], peers: [{ allowedIps: ['10.64.0.0/16'] }] })
    expect(beyond.filter((words) => words.includes('was not in it'))).toHaveLength(2)
    expect(leftOut.tunnel).toEqual(['198.18.0.1/15', '10.20.0.0/16'])
  })
})

describe('a node that gives away all its traffic', () => {
  it('keeps that of its own networks, which a narrower route would lead away as well', () => {
    const all = ['0.0.0.0/0', '::/0']
    const odd = peer(...all, '10.64.0.0/16', '192.168.1.0/25', '192.168.1.128/25')
    const policy = { allTraffic: true, dns: true, gateway: ['192.168.7.0/24', 'fd00:7::/64'] }
    const { wanted, beyond, leftOut } = apply(odd, policy)
    expect(wanted.peers[0].allowedIps).toEqual([...all, '10.64.0.0/16'])
    expect(beyond).toEqual([expect.stringContaining('wants 192.168.1.0/25, 192.168.1.128/25 in the tunnel')])
    expect(leftOut).toMatchObject({ tunnel: ['192.168.1.0/25', '192.168.1.128/25'], allTraffic: false })
    expect(apply(peer(...all), policy).beyond).toEqual([])
  })
})

describe('a node of several edges', () => {
  const at = (...allowedIps: string[]) => {
    const publicKey = config.peer.publicKey.replace('Y', 'Z')
    const [first, other] = [config.peer, { ...config.peer, publicKey, allowedIps }]
    const founding = { ...first, allowedIps: ['0.0.0.0/0', '::/0'] }
    const edges = [
      { id: 1, name: 'local', peer: founding, edgeAddress: '10.64.0.1' },
      { id: 2, name: 'far', peer: other, edgeAddress: '10.64.255.2' },
    ]
    return { ...config, gateway: null, dns: [], edges }
  }
  const routesOf = ({ wanted }: ReturnType<typeof apply>) => wanted.peers.map(({ allowedIps }) => allowedIps)

  it('reaches each of them in the tunnel, and sends what its owner allowed to the first', () => {
    const far = ['10.64.255.2/32', 'fd64::a40:ff02/128']
    expect(routesOf(apply(at(...far)))).toEqual([TUNNEL, far])
    expect(apply(at(...far)).beyond).toHaveLength(1)
    const willing = apply(at(...far), { allTraffic: true })
    expect([routesOf(willing), willing.beyond]).toEqual([[['0.0.0.0/0', '::/0'], far], []])
  })

  it('gives none of them a network outside the tunnel, nor one that the first has', () => {
    const judged = apply(at('10.64.255.2/32', '10.64.0.0/16', '192.168.1.0/24'))
    expect(routesOf(judged)).toEqual([TUNNEL, ['10.64.255.2/32']])
    expect(judged.leftOut).toMatchObject({ tunnel: ['192.168.1.0/24'], allTraffic: true })
    expect(judged.beyond).toContainEqual(expect.stringContaining('wants 10.64.0.0/16, 192.168.1.0/24 in the'))
  })
})

describe('a gateway', () => {
  it('forwards into the networks that its owner allowed, and names others that the server wants', () => {
    const { wanted, beyond } = apply(gateway('192.168.7.0/24', '10.20.0.0/16'), {
      gateway: ['192.168.0.0/16'],
      dns: true,
    })
    expect(wanted.gateway).toEqual(['192.168.7.0/24'])
    expect(beyond).toEqual([
      'The server wants this node to forward to 10.20.0.0/16. To allow that: postern connect --gateway=10.20.0.0/16,192.168.0.0/16',
    ])
  })

  it.each(['169.254.169.254/32', '127.0.0.0/8', 'fe80::/64', '0.0.0.0/0', '224.0.0.0/4'])(
    'never forwards to %s',
    (network) => {
      const { wanted, beyond } = apply(gateway(network), { gateway: [network], dns: true })
      expect(wanted.gateway).toBeNull()
      expect(beyond.join()).toContain('It never forwards to loopback')
    },
  )
})

test('a node of a release without policies keeps working unchanged', () => {
  for (const before of [config, peer('0.0.0.0/0', '::/0'), { ...config, gateway: null, dns: [] }])
    expect(applyPolicy(parseWanted(before), policyOf(before))).toEqual({
      wanted: parseWanted(before),
      beyond: [],
      leftOut: NOTHING_BEYOND,
    })
})

test('the names of networks', () => {
  const own = [
    '192.168.7.5/24',
    '203.0.113.4/24',
    '10.64.0.2/32',
    '127.0.0.1/8',
    'fd00:7::5/64',
    'fe80::1/64',
  ]
  const find = (text: string) => findGatewayNetworks(text, () => own)
  expect(find('192.168.1.9/24, 10.20.0.0/16')).toEqual(['10.20.0.0/16', '192.168.1.0/24'])
  expect(find('own')).toEqual(['192.168.7.0/24', 'fd00:7::/64'])
  expect(find('private')).toContain('172.16.0.0/12')
  expect(find('none')).toEqual([])
  for (const bad of ['', 'lan', '10.0.0.0/8,x', '127.0.0.0/8', '169.254.0.0/16', '0.0.0.0/0'])
    expect(find(bad), bad).toBeUndefined()
})
