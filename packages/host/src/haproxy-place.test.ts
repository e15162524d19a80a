import { expect, test } from 'vitest'
import { compareVersions, parseHaproxyVersion } from './haproxy-place.mjs'

test.each([
  ['HA-Proxy version 2.2.9-2+deb11u7 2026/01/02', { version: '2.2.9-2+deb11u7', isTooOld: true }],
  [
    'HAProxy version 2.8.16-0ubuntu0.24.04.1 2026/01/02',
    { version: '2.8.16-0ubuntu0.24.04.1', isTooOld: true },
  ],
  ['HAProxy version 3.0.11-1+deb13u5 2026/11/18 - https://haproxy.org/', { version: '3.0.11-1+deb13u5' }],
  ['3.4.7-1', { version: '3.4.7-1' }],
  ['HAProxy version 3.10.1-1 2028/01/02', { version: '3.10.1-1', isUntested: true }],
])('%s', (said, expected) => {
  expect(parseHaproxyVersion(said)).toEqual({ isTooOld: false, isUntested: false, ...expected })
})

test('what is not HAProxy’s has no version', () => {
  expect(parseHaproxyVersion('(none)')).toBeUndefined()
  expect(parseHaproxyVersion('')).toBeUndefined()
})

test('a security update is newer than what it replaces', () => {
  expect(compareVersions('3.0.11-1+deb13u10', '3.0.11-1+deb13u9')).toBeGreaterThan(0)
  expect(compareVersions('3.0.9-1', '3.0.11-1')).toBeLessThan(0)
  expect(compareVersions('3.0.11-1', '3.0.11-1')).toBe(0)
})
