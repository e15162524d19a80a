import { StateAnswer } from '@postern/contract/edge/desired-state'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { ALL_OK, connectEdgeClient, everywhere, fetchState } from '@postern/testkit/edge-client'
import {
  addEdgeMachine,
  askControl,
  type EdgeMachine,
  openEdgeSocket,
  startServerForEdges,
} from '@postern/testkit/edge-machine'
import { addPerson } from '@postern/testkit/people'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeEach, expect, it } from 'vitest'
import { PLACES } from '../../core/secrets/secrets.ts'

const PROVIDER = {
  POSTERN_OIDC_ISSUER: 'https://id.example.com',
  POSTERN_OIDC_CLIENT_ID: 'postern',
  POSTERN_OIDC_CLIENT_SECRET: 'hidden-secret',
}

const server = fresh(() => startServerForEdges({ settings: PROVIDER }))
const client = fresh(() => server.signIn())
let frankfurt: EdgeMachine
let vienna: EdgeMachine
let node: number

beforeEach(async () => {
  frankfurt = await addEdgeMachine(server, { name: 'Frankfurt' })
  vienna = await addEdgeMachine(server, { name: 'Vienna', servesConsole: true })
  node = (await client.createNode({ name: 'attic' })).id
})

const addDomain = (domain: string, more: object = {}) =>
  client.createDomain({ domain, ssl: 'self-signed', skipValidation: true, ...more })
const addService = async (domain: string) => {
  const form = { name: domain, domain, pathLocation: '/' }
  return (await client.post(`/api/services/${node}/http`, form)).json()
}
const stateAt = async (edge: EdgeMachine, known = {}) => {
  const answer = await askControl(server, edge, { path: endpoints.edgeState.path, body: { known } })
  return StateAnswer.parse(answer.json)
}

/** The private key of a domain's certificate. */
async function keyOf(domainId: number): Promise<string> {
  const { private_key } = await server.context.db
    .selectFrom('certificates')
    .select('private_key')
    .where('domain_id', '=', domainId)
    .executeTakeFirstOrThrow()
  return JSON.stringify(server.context.secrets.open(private_key ?? '', PLACES.certificate(domainId)))
}

it('gives routes, sign-in, challenges and keys of a domain to the edges that serve it, and no byte to others', async () => {
  const at = frankfurt.joined.edgeId
  const only = await addDomain('only.example.com', {
    edges: [at],
    authentication: true,
    allowedEmails: ['a@example.com'],
  })
  const all = await addDomain('all.example.com')
  expect([only.edges, all.edges]).toEqual([[at], null])
  await addService('only.example.com')
  await addService('all.example.com')
  const { revision } = await fetchState(server)
  await server.context.db
    .insertInto('challenges')
    .values({
      domain_id: only.id,
      token: 'tok',
      thumbprint: 'x'.repeat(43),
      revision: revision + 1,
      created_at: '',
      updated_at: '',
    })
    .execute()
  // Another change, so that the challenge's revision is there.
  await client.createNode({ name: 'cellar' })
  const has = await stateAt(frankfurt)
  expect(has.sections.routes.map(({ domain }) => domain)).toEqual(['only.example.com', 'all.example.com'])
  expect(has.sections.signIns).toHaveLength(1)
  expect(has.sections.challenges).toHaveLength(1)
  expect(JSON.stringify(has)).toContain(await keyOf(only.id))
  for (const other of [await stateAt(vienna), await fetchState(server)]) {
    const text = JSON.stringify(other)
    expect(text).toContain(await keyOf(all.id))
    for (const secret of [await keyOf(only.id), 'only.example.com', '"tok"'])
      expect(text).not.toContain(secret)
  }
})

it('moves a domain from edge to edge with one change, and tells each only what is another', async () => {
  const { id } = await addDomain('app.example.com', { edges: [frankfurt.joined.edgeId] })
  await addService('app.example.com')
  const before = { frankfurt: await stateAt(frankfurt), vienna: await stateAt(vienna) }
  const moved = await client.patch(`/api/domains/${id}`, { edges: [vienna.joined.edgeId] })
  expect(moved.json().edges).toEqual([vienna.joined.edgeId])
  const gone = await stateAt(frankfurt, before.frankfurt.hashes)
  expect(gone.sections.routes).toEqual([])
  expect(Object.keys(gone.hashes)).not.toContain('routes:0')
  const come = await stateAt(vienna, before.vienna.hashes)
  expect(come.sections.routes.map(({ domain }) => domain)).toContain('app.example.com')
  expect(come.sections.settings).toBeUndefined()
  await client.patch(`/api/domains/${id}`, { edges: null })
  expect(JSON.stringify(await stateAt(frankfurt))).toContain(await keyOf(id))
})

it('refuses edges that do not exist, none at all, and a choice of people who see only a part', async () => {
  const { id } = await addDomain('app.example.com')
  const errorsOf = async (edges: unknown, by = client) =>
    (await by.patch(`/api/domains/${id}`, { edges })).json().errors
  expect(await errorsOf([99])).toEqual([{ field: 'edges.0', message: 'There is no such edge.' }])
  expect((await errorsOf([]))[0].field).toBe('edges')
  const limited = await addPerson(server, 'limited', 'editor', { nodes: [node], domains: [id] })
  const as = server.as(limited.token)
  expect((await errorsOf([frankfurt.joined.edgeId], as))[0].field).toBe('edges')
  expect(await errorsOf(null, as)).toBeUndefined()
})

it('removes no edge that alone serves a domain; others forget it', async () => {
  const [f, v] = [frankfurt.joined.edgeId, vienna.joined.edgeId]
  const only = await addDomain('only.example.com', { edges: [f] })
  const both = await addDomain('both.example.com', { edges: [v, f] })
  const refused = await client.delete(`/api/edges/${f}`)
  expect([refused.statusCode, refused.json().message]).toEqual([
    409,
    'No other edge serves “only.example.com”. Choose other edges for it first.',
  ])
  await client.patch(`/api/domains/${only.id}`, { edges: null })
  expect((await client.delete(`/api/edges/${f}`)).statusCode).toBe(200)
  expect((await client.get(`/api/domains/${both.id}`)).json().edges).toEqual([v])
})

it('takes the choice of edges back', async () => {
  const { id } = await addDomain('app.example.com')
  await client.patch(`/api/domains/${id}`, { edges: [frankfurt.joined.edgeId] })
  const [{ revision }] = (await client.get('/api/history?limit=1')).json().data
  expect((await client.post(`/api/history/${revision}/undo`)).statusCode).toBe(200)
  expect((await client.get(`/api/domains/${id}`)).json().edges).toBeNull()
})

it('judges a service by the edges that serve it alone', async () => {
  await server.listenOnSocket()
  const local = await connectEdgeClient(server.context.config.paths)
  local.report(1000)
  await addDomain('app.example.com', { edges: [frankfurt.joined.edgeId] })
  const { id } = await addService('app.example.com')
  const state = async () => (await client.get(`/api/services/${node}/http/${id}`)).json().state
  expect(await state()).toMatchObject({ problem: 'No edge is connected' })
  const socket = await openEdgeSocket(server, frankfurt)
  socket.send(JSON.stringify({ type: 'hello', version: '0.1.0', epoch: 'far' }))
  const report = { wanted: 1000, applied: 1000, inForce: everywhere(1000), problems: [], dataPlane: ALL_OK }
  socket.send(JSON.stringify({ type: 'report', report }))
  await until('the report', async () => (await state()).problem !== 'No edge is connected')
  expect((await state()).phase).toBe('node-offline')
  local.close()
  socket.terminate()
})
