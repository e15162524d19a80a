import { routesSectionOf } from '@postern/contract/edge/desired-state'
import type { EdgeMessage } from '@postern/contract/edge/edge-messages'
import type { KeptRequest } from '@postern/contract/requests/kept'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { type FakeServer, startFakeServer } from '@postern/testkit/fakes/fake-server'
import { makeKept } from '@postern/testkit/kept-requests'
import { findFreePort } from '@postern/testkit/port'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makePeer, makeRoute, makeState } from '../../apps/edge/test/factories.ts'
import { startLab } from '../../apps/edge/test/lab.ts'
import { pathsIn, startEdge } from '../../apps/edge/test/start-edge.ts'

/** What a server may expect of an edge: the real one and the double of the console's tests pass the same tests. */
interface Subject {
  log(service: number, text: string): void
  /** A visitor found that the service's backend refuses connections, or that it answers. */
  visit(service: number, result: 'refused' | 'answered'): void
  /** Makes the edge fail to apply this service. */
  spoil(service: number): Promise<void>
  /** It has counted what a service carried: 2 connections, 30 bytes in, 400 out. */
  count(service: number): Promise<void>
  /** Requests to the service end. */
  end(requests: readonly KeptRequest[]): void
  /** It has looked at its tunnel. */
  look(node: number): void
  close(): Promise<void>
}

const NODE = 1
const SERVICE = 1

let server: FakeServer
const lab = shared(startLab)
beforeEach(async () => {
  const backend = { proto: 'http' as const, host: '127.0.0.1', port: await findFreePort() }
  const routes = [makeRoute(SERVICE, { node: { kind: 'local' }, backend }), makeRoute(2)]
  server = await startFakeServer(pathsIn(lab), makeState({ peers: [makePeer(NODE)], routes }))
})
afterEach(() => server.close())

const said = <T extends EdgeMessage['type']>(type: T) =>
  server.messages.filter((message): message is Extract<EdgeMessage, { type: T }> => message.type === type)
const reports = () => said('report').map(({ report }) => report)
const untilApplied = (revision: number) =>
  until('the report', () => reports().find(({ applied }) => applied === revision))
/** The reports on backends that were checked. */
const backends = () =>
  said('backends')
    .flatMap((message) => message.backends)
    .filter(({ trouble }) => trouble !== 'unchecked')
const lines = () => said('logs').flatMap((message) => message.lines)

describe.each([
  ['the real edge', startReal],
  ['the fake edge', startFake],
])('%s', (_, startSubject) => {
  let subject: Subject
  beforeEach(async () => {
    subject = await startSubject()
    await untilApplied(7)
  })
  afterEach(() => subject.close())

  test('says hello first, and then what it has applied', async () => {
    expect(server.messages[0]).toMatchObject({ type: 'hello', version: '0.1.0' })
    expect(said('hello')).toHaveLength(1)
    expect(reports().at(-1)).toMatchObject({ wanted: 7, applied: 7, problems: [] })
  })

  test('has another epoch after a restart', async () => {
    await subject.close()
    subject = await startSubject()
    await until('the other hello', () => said('hello').length === 2)
    const [first, second] = said('hello')
    expect(first?.epoch).not.toBe(second?.epoch)
  })

  test('fetches the revision that a hint names, and reports it', async () => {
    const hashes = { ...server.state.hashes, [routesSectionOf(SERVICE)]: 'another' }
    server.state = { ...server.state, revision: 8, hashes }
    server.hint({ type: 'changed', revision: 8 })
    expect(await untilApplied(8)).toMatchObject({ wanted: 8, problems: [] })
  })

  test('names the service that it cannot apply, and applies the rest', async () => {
    await subject.spoil(2)
    const report = await until('the problem', () => reports().find(({ problems }) => problems.length > 0))
    expect(report.applied).toBe(report.wanted)
    expect(report.problems).toEqual([{ scope: { kind: 'service', id: 2 }, message: expect.any(String) }])
  })

  test('replaces earlier reports with its first report on backends', async () => {
    const [first] = await until('the first words', () => said('backends').length > 0 && said('backends'))
    expect(first?.isFirst).toBe(true)
    // None has been checked yet.
    expect(first?.backends.filter(({ trouble }) => trouble !== 'unchecked')).toEqual([])
  })

  test('reports what is wrong with a backend, and when it answers', async () => {
    subject.visit(SERVICE, 'refused')
    await until('the trouble', () => backends().length === 1)
    subject.visit(SERVICE, 'answered')
    await until('the recovery', () => backends().length === 2)
    expect(backends()).toEqual([
      { service: SERVICE, trouble: 'refused' },
      { service: SERVICE, trouble: null },
    ])
    expect(said('backends').filter(({ isFirst }) => isFirst)).toHaveLength(1)
  })

  test('reports the figures of a node that never connected', async () => {
    subject.look(NODE)
    const never = { nodeId: NODE, latestHandshake: null, rx: 0, tx: 0, clientIp: null, reachable: false }
    await until('the figures', () => said('peers').some(({ peers }) => peers.length > 0))
    expect(said('peers').at(-1)?.peers).toEqual([never])
  })

  test('says once it is connected how it is', async () => {
    const [first] = await until('it', () => said('vitals').length > 0 && said('vitals'))
    expect(first?.vitals.process.residentBytes).toBeGreaterThan(1e6)
    expect(first?.vitals.process.openFiles).toBeGreaterThan(0)
    expect(first?.vitals.disk?.free).toBeGreaterThan(0)
    expect(first?.vitals.disk?.total).toBeGreaterThan(first?.vitals.disk?.free ?? 0)
    // On the machine of a test, nobody may have looked.
    expect(first?.vitals.updates ?? []).toBeInstanceOf(Array)
    expect(first?.vitals.eventLoop.p99).toBeGreaterThanOrEqual(first?.vitals.eventLoop.median ?? 0)
  })

  test('sends its counts, the next only once the server has stored the previous one', async () => {
    server.stores = false
    await subject.count(SERVICE)
    const [first] = await until('the counts', () => said('counts').length > 0 && said('counts'))
    expect(first).toMatchObject({ seq: 1, counts: [[SERVICE, 2, 30, 400]] })
    await subject.count(2)
    subject.log(SERVICE, 'later')
    server.hint({ type: 'watch', services: [SERVICE] })
    await until('what it says later', () => lines().length === 1)
    expect(said('counts')).toEqual([first])
    server.hint({ type: 'counted', ledger: first?.ledger ?? '', seq: 1 })
    await until('the next', () => said('counts').length === 2)
    expect(said('counts')[1]).toMatchObject({ ledger: first?.ledger, seq: 2, counts: [[2, 2, 30, 400]] })
  })

  test('says that it can trace, and answers what it sees of an address, the end last', async () => {
    expect(said('hello')[0]?.can).toEqual(['trace'])
    const question = { kind: 'http', host: 'nobody.example.com', path: '/', isPlain: false } as const
    server.hint({ type: 'trace', id: 5, ms: 2000, question, visitor: null, node: null })
    const sights = () => said('traced').map(({ id, sight }) => [id, sight.step])
    await until('the end', () => sights().at(-1)?.[1] === 'end')
    expect(sights()[0]).toEqual([5, 'port'])
    expect(said('traced').at(-1)?.sight).toEqual({ step: 'end', problem: null })
  })

  test('finds what it keeps, the newest first and page by page, and answers each search once', async () => {
    subject.end([1, 2, 3].map((n) => makeKept({ at: 1000 + n, path: `/${n}` })))
    subject.end([makeKept({ at: 2000, service: 2, path: '/other' })])
    const filter = { from: null, to: null, services: [SERVICE], type: null, status: null, method: null }
    const rest = { source: null, path: null, person: null, reason: null, minTotal: null }
    const ask = async (number: number, before: string | null, after: string | null = null) => {
      const search = { ask: number, filter: { ...filter, ...rest }, limit: 2, before, after }
      server.hint({ type: 'search', ...search })
      return await until('the answer', () => said('found').find((message) => message.ask === number))
    }
    const first = await ask(1, null)
    expect(first.found.map(({ path }) => path)).toEqual(['/3', '/2'])
    const second = await ask(2, first.next)
    expect(second).toMatchObject({ found: [{ path: '/1', at: 1001, source: '203.0.113.5' }], next: null })
    subject.end([makeKept({ path: '/4' })])
    const third = await ask(3, null, first.newest)
    expect(third.found.map(({ path }) => path)).toEqual(['/4'])
    server.hint({ type: 'forget', ask: 4 })
    expect(said('found').map(({ ask }) => ask)).toEqual([1, 2, 3])
  })

  test('sends log lines of who is watched: first what it kept, then what comes', async () => {
    subject.log(SERVICE, 'kept')
    subject.log(2, 'of another')
    server.hint({ type: 'watch', services: [SERVICE] })
    await until('the line that was kept', () => lines().length === 1)
    subject.log(SERVICE, 'live')
    await until('the live line', () => lines().length === 2)
    server.hint({ type: 'watch', services: [SERVICE, 2] })
    await until('the line of the other', () => lines().length === 3)
    expect(lines()).toEqual([
      { service: SERVICE, seq: 1, number: 1, text: 'kept' },
      { service: SERVICE, seq: 3, number: 2, text: 'live' },
      { service: 2, seq: 2, number: 1, text: 'of another' },
    ])
  })
})

async function startReal(): Promise<Subject> {
  const { edge, log, haproxy } = await startEdge(lab)
  return {
    log,
    visit: (service, result) => log(service, result, result === 'refused' ? 'failed' : 'answered'),
    async spoil(service) {
      const routes = server.state.routes.map((route) =>
        route.id === service
          ? makeRoute(service, {
              node: { kind: 'local' },
              backend: { proto: 'http', host: '127.0.0.1', port: 3000 },
            })
          : route,
      )
      const hashes = { ...server.state.hashes, [routesSectionOf(service)]: 'spoiled' }
      server.state = { ...server.state, revision: 8, routes, hashes }
      server.hint({ type: 'changed', revision: 8 })
    },
    async count(service) {
      const before = haproxy.counted?.counts ?? new Map()
      haproxy.counted = { source: 'haproxy', counts: new Map([...before, [service, [2, 30, 400]]]) }
      await edge.count()
    },
    end(requests) {
      for (const kept of requests)
        haproxy.logs.emit('line', { service: kept.service, text: '', sign: null, kept })
    },
    look: () => undefined,
    close: () => edge.close(),
  }
}

async function startFake(): Promise<Subject> {
  const edge = await connectFakeEdge(pathsIn(lab))
  return {
    log: edge.log,
    visit: (service, result) => edge.sendTrouble(service, result === 'refused' ? result : null),
    spoil: (id) => edge.setProblems([{ scope: { kind: 'service', id }, message: 'It cannot be made.' }]),
    count: async (service) => edge.sendCounts([[service, 2, 30, 400]]),
    end: edge.keep,
    look: (nodeId) =>
      edge.sendPeers([{ nodeId, latestHandshake: null, rx: 0, tx: 0, clientIp: null, reachable: false }]),
    close: async () => edge.close(),
  }
}
