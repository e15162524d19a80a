import { formatCidr } from '@postern/net/cidr'
import { findIp, type Ip } from '@postern/net/ip'
import { expect, test } from 'vitest'
import { mentions, parseTable, rangeToNetworks } from './nft-json.ts'

const ip = (text: string): Ip => findIp(text) ?? { family: 4, value: 0n }

test.each([
  ['224.0.0.0', '255.255.255.255', ['224.0.0.0/3']],
  ['10.0.0.1', '10.0.0.6', ['10.0.0.1/32', '10.0.0.2/31', '10.0.0.4/31', '10.0.0.6/32']],
  ['0.0.0.0', '255.255.255.255', ['0.0.0.0/0']],
  ['fd00::', 'fd00::ffff', ['fd00::/112']],
])('the range %s to %s is the networks %j', (from, to, networks) => {
  expect(rangeToNetworks(ip(from), ip(to)).map(formatCidr)).toEqual(networks)
})

test('sets come in one spelling, however nft prints their elements', () => {
  const elem = ['10.0.0.0', { prefix: { addr: '10.0.0.2', len: 31 } }, { range: ['10.0.1.0', '10.0.1.255'] }]
  const table = {
    nftables: [{ metainfo: {} }, { set: { name: 'private4', elem } }, { set: { name: 'internet6' } }],
  }
  expect(parseTable(JSON.stringify(table)).sets).toEqual({
    private4: ['10.0.0.0/32', '10.0.0.2/31', '10.0.1.0/24'],
    internet6: [],
  })
})

test('an interface is found in the words of a rule', () => {
  const rule = { chain: 'FORWARD', expr: [{ match: { left: {}, right: 'postern0' } }, { accept: null }] }
  expect(mentions(JSON.stringify({ nftables: [{ rule }] }), 'postern0')).toBe(true)
  expect(mentions(JSON.stringify({ nftables: [{ rule }] }), 'postern')).toBe(false)
})
