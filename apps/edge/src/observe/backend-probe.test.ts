import { findFreePort } from '@postern/testkit/port'
import { expect, test } from 'vitest'
import { probeBackend } from './backend-probe.ts'

test('a domain that is an address is no name for TLS, and ends nothing', async () => {
  const target = {
    address: '127.0.0.1',
    port: await findFreePort(),
    proto: 'https',
    domain: '192.0.2.1',
  } as const
  expect(await probeBackend(target, false)).toBe('refused')
})
