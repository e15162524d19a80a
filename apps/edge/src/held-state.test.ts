import type { StateAnswer } from '@postern/contract/desired-state'
import { expect, test } from 'vitest'
import { holdState, makeCertificate, makePortRoute, makeRoute, makeState } from '../test/factories.ts'
import { mergeState, rowsOf } from './held-state.ts'

test('keeps the sections that the server did not send, and drops the ones it no longer names', () => {
  const held = holdState(
    makeState({
      routes: [makeRoute(3), makeRoute(300), makeRoute(500)],
      ports: [makePortRoute(4), makePortRoute(301)],
      certificates: [makeCertificate(1), makeCertificate(2)],
    }),
  )
  const { settings } = held.hashes
  const answer: StateAnswer = {
    revision: 8,
    hashes: {
      settings,
      'routes:0': 'new',
      'routes:1': 'r1',
      'ports:1': 't1',
      'certificate:2': 'c2',
      'certificate:3': 'c3',
    } as StateAnswer['hashes'],
    sections: {
      peers: [],
      routes: [makeRoute(4), makeRoute(5)],
      ports: [],
      certificates: [makeCertificate(3)],
    },
  }
  const merged = mergeState(held, answer)
  expect(merged.revision).toBe(8)
  expect(merged.settings).toBe(held.settings)
  expect(rowsOf(merged.sections.routes).map(({ id }) => id)).toEqual([4, 5, 300])
  expect(merged.sections.routes.get('routes:1')).toBe(held.sections.routes.get('routes:1'))
  expect(rowsOf(merged.sections.ports)).toEqual([makePortRoute(301)])
  expect(merged.certificates.map((certificate) => certificate.id)).toEqual([2, 3])
})

test('of what could not be read a certificate stays as it was, and a route is left out', () => {
  const held = holdState(makeState({ routes: [makeRoute(3)], certificates: [makeCertificate(1)] }))
  const hashes = { ...held.hashes, 'routes:0': '', 'certificate:1': '' }
  const merged = mergeState(held, {
    revision: 8,
    hashes,
    sections: { peers: [], routes: [], ports: [], certificates: [] },
  })
  expect(rowsOf(merged.sections.routes)).toEqual([])
  expect(merged.certificates).toEqual([makeCertificate(1)])
})

test('an answer that does not make a whole state is refused', () => {
  const held = holdState(makeState({ routes: [makeRoute(3)], certificates: [makeCertificate(1)] }))
  const same = {
    revision: 8,
    hashes: held.hashes,
    sections: { peers: [], routes: [], ports: [], certificates: [] },
  }
  const merged = mergeState(held, same)
  expect(merged).toEqual({ ...held, revision: 8 })
  expect(merged.sections.routes).toBe(held.sections.routes)
  expect(merged.certificates).toBe(held.certificates)
  expect(() => mergeState(undefined, same)).toThrow('left out the section settings')
  const newer = { ...same, hashes: { ...held.hashes, 'routes:0': 'newer' } }
  expect(() => mergeState(held, newer)).toThrow('left out the section routes:0')
  const other = { ...same, hashes: { ...held.hashes, 'certificate:9': 'x' } }
  expect(() => mergeState(held, other)).toThrow('left out the section certificate:9')
  const { settings: _, ...unnamed } = held.hashes
  expect(() => mergeState(held, { ...same, hashes: unnamed })).toThrow('left out the section settings')
  const stray = { ...same, sections: { peers: [], routes: [makeRoute(201)], ports: [], certificates: [] } }
  expect(() => mergeState(held, stray)).toThrow('does not name the section routes:1')
})
