import type { Edge } from '@postern/contract/edge/edge'
import type { Attention } from '@postern/contract/overview'
import { expect, test } from 'vitest'
import { absentEdges, brokenParts, platformState, withAttention } from './platform.ts'

const fine = { state: 'ok', detail: '' } as const
const EDGE: Edge = {
  id: 1,
  name: 'edge-1',
  number: 1,
  place: null,
  host: null,
  servesConsole: true,
  isDrained: false,
  isJoined: true,
  joinableUntil: null,
  certificateUntil: null,
  updated_at: '2026-01-01T00:00:00.000Z',
  connected: true,
  version: '1.0.0',
  wanted: 7,
  applied: 7,
  problems: [],
  problemCount: 0,
  isStuck: false,
  dataPlane: { haproxy: fine, wireguard: fine, nftables: fine },
  lastSeen: null,
}
const problem = { scope: { kind: 'service', id: 2 }, name: 'wiki', message: 'Port 443 is taken.' } as const

test('all applied', () => {
  expect(platformState([EDGE])).toMatchObject({ kind: 'ok', text: 'In sync', revision: 7 })
})

test('an edge that no machine has joined as yet is missed by nobody', () => {
  const awaited = {
    ...EDGE,
    id: 2,
    name: 'Frankfurt',
    isJoined: false,
    connected: false,
    wanted: 0,
    applied: 0,
  }
  expect(absentEdges([EDGE, awaited])).toEqual([])
  expect(platformState([EDGE, awaited])).toMatchObject({ kind: 'ok', text: 'In sync', revision: 7 })
})

test('a change under way', () => {
  expect(platformState([{ ...EDGE, wanted: 8 }])).toMatchObject({ kind: 'applying', revision: 8 })
})

test('a change that an edge cannot apply is a problem, not under way', () => {
  const refused = {
    scope: { kind: 'edge' },
    name: null,
    message: 'The answer of the server is no state.',
  } as const
  const stuck = { ...EDGE, wanted: 8, problems: [refused], problemCount: 1, isStuck: true }
  expect(platformState([stuck])).toMatchObject({ kind: 'problem', details: [refused.message] })
})

test('a change is under way whatever other problems the edge has', () => {
  const taken = { scope: { kind: 'edge' }, name: null, message: 'Port 3000 is taken.' } as const
  expect(platformState([{ ...EDGE, wanted: 8, problems: [taken] }])).toMatchObject({ kind: 'applying' })
  expect(platformState([{ ...EDGE, wanted: 8, problems: [problem] }])).toMatchObject({ kind: 'applying' })
})

test('an edge that has not connected yet may never have published anything', () => {
  const gone = { ...EDGE, connected: false }
  expect(absentEdges([gone])).toEqual([
    expect.stringContaining('has not connected since the server started.'),
  ])
  expect(absentEdges([{ ...gone, lastSeen: '2026-11-21T10:00:00.000Z' }])).toEqual([
    expect.stringContaining('Published services usually keep running'),
  ])
})

test('problems in words', () => {
  expect(platformState([{ ...EDGE, problems: [problem], problemCount: 1 }])).toMatchObject({
    kind: 'problem',
    text: '1 problem',
    details: ['wiki: Port 443 is taken.'],
    isListed: true,
  })
  expect(platformState([{ ...EDGE, problems: [problem], problemCount: 275 }]).text).toBe('275 problems')
})

test.each([
  ['no edge', []],
  ['an edge that disconnected', [{ ...EDGE, connected: false }]],
])('%s is a problem, not in sync', (_, edges) => {
  expect(platformState(edges).kind).toBe('problem')
})

test('a missing part is named with what it means', () => {
  const haproxy = { state: 'missing', detail: 'The program is not installed' } as const
  const edge = { ...EDGE, dataPlane: { haproxy, wireguard: fine, nftables: fine } }
  expect(brokenParts([edge])).toEqual([
    'HAProxy is missing: The program is not installed. Nothing is published over HTTP and HTTPS.',
  ])
  expect(platformState([edge]).kind).toBe('problem')
})

test('several edges are named, and one that never joined counts for nothing', () => {
  const haproxy = { state: 'failed', detail: 'It ended' } as const
  const far = { ...EDGE, id: 2, number: 2, name: 'frankfurt' }
  const broken = { ...far, dataPlane: { haproxy, wireguard: fine, nftables: fine } }
  expect(brokenParts([EDGE, broken])).toEqual([
    "At frankfurt: HAProxy isn't working: It ended. Nothing is published over HTTP and HTTPS there.",
  ])
  expect(platformState([EDGE, { ...far, problems: [problem], problemCount: 1 }]).details).toEqual([
    'At frankfurt: wiki: Port 443 is taken.',
  ])
  expect(
    platformState([
      { ...EDGE, wanted: 8, applied: 8 },
      { ...far, wanted: 8 },
    ]).details,
  ).toEqual(['frankfurt is applying the latest change.'])
  const place = { ...far, isJoined: false, connected: false, dataPlane: null }
  expect(brokenParts([{ ...broken, name: 'edge-1' }, place])[0]).toMatch(/^HAProxy isn't working/)
})

test('an edge that has not reported yet has no broken parts', () => {
  expect(brokenParts([{ ...EDGE, dataPlane: null }])).toEqual([])
})

const NONE = { nodeId: null, nodeName: null, type: null, lost: null, notAfter: null }
const ending: Attention = {
  ...{ ...NONE, id: 1, kind: 'certificate', tone: 'warn', name: 'a.example.com', problem: 'no luck' },
  notAfter: '2026-12-06T12:00:00.000Z',
}
const end = { id: 1, domain: 'a.example.com', notAfter: '2026-12-06T12:00:00.000Z', error: 'no luck' }
const unanswered: Attention = {
  ...NONE,
  id: 1,
  kind: 'service',
  tone: 'warn',
  name: 'wiki',
  problem: 'No answer',
}
const lost: Attention = {
  ...{ ...NONE, id: 1, kind: 'node', tone: 'bad', name: 'office', problem: null },
  lost: { lastSeen: 1, services: 2 },
}
const pageOf = (...data: Attention[]) => ({ data, total: data.length })
const words = "The certificate for a.example.com expires on 12/06/2026 and couldn't be renewed: no luck."

test('everything that needs a person is counted, whatever found it', () => {
  const state = platformState([EDGE])
  expect(withAttention(state, pageOf(), [])).toBe(state)
  expect(withAttention(state, { data: [lost, unanswered, ending], total: 12 }, [end])).toEqual({
    kind: 'problem',
    text: '12 problems',
    revision: null,
    details: [words, 'office: Its 2 services are unreachable.', 'wiki: No answer'],
    total: 12,
    isListed: true,
  })
  expect(withAttention(state, pageOf(unanswered), [])).toMatchObject({ kind: 'warning', text: '1 problem' })
  const reported = platformState([{ ...EDGE, problems: [problem], problemCount: 275 }])
  expect(withAttention(reported, pageOf(lost, unanswered), []).text).toBe('2 problems')
  const applying = platformState([{ ...EDGE, wanted: 8 }])
  expect(withAttention(applying, pageOf(lost), [])).toBe(applying)
})

test('certificates whose renewal fails are a warning, which hides no worse problem', () => {
  const state = platformState([EDGE])
  expect(withAttention(state, pageOf(ending), [end])).toEqual({
    kind: 'warning',
    text: '1 certificate expires soon',
    revision: null,
    details: [words],
    total: 1,
    isListed: true,
  })
  expect(withAttention(state, pageOf(ending, ending), [end, end]).text).toBe('2 certificates expire soon')
  const worse = platformState([])
  expect(withAttention(worse, pageOf(unanswered, ending), [end])).toEqual({
    ...worse,
    details: [...worse.details, words],
  })
})
