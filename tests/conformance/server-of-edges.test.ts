import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { routesSectionOf, StateAnswer } from '@postern/contract/edge/desired-state'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import { callApi } from '@postern/testkit/api'
import { connectEdgeClient, type EdgeClient, edgeToken } from '@postern/testkit/edge-client'
import { followStream } from '@postern/testkit/event-stream'
import { startFakeServer } from '@postern/testkit/fakes/fake-server'
import { makeKept } from '@postern/testkit/kept-requests'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { makePeer, makeRoute, makeState } from '../../apps/edge/test/factories.ts'

/** What an edge may expect of its server: the real one and the double of the edge's tests pass the same tests. */
interface Subject {
  paths: InstallationPaths
  /** The id of a service that it has. */
  service: number
  /** Changes that service, for the `n`th time. */
  change(n: number): Promise<void>
  /** Starts watching the log lines of the service. */
  watch(): Promise<void>
  /** Somebody looks for kept requests. @returns how many there are for them */
  search(): Promise<number>
  /** What the edge last reported as applied. */
  applied(): Promise<number | undefined>
  close(): Promise<void>
}

describe.each([
  ['the real server', startReal],
  ['the fake server', startFake],
])('%s', (_, startSubject) => {
  const clients: EdgeClient[] = []
  const subject = shared(startSubject)
  afterEach(() => {
    for (const client of clients.splice(0)) client.close()
  })

  const connect = async () => {
    const client = await connectEdgeClient(subject.paths)
    clients.push(client)
    return client
  }
  const ask = (body: unknown, token = edgeToken(subject.paths)) =>
    callApi(subject.paths.serverSocket, token, 'POST', endpoints.edgeState.path, body)
  const fetchState = async (known = {}) => StateAnswer.parse((await ask({ known })).json)
  const revisions = ({ hints }: EdgeClient) =>
    hints.flatMap((hint) => (hint.type === 'changed' ? hint.revision : []))

  test('gives the whole state to an edge that has nothing', async () => {
    const { hashes, sections } = await fetchState()
    expect(hashes).toHaveProperty('settings')
    expect(hashes).toHaveProperty(routesSectionOf(subject.service))
    expect(sections.settings).toBeDefined()
    expect(sections.routes.map(({ id }) => id)).toContain(subject.service)
  })

  test('gives nothing to an edge that has all of it', async () => {
    const { hashes, revision } = await fetchState()
    const { sections, ...marks } = await fetchState(hashes)
    expect(marks).toEqual({ revision, hashes })
    expect(Object.values(sections).flat()).toEqual([])
  })

  test('gives the section that changed, under another hash and a newer revision', async () => {
    const before = await fetchState()
    await subject.change(1)
    const after = await fetchState(before.hashes)
    const section = routesSectionOf(subject.service)
    expect(after.revision).toBeGreaterThan(before.revision)
    expect(after.hashes).toEqual({ ...before.hashes, [section]: after.hashes[section] })
    expect(after.hashes[section]).not.toBe(before.hashes[section])
    expect(after.sections.settings).toBeUndefined()
    expect(after.sections.routes.map(({ id }) => id)).toContain(subject.service)
  })

  test('refuses a wrong token, at both endpoints', async () => {
    const [path, token] = [endpoints.edgeSocket.path, 'x'.repeat(43)]
    expect((await ask({ known: {} }, token)).status).toBe(401)
    const headers = { authorization: `Bearer ${token}` }
    const socket = new WebSocket(`ws+unix:${subject.paths.serverSocket}:${path}`, { headers })
    const [error] = await once(socket, 'error')
    expect(String(error)).toContain('401')
  })

  test.each([{}, { known: { settings: 5 } }, { known: {}, more: 1 }])(
    'refuses to be asked %j',
    async (body) => {
      expect((await ask(body)).status).toBe(422)
    },
  )

  test('tells a connecting edge the newest revision, and which services are watched', async () => {
    const edge = await connect()
    const { revision } = await fetchState()
    await until('both hints', () => edge.hints.length >= 2)
    expect(revisions(edge)).toEqual([revision])
    expect(edge.hints.map(({ type }) => type).sort()).toEqual(['changed', 'watch'])
  })

  test('hints at a change that is already in the state', async () => {
    const edge = await connect()
    await until('the welcome', () => revisions(edge).length === 1)
    const [before = 0] = revisions(edge)
    await subject.change(2)
    const hinted = await until('the hint', () => revisions(edge).find((revision) => revision > before))
    expect((await fetchState()).revision).toBeGreaterThanOrEqual(hinted)
  })

  test('says which service is watched', async () => {
    const edge = await connect()
    await subject.watch()
    await until('the hint', () =>
      edge.hints.some((hint) => hint.type === 'watch' && hint.services.includes(subject.service)),
    )
  })

  test('asks for kept requests, and takes the answer', async () => {
    const edge = await connect()
    const searching = subject.search()
    const search = await until('the search', () => edge.hints.find((hint) => hint.type === 'search'))
    if (search.type !== 'search') throw new Error('not a search')
    const { ask, limit, filter, before } = search
    expect([before, filter.services, limit > 1]).toEqual([null, null, true])
    const found = [{ ...makeKept(), place: '1-0' }]
    edge.send({ type: 'found', ask: ask + 1, found: [], next: null, reached: null, newest: null })
    edge.send({ type: 'found', ask, found, next: null, reached: 1, newest: '1-1' })
    expect(await searching).toBe(1)
  })

  test('receives what an edge reports', async () => {
    const edge = await connect()
    edge.report(4711)
    await until('the report', async () => (await subject.applied()) === 4711)
  })

  test('closes the connection when the edge opens a newer one, and reads that one', async () => {
    const first = await connect()
    const closed = once(first.socket, 'close')
    const second = await connect()
    expect((await closed)[0]).toBe(1000)
    second.report(4712)
    await until('the report', async () => (await subject.applied()) === 4712)
  })

  test('confirms the counts that it has stored, also those that it already had', async () => {
    const edge = await connect()
    const counted = () => edge.hints.filter(({ type }) => type === 'counted')
    const counts = { type: 'counts', ledger: 'l1', minute: 1 } as const
    for (const [index, seq] of [1, 2, 2].entries()) {
      edge.send({ ...counts, counts: [[subject.service, 1, 2, 3]], seq })
      await until('the answer', () => counted().length === index + 1)
      expect(counted().at(-1)).toEqual({ type: 'counted', ledger: 'l1', seq })
    }
  })

  test.each(['no json', '[]', '{"type":"report","report":{"wanted":"1"}}'])(
    'ends a connection that says %j',
    async (frame) => {
      const edge = await connect()
      const closed = once(edge.socket, 'close')
      edge.socket.send(frame)
      expect((await closed)[0]).toBe(1008)
    },
  )
})

async function startReal(): Promise<Subject> {
  const server = await startTestServer()
  const origin = await server.listen()
  await server.listenOnSocket()
  const client = await server.signIn()
  const node = (await client.post('/api/nodes', { name: 'site' })).json().id
  const services = `/api/services/${node}/http`
  const form = { name: 's', domain: 's.example.com', skipValidation: true }
  const service = (await client.post(services, form)).json().id
  const streams: { close(): void }[] = []
  return {
    paths: server.context.config.paths,
    service,
    async change(n) {
      await client.patch(`${services}/${service}`, { backendPort: 8000 + n })
    },
    async watch() {
      const query = `type=http&id=${service}&token=${client.token}`
      streams.push(await followStream(`${origin}/api/logs/stream?${query}`))
    },
    search: async () => (await client.get('/api/requests')).json().data.length,
    applied: async () => (await client.get('/api/edges')).json()[0].applied,
    async close() {
      for (const stream of streams) stream.close()
      await server.close()
    },
  }
}

async function startFake(): Promise<Subject> {
  const dir = tempDir()
  const paths = installationPaths(dir)
  mkdirSync(paths.runDir)
  const routes = [makeRoute(1), makeRoute(500)]
  const fake = await startFakeServer(paths, makeState({ peers: [makePeer(1)], routes }))
  return {
    paths,
    service: 1,
    async change(n) {
      const hashes = { ...fake.state.hashes, [routesSectionOf(1)]: `changed ${n}` }
      fake.state = { ...fake.state, revision: fake.state.revision + 1, hashes }
      fake.hint({ type: 'changed', revision: fake.state.revision })
    },
    watch: async () => fake.hint({ type: 'watch', services: [1] }),
    async search() {
      const filter = { from: null, to: null, services: null, type: null, status: null, method: null }
      const rest = { source: null, path: null, person: null, reason: null, minTotal: null }
      const places = { before: null, after: null }
      fake.hint({ type: 'search', ask: 1, filter: { ...filter, ...rest }, limit: 50, ...places })
      const answer = await until('the answer', () =>
        fake.messages.find((message) => message.type === 'found' && message.ask === 1),
      )
      return answer.type === 'found' ? answer.found.length : 0
    },
    applied: async () =>
      fake.messages.flatMap((message) => (message.type === 'report' ? message.report.applied : [])).at(-1),
    async close() {
      await fake.close()
    },
  }
}
