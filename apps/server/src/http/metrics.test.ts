import { expect, test } from 'vitest'
import { isPrivateAddress } from './metrics.ts'

test.each([
  ...['127.0.0.1', '10.1.2.3', '192.168.7.1', '172.17.0.2', '100.64.0.9', '169.254.1.1'],
  ...['::1', 'fd00::1', 'fe80::1', '::ffff:10.0.0.1', '::FFFF:127.0.0.1'],
])('a connection to %s may be Prometheus', (address) => expect(isPrivateAddress(address)).toBe(true))

test.each([
  ...['203.0.113.1', '8.8.8.8', '::ffff:203.0.113.1', '2001:db8::1', '2a00:1450::1'],
  ...['', 'fe80::1%eth0', undefined],
])('a connection to %s is closed', (address) => expect(isPrivateAddress(address)).toBe(false))
