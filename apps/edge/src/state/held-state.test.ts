import type { StateAnswer } from '@postern/contract/edge/desired-state'
import { rowsOf } from '@postern/contract/sections'
import { expect, test } from 'vitest'
import {
  answerOf,
  holdState,
  makeCertificate,
  makePeer,
  makePortRoute,
  makeRoute,
  makeSettings,
  makeState,
} from '../../test/factories.ts'
import { readAnswer, StateError } from './held-state.ts'

const good = makeState({
  hashes: {
    settings: 's',
    'peers:0': 'p',
    'routes:0': 'r',
    'ports:0': 't',
    'certificates:0': 'c1',
  },
  peers: [makePeer(1), makePeer(2)],
  routes: [makeRoute(1), makeRoute(2), makeRoute(3)],
  ports: [makePortRoute(4), makePortRoute(5)],
  certificates: [makeCertificate(1), makeCertificate(2)],
})
const answer = answerOf(good)
const nothing = { peers: [], routes: [], ports: [], signIns: [], challenges: [], certificates: [] }

test('keeps the sections that the server did not send, and drops the ones it no longer names', () => {
  const held = holdState(
    makeState({
      routes: [makeRoute(3), makeRoute(300), makeRoute(500)],
      ports: [makePortRoute(4), makePortRoute(301)],
      certificates: [makeCertificate(1), makeCertificate(20)],
    }),
  )
  const { settings } = held.hashes
  const next: StateAnswer = {
    revision: 8,
    hashes: {
      settings,
      'routes:0': 'new',
      'routes:1': 'r1',
      'ports:1': 't1',
      'certificates:1': 'c1',
      'certificates:2': 'c1',
    } as StateAnswer['hashes'],
    sections: { ...nothing, routes: [makeRoute(4), makeRoute(5)], certificates: [makeCertificate(33)] },
  }
  const { state } = readAnswer(next, held, held.hashes)
  expect(state.revision).toBe(8)
  expect(state.settings).toBe(held.settings)
  expect(rowsOf(state.sections.routes).map(({ id }) => id)).toEqual([4, 5, 300])
  expect(rowsOf(state.sections.ports)).toEqual([makePortRoute(301)])
  expect(state.sections.routes.get('routes:1')).toBe(held.sections.routes.get('routes:1'))
  expect(state.certificates.map((certificate) => certificate.id)).toEqual([20, 33])
})

test('a row that is sent again unchanged stays the same object', () => {
  const held = holdState(good)
  const routes = structuredClone([...good.routes.slice(0, 2), makeRoute(4)])
  const { state } = readAnswer(
    { ...answer, hashes: { ...answer.hashes, 'routes:0': 'r8' }, sections: { ...nothing, routes } },
    held,
    held.hashes,
  )
  const [before, after] = [rowsOf(held.sections.routes), rowsOf(state.sections.routes)]
  expect(after.map((route) => before.indexOf(route))).toEqual([0, 1, -1])
  const again = readAnswer(structuredClone(answer), held, {}).state
  expect(again.sections.routes).toBe(held.sections.routes)
  expect(again.peers).toBe(held.peers)
})

test('an unreadable certificate keeps its previous content, and an unreadable route is left out', () => {
  const certificates = [makeCertificate(1), makeCertificate(2)]
  const held = holdState(makeState({ routes: [makeRoute(3)], certificates }))
  const sections = {
    ...nothing,
    routes: [{ ...makeRoute(3), path: '' }],
    certificates: [
      { ...makeCertificate(1), chain: 5 },
      { ...makeCertificate(3), chain: 5 },
    ],
  }
  const hashes = { ...held.hashes, 'routes:0': 'r2', 'certificates:0': 'c2' }
  const { state, problems } = readAnswer({ revision: 8, hashes, sections }, held, held.hashes)
  expect(rowsOf(state.sections.routes)).toEqual([])
  expect(state.certificates).toEqual([makeCertificate(1)])
  expect(state.hashes).toMatchObject({ 'routes:0': '', 'certificates:0': '' })
  expect(problems.map(({ scope }) => scope)).toEqual([
    { kind: 'service', id: 3 },
    { kind: 'certificate', id: 1 },
    { kind: 'certificate', id: 3 },
  ])
})

test('an answer that does not make a whole state is refused', () => {
  const held = holdState(makeState({ routes: [makeRoute(3)], certificates: [makeCertificate(1)] }))
  const same = { revision: 8, hashes: held.hashes, sections: nothing }
  const read = (body: unknown) => readAnswer(body, held, held.hashes)
  const { state } = read(same)
  expect(state).toEqual({ ...held, revision: 8 })
  expect(state.sections.routes).toBe(held.sections.routes)
  expect(state.certificates).toBe(held.certificates)
  for (const known of [undefined, held])
    expect(() => readAnswer(same, known, {})).toThrow('left out the section settings')
  const newer = { ...same, hashes: { ...held.hashes, 'routes:0': 'newer' } }
  expect(() => read(newer)).toThrow('left out the section routes:0')
  const other = { ...same, hashes: { ...held.hashes, 'certificates:9': 'x' } }
  expect(() => read(other)).toThrow('left out the section certificates:9')
  const { settings: _, ...unnamed } = held.hashes
  expect(() => read({ ...same, hashes: unnamed })).toThrow('left out the section settings')
  const unlisted = { ...same, sections: { ...nothing, routes: [makeRoute(201)] } }
  expect(() => read(unlisted)).toThrow('does not name the section routes:1')
})

test('one bad row is left out and reported, and its section will be asked for again', () => {
  const { sections } = answer
  const bad = {
    ...sections,
    peers: [sections.peers[0], { ...sections.peers[1], publicKey: 'x\nAllowedIPs = 0.0.0.0/0' }],
    routes: [sections.routes[0], { ...sections.routes[1], path: '/a b;|' }, sections.routes[2]],
    ports: [{ ...sections.ports[0], tls: { domain: 'a b' } }, sections.ports[1]],
    certificates: [{ ...sections.certificates[0], domains: ['*; rm'] }, sections.certificates[1]],
  }
  const { state, problems } = readAnswer({ ...answer, sections: bad }, undefined, {})
  expect(rowsOf(state.sections.routes).map((route) => route.id)).toEqual([1, 3])
  expect(rowsOf(state.sections.ports).map((route) => route.id)).toEqual([5])
  expect(state.peers.map((peer) => peer.nodeId)).toEqual([1])
  expect(state.certificates.map((certificate) => certificate.id)).toEqual([2])
  expect(state.hashes).toEqual({
    ...good.hashes,
    'peers:0': '',
    'routes:0': '',
    'ports:0': '',
    'certificates:0': '',
  })
  expect(problems.map((problem) => problem.scope)).toEqual([
    { kind: 'node', id: 2 },
    { kind: 'service', id: 2 },
    { kind: 'service', id: 4 },
    { kind: 'certificate', id: 1 },
  ])
})

test('bad settings leave the previous ones in force and are reported, and the rest goes on', () => {
  const { tunnelPrivateKey: _, ...settings } = makeSettings()
  const bad = { ...answer, sections: { ...answer.sections, settings } }
  const held = holdState(makeState())
  const { state, problems } = readAnswer(bad, held, {})
  expect(state).toMatchObject({ settings: held.settings, peers: good.peers })
  expect(state.hashes).toEqual({ ...good.hashes, settings: '' })
  expect(problems).toEqual([
    {
      scope: { kind: 'edge' },
      message: "This edge doesn't understand the server's description of the tunnel. Update the edge.",
    },
  ])
  expect(() => readAnswer(bad, undefined, {})).toThrow('description of the tunnel')
})

test('an answer that is no state is refused', () => {
  const nameless = { ...answer, sections: { ...answer.sections, routes: [{}] } }
  for (const body of [null, 'x', {}, { ...answer, revision: 'x' }, { ...answer, sections: {} }, nameless])
    expect(() => readAnswer(body, holdState(makeState()), {})).toThrow(StateError)
})
