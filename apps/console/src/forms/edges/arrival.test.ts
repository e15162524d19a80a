import type { Edge } from '@postern/contract/edge/edge'
import { expect, test } from 'vitest'
import { type Arrival, arrivalOf } from './arrival.ts'

const NOW = Date.parse('2026-11-28T12:00:00Z')
const HOUR = 3_600_000
const JOIN = { token: 'pte_x', address: 'https://a', expiresAt: new Date(NOW + HOUR).toISOString() }
const NEW: Edge = {
  ...{ id: 2, name: 'frankfurt', number: 2, place: null, host: null, servesConsole: false },
  ...{ isDrained: false, isJoined: false, joinableUntil: JOIN.expiresAt, certificateUntil: null },
  ...{ updated_at: '', connected: false, version: null, wanted: 0, applied: 0, problems: [] },
  ...{ problemCount: 0, isStuck: false, dataPlane: null, lastSeen: null },
}
const AFTER = '2027-02-26T12:00:00Z'
const JOINED: Edge = { ...NEW, isJoined: true, joinableUntil: null, certificateUntil: AFTER }

test.each<[Arrival, Edge | undefined, number]>([
  ['waiting', undefined, 0],
  ['waiting', NEW, 0],
  ['expired', { ...NEW, joinableUntil: null }, HOUR],
  ['joined', JOINED, 0],
  ['connected', { ...JOINED, connected: true }, 0],
  ['connected', { ...JOINED, connected: true, wanted: 8, applied: 7 }, 0],
  ['live', { ...JOINED, connected: true, wanted: 8, applied: 8 }, HOUR],
])('%s', (arrival, edge, later) => {
  expect(arrivalOf(NEW, edge, JOIN, NOW + later)).toBe(arrival)
})

test('an edge that is there already waits for the other machine, until that has its own certificate', () => {
  const before = { ...JOINED, connected: true, wanted: 8, applied: 8 }
  const waiting = { ...before, joinableUntil: JOIN.expiresAt }
  expect(arrivalOf(before, waiting, JOIN, NOW)).toBe('waiting')
  expect(arrivalOf(before, before, JOIN, NOW + HOUR)).toBe('expired')
  expect(arrivalOf(before, { ...before, certificateUntil: '2027-02-26T13:00:00Z' }, JOIN, NOW)).toBe('live')
})
