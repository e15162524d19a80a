import { SettingsError } from '@postern/contract/settings/settings'
import { expect, test } from 'vitest'
import { publicUrl, readConfig } from './config.ts'
import { describeNetwork, observeNetwork } from './network.ts'

const FILES = {
  route: [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'wg0\t0000400A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0',
    'eth0\t00000000\tFE7100CB\t0003\t0\t0\t0\t00000000\t0\t0\t0',
  ].join('\n'),
  route6: [
    '20010db8000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0',
    '00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0',
    '00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo',
  ].join('\n'),
  resolv: '# by hand\nnameserver 9.9.9.9\nnameserver fe80::1%eth0\nsearch example\n',
}
const OWN = [
  { name: 'lo', cidr: '127.0.0.1/8' },
  { name: 'wg0', cidr: '10.64.0.1/16' },
  { name: 'eth0', cidr: 'fe80::2/64' },
  { name: 'eth0', cidr: '2001:db8::2/64' },
  { name: 'eth0', cidr: '203.0.113.1/24' },
]

test('finds the address of the default route, and what it depends on', () => {
  expect(describeNetwork(OWN, FILES)).toEqual({
    addresses: ['127.0.0.1', '10.64.0.1', 'fe80::2', '2001:db8::2', '203.0.113.1'],
    networks: ['127.0.0.0/8', '10.64.0.0/16', 'fe80::/64', '2001:db8::/64', '203.0.113.0/24'],
    dependsOn: ['203.0.113.254', 'fe80::1', '9.9.9.9'],
    defaultAddress: '203.0.113.1',
  })
})

test('with IPv6 only, the IPv6 route counts; without any there is none', () => {
  expect(describeNetwork(OWN, { ...FILES, route: '' }).defaultAddress).toBe('2001:db8::2')
  expect(describeNetwork(OWN, { route: '', route6: '', resolv: '' }).defaultAddress).toBeNull()
})

test('this machine can be described', () => {
  expect(observeNetwork().addresses).toContain('127.0.0.1')
})

test('a setting takes precedence over the default route', () => {
  const network = describeNetwork(OWN, FILES)
  expect(readConfig(network, {}).publicHost).toBe('203.0.113.1')
  const named = readConfig(network, { POSTERN_PUBLIC_HOST: 'Gate.Example.COM', POSTERN_HTTPS_PORT: '8443' })
  expect(publicUrl(named)).toBe('https://gate.example.com:8443')
  expect(publicUrl(readConfig(network, { POSTERN_PUBLIC_HOST: '2001:db8::2' }))).toBe('https://[2001:db8::2]')
  const none = { ...network, addresses: ['127.0.0.1', '::1'], defaultAddress: null }
  expect(() => readConfig(none, {}).publicHost).toThrow(SettingsError)
})
