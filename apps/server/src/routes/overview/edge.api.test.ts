import { once } from 'node:events'
import { connectEdgeClient, edgeToken, fetchState } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'

const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(async () => {
  await server.listen()
  await server.listenOnSocket()
})

const connect = () => connectEdgeClient(server.context.config.paths)
const edges = async () => (await client.get('/api/edges')).json()
const newest = (hints: { type: string }[]) =>
  Math.max(...hints.map((hint) => ('revision' in hint ? Number(hint.revision) : 0)))

describe('who may come in', () => {
  it('is an edge with its token, and nobody else', async () => {
    const node = (await client.post('/api/nodes', { name: 'stranger' })).json()
    for (const token of ['', 'x'.repeat(43), client.token, node.token]) {
      const headers = { authorization: `Bearer ${token}` }
      const socket = new WebSocket(`${server.origin.replace('http', 'ws')}/api/edge/socket`, { headers })
      const [error] = await once(socket, 'error')
      expect(String(error)).toMatch(/40[13]/)
      const state = await server.call({
        method: 'POST',
        url: '/api/edge/state',
        headers,
        payload: { known: {} },
      })
      expect([401, 403]).toContain(state.statusCode)
      expect(state.body).not.toContain('PRIVATE KEY')
    }
  })

  it('is one connection per edge: the newer one wins', async () => {
    const first = await connect()
    const closed = once(first.socket, 'close')
    const second = await connect()
    await closed
    second.report(1)
    await until('the report of the newer one', async () => (await edges())[0].applied === 1)
    expect((await edges())[0].connected).toBe(true)
    second.close()
    await until('nobody', async () => !(await edges())[0].connected)
  })
})

describe('hints', () => {
  it('come on connecting, and within three seconds of a change', async () => {
    const edge = await connect()
    await until('the first hints', () => edge.hints.length >= 2)
    expect(edge.hints.map(({ type }) => type).sort()).toEqual(['changed', 'watch'])
    const told = new Promise<number>((resolve) =>
      edge.socket.once('message', () => resolve(performance.now())),
    )
    await client.post('/api/nodes', { name: 'hint' })
    const answered = performance.now()
    expect((await told) - answered).toBeLessThan(3000)
    edge.close()
  })

  it('reach the newest revision after a burst of 200 changes', async () => {
    const edge = await connect()
    const { id } = (await client.post('/api/nodes', { name: 'burst' })).json()
    const services = `/api/services/${id}/http`
    const service = (
      await client.post(services, { name: 'b', domain: 'burst.example.com', skipValidation: true })
    ).json()
    const burst = Array.from({ length: 200 }, (_, i) =>
      client.patch(`${services}/${service.id}`, { backendPort: 1000 + i }),
    )
    await Promise.all(burst)
    const { revision, sections } = await fetchState(server)
    await until('the newest revision', () => newest(edge.hints) === revision)
    const stored = (await client.get(`${services}/${service.id}`)).json()
    expect(sections.routes?.find((route) => route.id === service.id)?.backend.port).toBe(stored.backendPort)
    expect(sections.routes?.filter((route) => route.domain === 'burst.example.com')).toHaveLength(1)
    edge.close()
  })
})

describe("an edge's message", () => {
  it('is shown, and stays after the edge has disconnected', async () => {
    const edge = await connect()
    const dataPlane = {
      haproxy: { state: 'failed' as const, detail: 'Port 443 is held by another program' },
      wireguard: { state: 'ok' as const, detail: 'wireguard-go' },
      nftables: { state: 'ok' as const, detail: '' },
    }
    edge.report(7, { wanted: 9, dataPlane })
    await until('the report', async () => (await edges())[0].applied === 7)
    expect((await edges())[0]).toMatchObject({ connected: true, version: '0.1.0', wanted: 9, dataPlane })
    edge.close()
    await until('its end', async () => !(await edges())[0].connected)
    expect((await edges())[0]).toMatchObject({ connected: false, applied: 7, dataPlane })
    expect(Date.parse((await edges())[0].lastSeen)).toBeGreaterThan(0)
  })

  it('updates the figures of nodes', async () => {
    const edge = await connect()
    const { id } = (await client.post('/api/nodes', { name: 'figures' })).json()
    const latestHandshake = server.context.clock()
    const figures = { latestHandshake, rx: 10, tx: 20, clientIp: '198.51.100.3', reachable: true }
    edge.send({ type: 'peers', peers: [{ nodeId: id, ...figures }] })
    await until('online', async () => (await client.get(`/api/nodes/${id}`)).json().status === 'online')
    expect((await client.get(`/api/nodes/${id}`)).json()).toMatchObject({ transferRx: 10, transferTx: 20 })
    edge.close()
  })

  it.each([
    'not json',
    '{}',
    '{"type":"report","report":{"wanted":"1"}}',
    '{"type":"logs","lines":[{"service":1,"seq":1,"text":5}]}',
    '{"type":"hello","version":"1","epoch":"../x"}',
    '{"type":"peers","peers":[{"nodeId":1,"latestHandshake":1.5,"rx":0,"tx":0,"clientIp":null,"reachable":true}]}',
    '[]',
  ])('ends the connection when it is %j', async (frame) => {
    const edge = await connect()
    edge.socket.send(frame)
    const [code] = await once(edge.socket, 'close')
    expect(code).toBe(1008)
  })

  it('is bounded', async () => {
    const edge = await connect()
    edge.socket.send('x'.repeat(5 * 1024 * 1024))
    const [code] = await once(edge.socket, 'close')
    expect(code).toBe(1009)
  })

  it('reaches the streams of the nodes concerned', async () => {
    const edge = await connect()
    const heard: unknown[] = []
    const stop = server.context.bus.listen((hint) => {
      if (hint.kind === 'reported') heard.push(...hint.services)
    })
    const { id } = (await client.post('/api/nodes', { name: 'told' })).json()
    const form = { name: 't', domain: 'told.example.com', skipValidation: true }
    const { revision: before } = await fetchState(server)
    edge.report(before)
    const service = (await client.post(`/api/services/${id}/http`, form)).json()
    heard.length = 0
    edge.report(before + 1)
    await until('the service', () => heard.length > 0)
    expect(heard).toContainEqual({ id: service.id, nodeId: id })
    stop()
    edge.close()
  })
})

describe('the state', () => {
  it('sends only the sections that differ from what the edge holds', async () => {
    const node = (await client.post('/api/nodes', { name: 'sections' })).json()
    const form = { name: 's', domain: 'sections.example.com', skipValidation: true }
    const service = (await client.post(`/api/services/${node.id}/http`, form)).json()
    const first = await fetchState(server)
    expect(Object.keys(first.sections).sort()).toEqual([
      'certificates',
      'challenges',
      'peers',
      'ports',
      'routes',
      'settings',
      'signIns',
    ])
    const same = await fetchState(server, first.hashes)
    expect(same.sections).toEqual({
      peers: [],
      routes: [],
      ports: [],
      signIns: [],
      challenges: [],
      certificates: [],
    })
    await client.patch(`/api/services/${node.id}/http/${service.id}`, { backendPort: 9 })
    const next = await fetchState(server, first.hashes)
    expect(next.sections.settings).toBeUndefined()
    expect(next.sections.peers).toEqual([])
    expect(next.sections.certificates).toEqual([])
    expect(next.revision).toBe(first.revision + 1)
  })

  it('is not touched by figures', async () => {
    const { hashes, revision } = await fetchState(server)
    server.context.live.update(1, [
      { nodeId: 1, latestHandshake: 1, rx: 1, tx: 1, clientIp: null, reachable: true },
    ])
    const sections = { peers: [], routes: [], ports: [], signIns: [], challenges: [], certificates: [] }
    expect(await fetchState(server, hashes)).toEqual({ hashes, revision, sections })
  })

  it('has a node as a peer once it has a key, and not while it is disabled', async () => {
    const { id, token, address } = (await client.post('/api/nodes', { name: 'peer' })).json()
    const peer = async () => (await fetchState(server)).sections.peers?.find(({ nodeId }) => nodeId === id)
    expect(await peer()).toBeUndefined()
    const publicKey = Buffer.alloc(32, 5).toString('base64')
    const headers = { authorization: `Bearer ${token}` }
    const registered = await server.call({
      method: 'PUT',
      url: '/api/agent/key',
      headers,
      payload: { publicKey },
    })
    expect(registered.statusCode).toBe(200)
    expect(await peer()).toMatchObject({ publicKey, address4: address, subnets: [], allowInternet: false })
    await client.patch(`/api/nodes/${id}/disable`)
    expect(await peer()).toBeUndefined()
    await client.patch(`/api/nodes/${id}/enable`)
    expect(await peer()).toBeDefined()
    await client.delete(`/api/nodes/${id}`)
    expect(await peer()).toBeUndefined()
  })

  it('reaches an edge that holds very many certificates', async () => {
    const known = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, id) => [`certificates:${id}`, 'x'.repeat(22)]),
    )
    const whole = await fetchState(server)
    expect((await fetchState(server, known)).sections.certificates).toEqual(whole.sections.certificates)
  })

  it('refuses a malformed request', async () => {
    const headers = { authorization: `Bearer ${edgeToken(server.context.config.paths)}` }
    const ask = (payload: object) => server.call({ method: 'POST', url: '/api/edge/state', headers, payload })
    expect((await ask({ known: { settings: 5 } })).statusCode).toBe(422)
    expect((await ask({ known: {}, more: 1 })).statusCode).toBe(422)
  })
})
