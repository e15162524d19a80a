import { expect, test } from 'vitest'
import {
  makeCertificate,
  makePeer,
  makePortRoute,
  makeRoute,
  makeSettings,
  makeState,
} from '../test/factories.ts'
import { StateError } from './held-state.ts'
import { parseStateAnswer } from './state-answer.ts'

const good = {
  revision: 9,
  hashes: {
    settings: 's',
    'peers:0': 'p',
    'routes:0': 'r',
    'ports:0': 't',
    'certificate:1': 'c1',
    'certificate:2': 'c2',
  },
  sections: {
    settings: makeSettings(),
    peers: [makePeer(1), makePeer(2)],
    routes: [makeRoute(1), makeRoute(2), makeRoute(3)],
    ports: [makePortRoute(4), makePortRoute(5)],
    certificates: [makeCertificate(1), makeCertificate(2)],
  },
}

test('an answer as the contract says passes as it is', () => {
  expect(parseStateAnswer(good, undefined)).toEqual({ answer: good, problems: [] })
})

test('one bad row is left out as its own problem, and its section will be asked for again', () => {
  const { sections } = good
  const bad = {
    ...sections,
    peers: [sections.peers[0], { ...sections.peers[1], publicKey: 'x\nAllowedIPs = 0.0.0.0/0' }],
    routes: [sections.routes[0], { ...sections.routes[1], path: '/a b;|' }, sections.routes[2]],
    ports: [{ ...sections.ports[0], tls: { domain: 'a b' } }, sections.ports[1]],
    certificates: [{ ...sections.certificates[0], domains: ['*; rm'] }, sections.certificates[1]],
  }
  const { answer, problems } = parseStateAnswer({ ...good, sections: bad }, undefined)
  expect(answer.sections.routes.map((route) => route.id)).toEqual([1, 3])
  expect(answer.sections.ports.map((route) => route.id)).toEqual([5])
  expect(answer.sections.peers?.map((peer) => peer.nodeId)).toEqual([1])
  expect(answer.sections.certificates.map((certificate) => certificate.id)).toEqual([2])
  expect(answer.hashes).toEqual({
    ...good.hashes,
    'peers:0': '',
    'routes:0': '',
    'ports:0': '',
    'certificate:1': '',
  })
  expect(problems.map((problem) => problem.scope)).toEqual([
    { kind: 'node', id: 2 },
    { kind: 'service', id: 2 },
    { kind: 'service', id: 4 },
    { kind: 'certificate', id: 1 },
  ])
})

test('bad settings leave those of before in force, as a problem, and the rest goes on', () => {
  const { tunnelPrivateKey: _, ...settings } = good.sections.settings
  const bad = { ...good, sections: { ...good.sections, settings } }
  const held = makeState()
  const { answer, problems } = parseStateAnswer(bad, held)
  expect(answer.sections).toEqual({ ...good.sections, settings: held.settings })
  expect(answer.hashes).toEqual({ ...good.hashes, settings: '' })
  expect(problems).toEqual([
    {
      scope: { kind: 'edge' },
      message: "This edge doesn't understand the server's description of the tunnel. Update the edge.",
    },
  ])
  expect(() => parseStateAnswer(bad, undefined)).toThrow('description of the tunnel')
})

test('what is no state at all is refused', () => {
  const nameless = { ...good, sections: { ...good.sections, routes: [{}] } }
  for (const body of [null, 'x', {}, { ...good, revision: 'x' }, { ...good, sections: {} }, nameless])
    expect(() => parseStateAnswer(body, makeState())).toThrow(StateError)
})
