import type { Domain } from '@postern/contract/domains'
import { type Attention, Overview } from '@postern/contract/overview'
import { ServiceState } from '@postern/contract/services/services'
import { connectEdgeClient, type EdgeClient, onlinePeer } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let edge: EdgeClient
let applied = 0

const NODES = ['attic', 'barn', 'cellar', 'deck']
const nodeIds: number[] = []
const serviceIds: number[] = []

const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(async () => {
  await server.listenOnSocket()
  edge = await connectEdgeClient(server.context.config.paths)
  for (const name of NODES) nodeIds.push((await client.post('/api/nodes', { name })).json().id)
  for (const [index, nodeId] of [1, ...nodeIds, ...nodeIds].entries()) {
    const host = nodeId === 1 ? { backendHost: '127.0.0.1' } : {}
    const form = { name: `s${index}`, pathLocation: `/s${index}`, ...host }
    serviceIds.push((await client.post(`/api/services/${nodeId}/http`, form)).json().id)
  }
  for (const nodeId of nodeIds.slice(0, 2)) {
    const form = { name: `u${nodeId}`, proto: 'udp', backendPort: 53 }
    serviceIds.push((await client.post(`/api/services/${nodeId}/tcp`, form)).json().id)
  }
  applied = await newest()
})
afterAll(() => edge.close())

const read = async () => Overview.parse((await client.get('/api/overview')).json())
/** Everything that needs a person. */
const readAttention = async (query = ''): Promise<Attention[]> =>
  (await client.get(`/api/overview/attention${query}`)).json()
const newest = async () => (await read()).changes[0]?.revision ?? 0
const listServices = async (): Promise<{ enabled: boolean; system: boolean; state: ServiceState }[]> =>
  (
    await Promise.all(['http', 'tcp'].map(async (type) => (await client.get(`/api/services/${type}`)).json()))
  ).flat()

/** The same numbers, counted row by row. */
async function countRows() {
  const rows = (await listServices()).filter(({ system }) => !system)
  const phases = ServiceState.shape.phase.options.map((phase) => [
    phase,
    rows.filter(({ enabled, state }) => enabled && state.phase === phase).length,
  ])
  return {
    services: Object.fromEntries(phases),
    disabledServices: rows.filter(({ enabled }) => !enabled).length,
  }
}

describe('the numbers', () => {
  it('equal those of the rows, whatever the edge reports and whichever nodes are online', async () => {
    // They were online once, which a new tunnel does not undo.
    const seen = new Set<number>()
    const some = (ids: () => number[]) =>
      fc.uniqueArray(fc.nat({ max: 8 })).map((picks) => picks.flatMap((pick) => ids()[pick] ?? []))
    const behind = fc.constantFrom(0, 0, 1, 3, 9)
    const part = fc.constantFrom('ok' as const, 'ok' as const, 'ok' as const, 'failed' as const)
    const scenario = fc.record({
      lags: fc.record({ haproxy: behind, wireguard: behind, nftables: behind }),
      parts: fc.record({ haproxy: part, wireguard: part, nftables: part }),
      failed: some(() => serviceIds),
      failedNodes: some(() => nodeIds),
      unanswered: some(() => serviceIds),
      unchecked: some(() => serviceIds),
      online: some(() => nodeIds),
    })
    await fc.assert(
      fc.asyncProperty(
        scenario,
        async ({ lags, parts, failed, failedNodes, unanswered, unchecked, online }) => {
          const problems = [
            ...failed.map((id) => ({ scope: { kind: 'service' as const, id }, message: 'broken' })),
            ...failedNodes.map((id) => ({ scope: { kind: 'node' as const, id }, message: 'lost' })),
          ]
          const refused = unanswered.map((service) => ({ service, trouble: 'refused' as const }))
          const backends = [
            ...unchecked.map((service) => ({ service, trouble: 'unchecked' as const })),
            ...refused,
          ]
          const gone = { latestHandshake: null, reachable: false }
          server.context.live.update(
            1,
            nodeIds.map((id) => ({ ...onlinePeer(id), ...(online.includes(id) ? {} : gone) })),
          )
          edge.send({ type: 'backends', isFirst: true, backends })
          const partOf = (name: keyof typeof parts) => ({ state: parts[name], detail: name })
          const dataPlane = {
            haproxy: partOf('haproxy'),
            wireguard: partOf('wireguard'),
            nftables: partOf('nftables'),
          }
          const inForce = {
            haproxy: applied - lags.haproxy,
            wireguard: applied - lags.wireguard,
            nftables: applied - lags.nftables,
          }
          edge.report(Math.min(...Object.values(inForce)), { inForce, problems, dataPlane })
          const told = JSON.stringify([problems, dataPlane, inForce])
          await until('the report', () => {
            const view = server.context.edges.views()[0]
            return told === JSON.stringify([view?.problems, view?.dataPlane, view?.inForce])
          })
          const { services, disabledServices, nodes } = await read()
          expect({ services, disabledServices }).toEqual(await countRows())
          for (const id of online) seen.add(id)
          const away = { idle: seen.size - online.length, neverConnected: NODES.length - seen.size }
          expect(nodes).toMatchObject({ online: online.length, ...away })
        },
      ),
      { numRuns: 40 },
    )
  })

  it('count disabled services and disconnected nodes separately, and name what is in trouble', async () => {
    server.context.live.update(1, nodeIds.map(onlinePeer))
    edge.send({ type: 'backends', isFirst: true, backends: [{ service: 3, trouble: 'refused' }] })
    await client.patch(`/api/nodes/${nodeIds[0]}/disable`)
    await client.patch(`/api/services/${nodeIds[1]}/http/${serviceIds[2]}/disable`)
    const scope = { kind: 'service' as const, id: serviceIds[3] ?? 0 }
    edge.report(await newest(), { problems: [{ scope, message: 'No such host' }] })
    await until('the report', () => server.context.edges.views()[0]?.problems[0]?.message === 'No such host')
    const { services, disabledServices, nodes } = await read()
    expect({ services, disabledServices }).toEqual(await countRows())
    expect(disabledServices).toBe(1)
    expect(services['node-disconnected']).toBe(3)
    expect(nodes).toEqual({ online: 3, idle: 0, offline: 0, neverConnected: 0, disconnected: 1 })
    expect((await readAttention())[0]).toMatchObject({
      ...{ kind: 'service', tone: 'bad', nodeName: 'cellar' },
      problem: 'No such host',
    })
  })

  it('name the nodes that were lost, those with the most services first', async () => {
    const lastSeen = Date.now() - 600_000
    server.context.live.update(
      1,
      nodeIds.map((id) => ({ ...onlinePeer(id), latestHandshake: lastSeen })),
    )
    // The first was disconnected by a person.
    const lost = await readAttention('?type=node')
    expect(lost.map(({ name, lost }) => [name, lost?.services])).toEqual([
      ['barn', 2],
      ['cellar', 2],
      ['deck', 2],
    ])
    expect(lost[0]).toMatchObject({ nodeId: nodeIds[1], lost: { lastSeen } })
    // As after a reboot, before the tunnel has seen any of them.
    const none = { latestHandshake: null, rx: 0, tx: 0, clientIp: null, reachable: false }
    server.context.live.update(
      1,
      nodeIds.map((nodeId) => ({ nodeId, ...none })),
    )
    expect((await readAttention('?type=node'))[0]).toMatchObject({ nodeId: nodeIds[1], lost: { lastSeen } })
    expect((await read()).nodes).toMatchObject({ offline: 3, neverConnected: 0 })
    const [node] = (await client.get('/api/nodes?search=barn')).json()
    expect(node).toMatchObject({
      status: 'offline',
      latestHandshakeTimestamp: lastSeen,
      clientIp: '203.0.113.7',
    })
    server.context.live.update(1, nodeIds.map(onlinePeer))
    expect(await readAttention('?type=node')).toEqual([])
  })
})

describe('the last changes', () => {
  it('show who did what to which thing, and where it is, newest first', async () => {
    await client.post('/api/domains', { domain: 'wiki.example.com', skipValidation: true })
    const domain = (await client.get('/api/domains')).json()[0]
    const [first, second] = (await read()).changes
    expect(first).toMatchObject({ actor: 'admin', what: 'domain created', name: 'wiki.example.com' })
    expect(first).toMatchObject({ domain: 'wiki.example.com', nodeId: null })
    expect(second).toMatchObject({ what: 'service disabled', name: 's2', nodeId: nodeIds[1], domain: null })
    await client.delete(`/api/domains/${domain.id}`)
    expect((await read()).changes[0]).toMatchObject({
      ...{ what: 'domain deleted', name: 'wiki.example.com' },
      domain: null,
    })
  })

  it('are eight at most, and have no link when the node is deleted', async () => {
    const { id } = (await client.post('/api/nodes', { name: 'eaves' })).json()
    const token = (await client.post(`/api/nodes/${id}/pats`, { name: 'ci' })).json()
    await client.patch(`/api/nodes/${id}/pats/${token.id}/revoke`)
    await client.delete(`/api/nodes/${id}`)
    const { changes } = await read()
    expect(changes).toHaveLength(8)
    expect(changes.slice(0, 4).map(({ what, name, nodeId }) => ({ what, name, nodeId }))).toEqual([
      { what: 'node deleted', name: 'eaves', nodeId: null },
      { what: 'access token revoked', name: 'ci', nodeId: null },
      { what: 'access token created', name: 'ci', nodeId: null },
      { what: 'node created', name: 'eaves', nodeId: null },
    ])
  })
})

it('lists everything that needs a person page by page, worst first, and can be searched', async () => {
  server.context.live.update(1, nodeIds.map(onlinePeer))
  // The one between them was disabled before, and is no problem.
  const named = [serviceIds[1], serviceIds[3], serviceIds[4]].map((id) => id ?? 0)
  const problems = [
    ...named.map((id) => ({ scope: { kind: 'service' as const, id }, message: `No host for ${id}` })),
    { scope: { kind: 'node' as const, id: nodeIds[2] ?? 0 }, message: 'Two nodes have this key' },
    { scope: { kind: 'edge' as const }, message: 'The disk is full' },
    ...Array.from({ length: 30 }, () => ({ scope: { kind: 'edge' as const }, message: 'The disk is full' })),
  ]
  edge.report(await newest(), { problems })
  await until('the report', () => server.context.edges.views()[0]?.problems.length === problems.length)
  const all = await readAttention()
  const own = { kind: 'edge', name: 'Local', problem: 'The disk is full' }
  expect(all.slice(0, 32)).toMatchObject([...Array.from({ length: 31 }, () => own), { kind: 'node' }])
  expect(all.filter(({ kind }) => kind === 'node')).toMatchObject([{ name: 'cellar', nodeId: nodeIds[2] }])
  const services = all.filter(({ kind }) => kind === 'service').map(({ problem }) => problem)
  expect(services).toEqual(expect.arrayContaining(named.map((id) => `No host for ${id}`)))
  const page = (await client.get('/api/overview/attention?type=service&limit=2&page=2')).json()
  expect(page).toMatchObject({ page: 2, limit: 2, total: services.length })
  expect(page.data[0]).toMatchObject({ id: 3, type: 'http' })
  expect(await readAttention('?search=NO+HOST')).toHaveLength(named.length)
  // The sidebar's request, from every page at every change, stays small.
  const [told] = (await client.get('/api/edges')).json()
  expect(told).toMatchObject({ problemCount: problems.length })
  expect(told.problems).toHaveLength(20)
  await edge.report(await newest(), { problems: problems.slice(0, 1) })
  await until('the report', () => server.context.edges.views()[0]?.problems.length === 1)
  expect((await client.get('/api/edges')).json()[0].problems[0]).toMatchObject({ name: 's1' })
})

it("lists the server's own problem, even while the edge is disconnected", async () => {
  const problem = 'port 3000 of 127.0.0.1 is taken'
  server.context.edges.tellOwn('console', problem)
  const row = { kind: 'edge', name: 'Local', problem }
  expect(await readAttention('?search=port+3000')).toMatchObject([row])
  edge.close()
  await until('an edge that is away', () => server.context.edges.views().length === 0)
  expect(await readAttention('?search=port+3000')).toMatchObject([row])
  server.context.edges.tellOwn('console', null)
  expect(await readAttention('?search=port+3000')).toEqual([])
  edge = await connectEdgeClient(server.context.config.paths)
})

it('lists the domains whose first order has failed, and counts all of them', async () => {
  const { db } = server.context
  const at = new Date().toISOString()
  const problem = JSON.stringify({ code: 'dns', detail: 'no address', found: [], expected: [], at })
  const ids: number[] = []
  for (let index = 0; index < 6; index++) {
    const form = { domain: `d${index}.example.com`, skipValidation: true }
    ids.push((await client.post('/api/domains', form)).json().id)
  }
  await sql`UPDATE domains SET ssl = 'certbot' WHERE domain LIKE 'd%.example.com'`.execute(db)
  const order = { step: null, due_at: Date.now() + 86_400_000, failures: 1, created_at: at, updated_at: at }
  await db
    .insertInto('orders')
    .values(ids.map((id) => ({ ...order, domain_id: id, problem })))
    .execute()
  const others = (await client.get('/api/domains?search=.')).json().length - ids.length
  expect((await read()).certificates).toEqual({ valid: others, pending: 0, failed: 6 })
  const failed = await readAttention('?type=certificate')
  expect(failed).toHaveLength(6)
  expect(failed[0]).toMatchObject({ tone: 'bad', name: 'd0.example.com', problem: 'no address' })
  // One of them is tried again, and one has a certificate whose renewal fails.
  await sql`UPDATE orders SET step = 'validating' WHERE domain_id = ${ids[0]}`.execute(db)
  await sql`UPDATE certificates SET kind = 'certbot' WHERE domain_id = ${ids[1]}`.execute(db)
  expect((await read()).certificates).toEqual({ valid: others + 1, pending: 1, failed: 4 })
  const listed: Domain[] = (await client.get('/api/domains')).json()
  const failing = listed.filter(({ certificate }) => certificate.status === 'failed')
  expect(failing).toHaveLength(4)
  for (const id of ids) await client.delete(`/api/domains/${id}`)
  expect((await read()).certificates).toEqual({ valid: others, pending: 0, failed: 0 })
})
