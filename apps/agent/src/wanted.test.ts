import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AgentError } from './errors.ts'
import { isInForce, renderWireGuard } from './tunnel/wireguard.ts'
import { config } from './wanted.fixture.ts'
import { parseEndpoint, parseFirstWanted, parseWanted } from './wanted.ts'

const KEY = config.peer.publicKey

test('every text comes out in its canonical form', () => {
  expect(parseWanted(config)).toMatchObject({
    addresses: ['10.64.0.2/16', 'fd64::2/64'],
    gateway: ['192.168.7.0/24', 'fd00:7::/64'],
    peer: { host: 'edge.example', port: 51820 },
  })
})

test('the WireGuard file', () => {
  expect(renderWireGuard(parseWanted(config), KEY, '2001:db8::1', 4000)).toBe(`[Interface]
PrivateKey = ${KEY}
ListenPort = 4000

[Peer]
PublicKey = ${KEY}
PresharedKey = ${KEY}
Endpoint = [2001:db8::1]:51820
AllowedIPs = 10.64.0.0/16
PersistentKeepalive = off
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
    fc.property(hostile, fc.integer({ min: 0, max: 7 }), (text, place) => {
      const { peer } = config
      const variants = [
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
      expect(renderWireGuard(wanted, KEY, '192.0.2.1', 0)).toMatch(safe)
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

test('the state covers key, peer, networks and keepalive', () => {
  const wanted = parseWanted(config)
  const peer = {
    publicKey: KEY,
    presharedKey: KEY,
    endpoint: null,
    allowedIps: ['10.64.0.0/16'],
    latestHandshake: null,
  }
  const state = { publicKey: KEY, listenPort: 1, peer: { ...peer, rx: 0, tx: 0, keepaliveSeconds: 0 } }
  expect(isInForce(wanted, KEY, state)).toBe(true)
  expect(isInForce(wanted, KEY, { ...state, publicKey: 'x' })).toBe(false)
  expect(isInForce(wanted, KEY, { ...state, peer: { ...state.peer, allowedIps: [] } })).toBe(false)
  expect(isInForce(wanted, KEY, { ...state, peer: { ...state.peer, keepaliveSeconds: 25 } })).toBe(false)
  expect(isInForce(wanted, KEY, undefined)).toBe(false)
})
