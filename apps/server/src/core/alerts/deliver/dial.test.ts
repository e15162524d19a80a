import { parseSettings } from '@postern/contract/settings/settings'
import { expect, test } from 'vitest'
import { type Destination, findAddress } from './dial.ts'
import { OUTSIDE } from './outside.ts'

const machine = {
  addresses: ['127.0.0.1', '203.0.113.1', '192.168.1.2'],
  networks: [],
  dependsOn: [],
  defaultAddress: '203.0.113.1',
}

function dial(addresses: string[], over: Partial<Destination> = {}) {
  const parts = {
    config: { settings: parseSettings({}), publicHost: '203.0.113.1' },
    network: () => machine,
    tunnel: { network4: '10.64.0.0/16', network6: 'fd64::/64' },
    outside: { ...OUTSIDE, lookup: async () => addresses },
  }
  const to = {
    host: 'x.example.com',
    port: 443,
    inPrivateNetwork: false,
    isPlain: false,
    isMail: false,
    ...over,
  }
  // Of its parts, only these are read.
  return findAddress(parts as unknown as Parameters<typeof findAddress>[0], to)
}

const LAN = { inPrivateNetwork: true }
const MAIL = { isMail: true, port: 25 }

test.each<[string[], Partial<Destination>]>([
  [['198.51.100.7'], {}],
  [['2001:db8::7'], {}],
  [['192.168.1.7'], LAN],
  [['fd00::7'], LAN],
  [['192.168.1.7'], { ...LAN, isPlain: true, port: 80 }],
  // A service that this very installation publishes, as any visitor reaches it.
  [['203.0.113.1'], {}],
  [['127.0.0.1'], { ...LAN, ...MAIL, isPlain: true }],
  [['198.51.100.7'], { ...MAIL, isPlain: true }],
])('%j with %j is dialled', async (addresses, over) => {
  expect(await dial(addresses, over)).toBe(addresses[0])
})

test.each<[string[], Partial<Destination>, RegExp]>([
  [['127.0.0.1'], LAN, /loopback/],
  [['::1'], LAN, /loopback/],
  [['::ffff:127.0.0.1'], LAN, /loopback/],
  [['0.0.0.0'], LAN, /loopback/],
  // Where clouds tell their machines secrets.
  [['169.254.169.254'], LAN, /link-local/],
  [['fe80::1'], LAN, /link-local/],
  [['168.63.129.16'], LAN, /reserved/],
  [['64:ff9b::a9fe:a9fe'], LAN, /reserved/],
  [['224.0.0.1'], LAN, /reserved/],
  [['10.64.0.2'], LAN, /tunnel/],
  [['fd64::2'], LAN, /tunnel/],
  [['192.168.1.2'], { ...LAN, port: 8080 }, /this server itself/],
  [['203.0.113.1'], { ...LAN, port: 3000 }, /this server itself/],
  [['192.168.1.7'], {}, /private address/],
  [['198.51.100.7'], { ...LAN, isPlain: true, port: 80 }, /without TLS/],
  [['198.51.100.7', '127.0.0.1'], {}, /loopback/],
  [['127.0.0.1'], { ...LAN, isMail: true, port: 6379 }, /loopback/],
  [['127.0.0.1'], { ...MAIL, isPlain: true }, /loopback/],
  [[], {}, /no address/],
])('%j with %j is not', async (addresses, over, reason) => {
  await expect(dial(addresses, over)).rejects.toThrow(reason)
})

test('an address in place of a name is judged the same', async () => {
  await expect(dial(['198.51.100.7'], { ...LAN, host: '169.254.169.254' })).rejects.toThrow(/link-local/)
})
