import type { WgPeer } from '@postern/host/wg-dump'
import { expect, test } from 'vitest'
import { createEndpointWatch } from './endpoint-watch.ts'

const A = '203.0.113.7:51820'
const B = '198.51.100.9:40000'
const peer = (endpoint: string | null): WgPeer => ({
  publicKey: 'k',
  presharedKey: '',
  endpoint,
  allowedIps: [],
  latestHandshake: null,
  rx: 0,
  tx: 0,
  keepaliveSeconds: 0,
})

/**
 * Observes every 2 s; each endpoint stays for `seconds`.
 * @returns the result at the end
 */
function watch(endpoints: (string | null)[], seconds: number) {
  let now = 0
  const twins = createEndpointWatch(() => now)
  for (const endpoint of endpoints)
    for (let passed = 0; passed < seconds; passed += 2) {
      now += 2000
      twins.look(new Map([['k', peer(endpoint)]]))
    }
  return twins.findTwins('k')
}

test.each<[string, (string | null)[], number, [string, string] | undefined]>([
  ['two hosts that take turns', [A, B, A, B], 20, ['198.51.100.9', '203.0.113.7']],
  ['two hosts behind one NAT', [A, '203.0.113.7:9', A, '203.0.113.7:9'], 20, [A, '203.0.113.7:9']],
  ['a host that does not move', [null, A, A, A, A], 20, undefined],
  ['a host that moves away and back', [A, B, A], 20, undefined],
  ['a host that keeps roaming', [A, B, '192.0.2.1:1', '192.0.2.2:1', '192.0.2.3:1'], 4, undefined],
  ['a host that switches networks every few minutes', [A, B, A, B, A, B], 200, undefined],
  ['two hosts of which one has stopped since', [A, B, A, B, B, B, B, B, B, B, B, B, B], 20, undefined],
])('%s', (_what, endpoints, seconds, twins) => {
  expect(watch(endpoints, seconds)?.sort()).toEqual(twins?.sort())
})
