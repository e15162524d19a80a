import { expect, test } from 'vitest'
import { makeCertificate, makePeer, makeRoute, makeSettings } from '../test/factories.ts'
import { parseStateAnswer } from './state-answer.ts'

const good = {
  revision: 9,
  hashes: { settings: 's', peers: 'p', routes: 'r', 'certificate:1': 'c1', 'certificate:2': 'c2' },
  sections: {
    settings: makeSettings(),
    peers: [makePeer(1), makePeer(2)],
    routes: [makeRoute(1), makeRoute(2), makeRoute(3)],
    certificates: [makeCertificate(1), makeCertificate(2)],
  },
}

test('an answer as the contract says passes as it is', () => {
  expect(parseStateAnswer(good)).toEqual({ answer: good, problems: [] })
})

test('one bad row is left out as its own problem, and its section will be asked for again', () => {
  const { sections } = good
  const { answer, problems } = parseStateAnswer({
    ...good,
    sections: {
      ...sections,
      peers: [sections.peers[0], { ...sections.peers[1], publicKey: 'x\nAllowedIPs = 0.0.0.0/0' }],
      routes: [sections.routes[0], { ...sections.routes[1], path: '/a b;|' }, sections.routes[2]],
      certificates: [{ ...sections.certificates[0], domains: ['*; rm'] }, sections.certificates[1]],
    },
  })
  expect(answer.sections.routes?.map((route) => route.id)).toEqual([1, 3])
  expect(answer.sections.peers?.map((peer) => peer.nodeId)).toEqual([1])
  expect(answer.sections.certificates.map((certificate) => certificate.id)).toEqual([2])
  expect(answer.hashes).toEqual({ settings: 's', peers: '', routes: '', 'certificate:2': 'c2' })
  expect(problems.map((problem) => problem.scope)).toEqual([
    { kind: 'certificate', id: 1 },
    { kind: 'node', id: 2 },
    { kind: 'service', id: 2 },
  ])
})

test('what is no state at all is refused', () => {
  for (const body of [null, 'x', {}, { ...good, revision: 'x' }, { ...good, sections: { routes: [] } }])
    expect(() => parseStateAnswer(body)).toThrow()
  const { tunnelPrivateKey: _, ...settings } = good.sections.settings
  expect(() => parseStateAnswer({ ...good, sections: { ...good.sections, settings } })).toThrow()
})
