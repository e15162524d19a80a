import type { Edge } from '@postern/contract/edge/edge'
import { expect, test } from 'vitest'
import { certificateTrouble, standingOf, troublesOf } from './edge-state.ts'

const NOW = Date.parse('2026-11-28T12:00:00Z')
const at = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString()
const EDGE: Edge = {
  ...{ id: 2, name: 'frankfurt', number: 2, place: null, host: null, servesConsole: false },
  ...{ isDrained: false, isJoined: true, joinableUntil: null, certificateUntil: at(24 * 60) },
  ...{ updated_at: at(0), connected: true, version: '1.0.0', wanted: 7, applied: 7, problems: [] },
  ...{ problemCount: 0, isStuck: false, dataPlane: null, lastSeen: at(0) },
}
const TAKEN = { scope: { kind: 'edge' }, name: null, message: 'Port 443 is taken.' } as const
const missing = { state: 'missing', detail: 'no /usr/sbin/haproxy' } as const
const fine = { state: 'ok', detail: '' } as const

test.each<[words: string, edge: Partial<Edge>]>([
  ['Connected', {}],
  ['Applying', { wanted: 8 }],
  ['Connected', { wanted: 8, isStuck: true }],
  ['Drained', { isDrained: true, problems: [TAKEN], problemCount: 1 }],
  ['1 problem', { problems: [TAKEN], problemCount: 1 }],
  ['25 problems', { problems: [TAKEN], problemCount: 25 }],
  ['1 problem', { dataPlane: { haproxy: missing, wireguard: fine, nftables: fine } }],
  ['Not connected', { connected: false, isDrained: true }],
  ['Waiting to join', { isJoined: false, connected: false, joinableUntil: at(1) }],
  ['Never joined', { isJoined: false, connected: false, joinableUntil: at(-1) }],
  ['Never joined', { isJoined: false, connected: false }],
])('an edge is shown as %s', (words, edge) => {
  expect(standingOf({ ...EDGE, ...edge }, NOW).text).toBe(words)
})

test('what an edge cannot do is told with the reason, and only while it is connected', () => {
  const of = { scope: { kind: 'service', id: 3 }, name: 'wiki', message: 'Its name is unknown.' } as const
  const edge = {
    ...EDGE,
    problems: [TAKEN, of],
    dataPlane: { haproxy: missing, wireguard: fine, nftables: fine },
  }
  expect(troublesOf(edge)).toEqual([
    'HAProxy is missing: no /usr/sbin/haproxy. Nothing is published over HTTP and HTTPS.',
    'Port 443 is taken.',
    'wiki: Its name is unknown.',
  ])
  expect(troublesOf({ ...edge, connected: false })).toEqual([])
})

test('a certificate is told of when it was not renewed in time', () => {
  expect(certificateTrouble(EDGE, NOW)).toBeUndefined()
  expect(certificateTrouble({ ...EDGE, certificateUntil: null }, NOW)).toBeUndefined()
  expect(certificateTrouble({ ...EDGE, certificateUntil: at(24) }, NOW)).toMatch(/^Its certificate ends on /)
  expect(certificateTrouble({ ...EDGE, certificateUntil: at(-1) }, NOW)).toMatch(/has ended/)
})
