import type { AgentConfig } from '@postern/contract/agent/agent'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AgentError } from './errors.ts'
import { isInForce, renderWireGuard } from './tunnel/wireguard.ts'
import { config } from './wanted.fixture.ts'
import { parseEndpoint, parseFirstWanted, parseWanted } from './wanted.ts'

const KEY = config.peer.publicKey
const OTHER = KEY.replace('Y', 'Z')

test('every text comes out in its canonical form', () => {
  expect(parseWanted(config)).toMatchObject({
    addresses: ['10.64.0.2/16', 'fd64::2/64'],
    gateway: ['192.168.7.0/24', 'fd00:7::/64'],
    peers: [{ id: 0, name: '', host: 'edge.example', port: 51820, edgeAddress: '10.64.0.1' }],
  })
})

test('the WireGuard file', () => {
  const [peer] = parseWanted(config).peers
  const other = { ...peer, publicKey: OTHER, allowedIps: ['10.64.255.2/32', 'fd64::a40:ff02/128'] }
  const peers = [
    { ...peer, address: '2001:db8::1' },
    { ...other, keepaliveSeconds: 25, address: undefined },
  ]
  expect(renderWireGuard(peers, KEY, 4000)).toBe(`[Interface]
PrivateKey = ${KEY}
ListenPort = 4000

[Peer]
PublicKey = ${KEY}
PresharedKey = ${KEY}
Endpoint = [2001:db8::1]:51820
AllowedIPs = 10.64.0.0/16
PersistentKeepalive = off

[Peer]
PublicKey = ${OTHER}
PresharedKey = ${KEY}
AllowedIPs = 10.64.255.2/32, fd64::a40:ff02/128
PersistentKeepalive = 25
`)
})

test('endpoints', () => {
  expect(parseEndpoint('[2001:db8::1]:51820')).toEqual({ host: '2001:db8::1', port: 51820 })
  for (const bad of ['edge.example', 'edge.example:0', ':1', 'a b:1', '2001:db8::1:51820', 'x\ny:1', 'a;b:1'])
    expect(() => parseEndpoint(bad), bad).toThrow(AgentError)
})

/** Texts with a meaning in a WireGuard file, in nft or on a terminal. */
const hostile = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom('\n', ';', '{', '}', '"', '$', '1', '.', ':', '/', 'a', '\u001b') }),
  fc.constantFrom('10.0.0.1\nPostUp = id', '10.0.0.0/8; flush ruleset', '10.0.0.0/8 }', '::1%eth0'),
)

test('no text from the server gets into a file unless its form is checked', () => {
  const at = <T extends object>(object: T, key: keyof T, value: unknown): T => ({ ...object, [key]: value })
  fc.assert(
    fc.property(hostile, fc.integer({ min: 0, max: 10 }), (text, place) => {
      const { peer } = config
      const withEdge = (changes: object) => ({
        ...config,
        edges: [{ id: 1, name: text, peer: { ...peer, ...changes }, edgeAddress: '10.64.0.1' }],
      })
      const variants = [
        withEdge({}),
        withEdge({ endpoint: `${text}:1` }),
        withEdge({ allowedIps: [text] }),
        at(config, 'addresses', [text]),
        at(config, 'dns', [text]),
        at(config, 'gateway', [{ interface: text, subnet: text }]),
        at(config, 'edgeAddress', text),
        at(config, 'peer', at(peer, 'publicKey', text)),
        at(config, 'peer', at(peer, 'presharedKey', text)),
        at(config, 'peer', at(peer, 'endpoint', `${text}:1`)),
        at(config, 'peer', at(peer, 'allowedIps', [text])),
      ]
      let wanted: ReturnType<typeof parseWanted>
      try {
        wanted = parseWanted(variants[place] ?? config)
      } catch (error) {
        expect(error).toBeInstanceOf(AgentError)
        return
      }
      const safe = /^[A-Za-z0-9 =[\].,:/+\n-]*$/
      const peers = wanted.peers.map((one) => ({ ...one, address: '192.0.2.1' }))
      expect(renderWireGuard(peers, KEY, 0)).toMatch(safe)
      expect([...(wanted.gateway ?? []), ...wanted.addresses, ...wanted.dns].join(' ')).toMatch(
        /^[0-9a-f.:/ ]*$/,
      )
    }),
  )
})

test('targets are ports, in order without duplicates', () => {
  const targets = { tcp: [8080, 80, 8080], udp: [53] }
  expect(parseWanted({ ...config, targets }).targets).toEqual({ tcp: [80, 8080], udp: [53] })
  for (const bad of [0, 65_536, 1.5, Number.NaN])
    expect(() => parseWanted({ ...config, targets: { tcp: [bad], udp: [] } })).toThrow('unusable targets')
})

test.each([
  [[]],
  [['fd64::2/64']],
  [['10.64.0.2/16', '8.8.8.8/32']],
  [['10.64.0.2/16', 'fd64::2/64', '2600::/12']],
])('no node is connected with the addresses %j, since what the tunnel is comes from them', (addresses) => {
  expect(() => parseFirstWanted({ ...config, addresses })).toThrow('unusable addresses')
})

test('the name of a node cannot control a terminal', () => {
  const { node } = parseWanted({ ...config, node: { id: 1, name: 'a\u001b[2Jb\u202e', enabled: true } })
  expect(node.name).toBe('a [2Jb ')
})

const several: AgentConfig = {
  ...config,
  edges: [
    { id: 1, name: 'local', peer: config.peer, edgeAddress: '10.64.0.1' },
    {
      id: 4,
      name: 'frankfurt',
      peer: { ...config.peer, publicKey: OTHER, endpoint: 'b.example:1', allowedIps: ['10.64.255.2/32'] },
      edgeAddress: '10.64.255.2',
    },
  ],
}

test('of several edges each is a peer, and none has what another has', () => {
  expect(parseWanted(several).peers).toMatchObject([
    { id: 1, name: 'local', host: 'edge.example', allowedIps: ['10.64.0.0/16'] },
    { id: 4, name: 'frankfurt', host: 'b.example', port: 1, edgeAddress: '10.64.255.2' },
  ])
  const second = (changes: object) => {
    const [first, other] = several.edges ?? []
    return {
      ...several,
      edges: [first, { ...other, peer: { ...other?.peer, ...changes } }] as typeof several.edges,
    }
  }
  expect(() => parseWanted(second({ publicKey: KEY }))).toThrow('unusable edges')
  expect(() => parseWanted(second({ allowedIps: ['10.64.0.0/16'] }))).toThrow('unusable edges')
  expect(parseWanted({ ...config, edges: [] }).peers).toEqual(parseWanted(config).peers)
})

test('the state covers key, peers, networks and keepalive', () => {
  const wanted = parseWanted(several)
  const peer = {
    publicKey: KEY,
    presharedKey: KEY,
    endpoint: null,
    allowedIps: ['10.64.0.0/16'],
    latestHandshake: null,
    ...{ rx: 0, tx: 0, keepaliveSeconds: 0 },
  }
  const other = { ...peer, publicKey: OTHER, allowedIps: ['10.64.255.2/32'] }
  const state = { publicKey: KEY, listenPort: 1, peers: [other, peer] }
  const having = (changes: Partial<typeof peer>) => ({ ...state, peers: [{ ...other, ...changes }, peer] })
  expect(isInForce(wanted, KEY, state)).toBe(true)
  expect(isInForce(wanted, KEY, { ...state, publicKey: 'x' })).toBe(false)
  expect(isInForce(wanted, KEY, having({ allowedIps: [] }))).toBe(false)
  expect(isInForce(wanted, KEY, having({ keepaliveSeconds: 25 }))).toBe(false)
  expect(isInForce(wanted, KEY, having({ presharedKey: OTHER }))).toBe(false)
  expect(isInForce(wanted, KEY, { ...state, peers: [peer] })).toBe(false)
  expect(isInForce(wanted, KEY, { ...state, peers: [...state.peers, { ...peer, publicKey: 'x' }] })).toBe(
    false,
  )
  expect(isInForce(wanted, KEY, undefined)).toBe(false)
})
