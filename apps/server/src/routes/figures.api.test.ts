import type { ServiceAnswers, ServiceCount } from '@postern/contract/edge/edge-messages'
import type { Figures, Traffic } from '@postern/contract/figures'
import { connectEdgeClient } from '@postern/testkit/edge-client'
import { letIn } from '@postern/testkit/people'
import { type Client, startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runUpkeep } from '../../test/upkeep.ts'
import { domainKey } from '../core/figures/keys.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.parse('2026-01-15T12:30:00Z')
const SPANS = ['hour', 'day', 'week', 'month'] as const

const server = shared(() => startTestServer({ now: START }))
const client = shared(() => server.signIn())
beforeAll(() => server.listenOnSocket())

const create = async (url: string, form: object): Promise<{ id: number }> =>
  (await client.post(url, form)).json()
const service = async (node: number, domain: string, pathLocation = '/') =>
  (
    await create(`/api/services/${node}/http`, {
      name: 's',
      backendPort: 80,
      domain,
      pathLocation,
      skipValidation: true,
    })
  ).id
const domainId = async (domain: string): Promise<number> =>
  (await client.get(`/api/domains?search=${domain}`)).json()[0].id

let ledgers = 0
/** Sends counts with answers, as an edge does, until they are stored. */
async function count(at: number, counts: ServiceCount[], answers?: ServiceAnswers[]): Promise<void> {
  const edge = await connectEdgeClient(server.context.config.paths)
  const ledger = `f${++ledgers}`
  const minute = Math.floor(at / MINUTE)
  edge.send({ type: 'counts', ledger, seq: 1, minute, counts, ...(answers && { answers }) })
  await until('the counts to be stored', () =>
    edge.hints.some((hint) => hint.type === 'counted' && hint.ledger === ledger),
  )
  edge.close()
}
const upkeep = () => runUpkeep(server)
const figures = async (path: string, query = ''): Promise<Figures> =>
  (await client.get(`/api/${path}${query && `?${query}`}`)).json()

describe('the figures of every kind', () => {
  const ids: Record<string, string> = {}

  beforeAll(async () => {
    const node = (await client.createNode({ name: 'counted' })).id
    const [first, second] = [await service(node, 'a.example.com'), await service(node, 'a.example.com', '/b')]
    const other = await service((await client.createNode({ name: 'other' })).id, 'b.example.com')
    Object.assign(ids, {
      service: `services/http/${first}/figures`,
      node: `nodes/${node}/figures`,
      domain: `domains/${await domainId('a.example.com')}/figures`,
      edge: 'edges/1/figures',
      all: 'figures',
    })
    const all: ServiceCount[] = [first, second, other].map((id) => [id, 10, 100, 1000])
    /** Ten answers of the first within 1 ms, of the second up to 50 ms, of the third up to 100 ms; an error each. */
    const answers: ServiceAnswers[] = [
      [first, 1, [10]],
      [second, 1, [0, 0, 0, 0, 0, 0, 0, 0, 0, 10]],
      [other, 1, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10]],
    ]
    await count(server.now - 10 * 24 * HOUR, all, answers)
    await count(server.now - 3 * 24 * HOUR, all, answers)
    await upkeep()
    await count(server.now - 3 * HOUR, all, answers)
    await upkeep()
    await count(server.now, all, answers)
  })

  /** How many services each has, and within what time half and 95 % of all its answers came. */
  const CASES = [
    ['service', 1, 0.5, 1],
    ['node', 2, 1, 48],
    ['domain', 2, 1, 48],
    ['edge', 3, 40, 95.5],
    ['all', 3, 40, 95.5],
  ] as const

  it.each(CASES)(
    '%s: exact sums, and the times of all answers together',
    async (kind, services, p50, p95) => {
      for (const [index, span] of SPANS.entries()) {
        const { whole, series } = await figures(ids[kind] ?? '', `span=${span}`)
        const times = (index + 1) * services
        const sums = { connections: 10 * times, received: 100 * times, sent: 1000 * times, errors: times }
        expect({ span, ...whole }).toEqual({ span, ...sums, p50, p95 })
        for (const name of ['connections', 'received', 'sent', 'errors'] as const)
          expect(series[name].reduce((sum, value) => sum + value, 0)).toBe(sums[name])
        expect(series.p95.filter((ms) => ms !== null)).toEqual(Array(index + 1).fill(p95))
        expect([series.p50.at(-1), series.errors.at(-1)]).toEqual([p50, services])
      }
    },
  )

  it.each([
    ['hour', '', 60, 60, '2026-01-15T11:31:00.000Z'],
    ['day', '', 60, 1440, '2026-01-14T12:31:00.000Z'],
    ['day', '144', 600, 144, '2026-01-14T12:40:00.000Z'],
    ['week', '', 3600, 168, '2026-01-08T13:00:00.000Z'],
    ['month', '', 3600, 720, '2025-12-16T13:00:00.000Z'],
    ['month', '240', 10_800, 240, '2025-12-16T15:00:00.000Z'],
    ['week', '1', 604_800, 1, '2026-01-15T00:00:00.000Z'],
  ])('a %s of %s points has steps of %d s', async (span, points, step, length, from) => {
    const answer = await figures('figures', `span=${span}${points && `&points=${points}`}`)
    expect([answer.step, answer.series.p50.length, answer.from]).toEqual([step, length, from])
  })

  it('say nothing of what does not exist', async () => {
    for (const path of ['domains/999/figures', 'edges/999/figures', 'nodes/999/figures'])
      expect((await client.get(`/api/${path}`)).statusCode).toBe(404)
  })

  it.each(['span=year', 'points=0', 'points=1441', 'points=x', 'step=60'])('refuse %s', async (query) => {
    for (const path of ['figures', 'edges/1/figures'])
      expect((await client.get(`/api/${path}?${query}`)).statusCode).toBe(422)
  })

  it('are for people who are signed in', async () => {
    for (const path of Object.values(ids))
      expect((await server.call({ url: `/api/${path}` })).statusCode).toBe(401)
  })
})

describe('answers', () => {
  it('come from no older edge, whose counts are stored as ever', async () => {
    const id = await service((await client.createNode({ name: 'former' })).id, 'former.example.com')
    await count(server.now, [[id, 1, 1, 1]])
    await count(server.now, [[id, 1, 1, 1]], [[id, 0, [1]]])
    await count(server.now, [[id, 1, 1, 1]])
    expect((await figures(`services/http/${id}/figures`)).whole).toMatchObject({ connections: 3, p50: 0.5 })
  })

  it.each([[[[1, -1, []]]], [[[1, 0, [0.5]]]], [[[1, 0, Array(25).fill(1)]]], [Array(501).fill([1, 0, []])]])(
    'that are not in the contract end the connection: %#',
    async (answers) => {
      const { socket } = await connectEdgeClient(server.context.config.paths)
      const closed = new Promise<number>((resolve) => socket.once('close', resolve))
      socket.send(JSON.stringify({ type: 'counts', ledger: 'l', seq: 1, minute: 1, counts: [], answers }))
      expect(await closed).toBe(1008)
    },
  )
})

it('the small lines of nodes, domains and edges come in one answer for a page', async () => {
  const node = (await client.createNode({ name: 'small' })).id
  const empty = (await client.createNode({ name: 'empty' })).id
  const id = await service(node, 'small.example.com')
  await count(server.now, [[id, 1, 20, 300]])
  const of = async (path: string): Promise<Traffic> => (await client.get(`/api/figures/${path}`)).json()
  const nodes = await of(`nodes?ids=${node},${empty}`)
  expect(nodes.data.map(({ id, received, sent, line }) => [id, received, sent, line.at(-1)])).toEqual([
    [node, 20, 300, 320],
    [empty, 0, 0, 0],
  ])
  const domain = await domainId('small.example.com')
  expect((await of(`domains?ids=${domain}`)).data[0]).toMatchObject({ id: domain, received: 20, sent: 300 })
  const [edge] = (await of('edges?ids=1')).data
  expect(edge?.line.at(-1)).toBeGreaterThanOrEqual(320)
})

it('a limited person sees at a shared domain what their own services carried', async () => {
  const server = await startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') })
  onTestFinished(() => server.close())
  const admin = await server.signIn()
  const [own, other] = [await admin.createNode({ name: 'own' }), await admin.createNode({ name: 'other' })]
  const { id: domain } = await admin.createDomain({
    ...{ domain: 'corp.example.com', ssl: 'self-signed', skipValidation: true },
  })
  const expose = async (node: number, pathLocation: string) =>
    (
      await admin.post(`/api/services/${node}/http`, {
        ...{ name: 's', domain: 'corp.example.com', pathLocation, backendPort: 80 },
      })
    ).json().id
  const [blog, pay] = [await expose(own.id, '/blog'), await expose(other.id, '/pay')]
  const minute = Math.floor(server.now / 60_000) - 1
  const carried = { minute, connections: 1, sent: 0, answers: null }
  await server.context.liveDb
    .insertInto('counts')
    .values([
      { ...carried, service: blog, received: 10 },
      { ...carried, service: pay, received: 4711 },
      { ...carried, service: domainKey(domain), received: 4721 },
    ])
    .execute()
  const { client } = await letIn(server, admin, {
    ...{ username: 'vi', role: 'viewer', reach: { nodes: [own.id], domains: [] } },
  })
  const read = async (by: Client) => [
    (await by.get(`/api/domains/${domain}/figures?span=hour`)).json().whole.received,
    (await by.get(`/api/figures/domains?ids=${domain}`)).json().data[0].received,
  ]
  expect(await read(admin)).toEqual([4721, 4721])
  expect(await read(client)).toEqual([10, 10])
})

it('the figures of a domain outlive its services, and are removed with it', async () => {
  const node = (await client.createNode({ name: 'outlived' })).id
  const id = await service(node, 'gone.example.com')
  const domain = await domainId('gone.example.com')
  await count(server.now - HOUR, [[id, 1, 1, 1]], [[id, 1, [1]]])
  await upkeep()
  await client.delete(`/api/services/${node}/http/${id}`)
  expect((await figures(`domains/${domain}/figures`)).whole).toMatchObject({
    connections: 1,
    errors: 1,
    p95: 1,
  })
  const rows = () => server.context.liveDb.selectFrom('minutes').select('service').execute()
  const before = (await rows()).length
  expect((await client.delete(`/api/domains/${domain}`)).statusCode).toBe(200)
  expect((await rows()).length).toBe(before - 1)
})
