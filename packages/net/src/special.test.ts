import { describe, expect, it } from 'vitest'
import { parseCidr } from './cidr.ts'
import { isForPrivateUse, isPrivate, isSpecial } from './special.ts'

describe('special networks', () => {
  it.each([
    '127.0.0.1',
    '0.0.0.0/0',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    'fe80::1',
    'ff02::1',
    '::/0',
  ])('%s meets one', (text) => expect(isSpecial(parseCidr(text))).toBe(true))
  it.each(['10.0.0.0/8', '192.168.1.0/24', '8.8.8.8', 'fd00::/8', '2001:db8::/32'])('%s does not', (text) =>
    expect(isSpecial(parseCidr(text))).toBe(false),
  )
})

describe('private networks', () => {
  it.each([
    '10.1.2.3',
    '172.31.0.1',
    '192.168.0.0/16',
    '100.64.0.1',
    '127.0.0.1',
    'fd12::1',
    '::1',
    '0.0.0.0/0',
    // What a relay unwraps into an address of the cloud's or the edge's own network.
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '2002:a9fe:a9fe::1',
    '2001:0:4136:e378::1',
    '192.88.99.1',
    '168.63.129.16',
    '100.100.100.200',
    'fd00:ec2::254',
    '100::1',
    '::192.168.0.1',
    'fec0::1',
    '5f00::1',
    '240.0.0.1',
  ])('%s is or holds one', (text) => expect(isPrivate(parseCidr(text))).toBe(true))
  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1', '2a00::1', '168.63.129.17'])(
    '%s is of the internet',
    (text) => expect(isPrivate(parseCidr(text))).toBe(false),
  )
})

describe('networks for private use', () => {
  it.each(['10.0.0.0/8', '172.20.0.0/16', '192.168.1.0/24', '100.64.9.0/24', 'fd77::/64', '192.168.7.9'])(
    '%s is one',
    (text) => expect(isForPrivateUse(parseCidr(text))).toBe(true),
  )
  it.each([
    '8.8.8.0/24',
    '10.0.0.0/7',
    '172.0.0.0/8',
    '0.0.0.0/0',
    '203.0.113.0/24',
    '2001:db8::/64',
    '::/0',
  ])('%s is none, or more', (text) => expect(isForPrivateUse(parseCidr(text))).toBe(false))
})
