import { describe, expect, it } from 'vitest'
import { parseCidr } from './cidr.ts'
import { isPrivate, isSpecial } from './special.ts'

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
  ])('%s is or holds one', (text) => expect(isPrivate(parseCidr(text))).toBe(true))
  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1'])('%s is of the internet', (text) =>
    expect(isPrivate(parseCidr(text))).toBe(false),
  )
})
