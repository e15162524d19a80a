import { AgentConfig } from '@postern/contract/agent/agent'
import { type AgentSocket, openAgentSocket } from '@postern/testkit/agent-calls'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, expect, it } from 'vitest'

const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(() => server.listen())

const getConfig = (token: string) => server.as(token).get('/api/agent/config')
const register = (token: string, publicKey: string) => server.as(token).put('/api/agent/key', { publicKey })
const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')

describe('the configuration', () => {
  it('has all that an agent needs, and nothing private of the server', async () => {
    const node = await client.createNode({ name: 'site', dns: '9.9.9.9, 1.1.1.1', keepalive: 7 })
    const config = AgentConfig.parse((await getConfig(node.token)).json())
    expect(config).toMatchObject({
      node: { id: node.id, name: 'site', enabled: true },
      dns: ['9.9.9.9', '1.1.1.1'],
      publicKey: null,
      gateway: null,
      edgeAddress: '10.64.0.1',
      peer: {
        endpoint: '203.0.113.1:51820',
        keepaliveSeconds: 7,
        publicKey: server.context.tunnel.publicKey,
      },
    })
    expect(config.addresses[0]).toBe(`${node.address}/32`)
    expect(config.addresses[1]).toMatch(/^fd[0-9a-f:]+\/128$/)
    expect(config.peer.allowedIps).toEqual(['10.64.0.0/16', server.context.tunnel.network6])
    expect(JSON.stringify(config)).not.toContain(server.context.tunnel.privateKey)
  })

  it('follows the node: gateway, internet, an address that changed', async () => {
    const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
    const node = await client.createNode({
      name: 'gw',
      isGateway: true,
      gatewayNetworks,
      allowInternet: true,
    })
    const config = AgentConfig.parse((await getConfig(node.token)).json())
    expect(config.gateway).toEqual(gatewayNetworks)
    expect(config.peer.allowedIps).toEqual(['0.0.0.0/0', '::/0'])
    await client.patch(`/api/nodes/${node.id}`, { address: '10.64.9.9' })
    const moved = AgentConfig.parse((await getConfig(node.token)).json())
    expect([moved.addresses[0], moved.edgeAddress]).toEqual(['10.64.9.9/32', '10.64.9.1'])
  })

  it('has every edge that has joined, the one beside the server first, as older agents know it', async () => {
    const node = await client.createNode({ name: 'everywhere', allowInternet: true, keepalive: 11 })
    const { db, clock } = server.context
    const now = new Date(clock()).toISOString()
    const common = { created_at: now, updated_at: now }
    const far = {
      ...common,
      name: 'far',
      number: 3,
      public_key: key(9),
      host: '2001:db8::9',
      token_hash: 'none',
    }
    const announced = { ...common, name: 'announced', number: 4, public_key: key(8), token_hash: 'nothing' }
    await db
      .insertInto('edges')
      .values([{ ...far, joined_at: now }, announced])
      .execute()
    const config = AgentConfig.parse((await getConfig(node.token)).json())
    const { peer, edgeAddress, edges = [] } = config
    expect(edges.map(({ name }) => name)).toEqual(['Local', 'far'])
    expect(edges[0]).toMatchObject({ peer, edgeAddress })
    expect(peer.allowedIps).toEqual(['0.0.0.0/0', '::/0'])
    const address6 = server.context.tunnel.address6('10.64.255.3')
    expect(edges[1]).toMatchObject({
      edgeAddress: '10.64.255.3',
      peer: {
        publicKey: key(9),
        presharedKey: peer.presharedKey,
        endpoint: '[2001:db8::9]:51820',
        allowedIps: ['10.64.255.3/32', `${address6}/128`],
        keepaliveSeconds: 11,
      },
    })
    // What an older agent reads is what it always was.
    const { edges: _edges, ...older } = config
    expect(Object.keys(older).sort()).toEqual(
      [
        'addresses',
        'dns',
        'edgeAddress',
        'gateway',
        'mayPublish',
        'node',
        'peer',
        'publicKey',
        'targets',
      ].sort(),
    )
    await db.deleteFrom('edges').where('number', '>', 1).execute()
  })

  it('names the ports of the node itself to which enabled services lead, each once', async () => {
    const node = await client.createNode({ name: 'ports' })
    const other = await client.createNode({ name: 'its neighbour' })
    const publish = async (type: string, form: object, nodeId = node.id) =>
      (await client.post(`/api/services/${nodeId}/${type}`, form)).json()
    const web = { name: 'web', pathLocation: '/web', backendPort: 8384, backendHost: 'localhost' }
    await publish('http', web)
    await publish('tcp', { name: 'same', backendPort: 8384 })
    await publish('tcp', { name: 'mqtt', backendPort: 1883 })
    await publish('tcp', { name: 'dns', proto: 'udp', backendPort: 53 })
    await publish('http', { name: 'foreign', pathLocation: '/foreign', backendPort: 9999 }, other.id)
    const off = await publish('tcp', { name: 'off', backendPort: 22 })
    await client.patch(`/api/services/${node.id}/tcp/${off.id}/disable`)
    const targets = async () => AgentConfig.parse((await getConfig(node.token)).json()).targets
    expect(await targets()).toEqual({ tcp: [1883, 8384], udp: [53] })
    await client.patch(`/api/services/${node.id}/tcp/${off.id}/enable`)
    expect(await targets()).toEqual({ tcp: [22, 1883, 8384], udp: [53] })
  })

  it('names no port of a gateway for services on other hosts of its networks', async () => {
    const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.9.0/24' }]
    const node = await client.createNode({ name: 'gate', isGateway: true, gatewayNetworks })
    const form = { name: 'printer', pathLocation: '/printer', backendHost: '192.168.9.7', backendPort: 80 }
    expect((await client.post(`/api/services/${node.id}/http`, form)).statusCode).toBe(201)
    expect((await getConfig(node.token)).json().targets).toEqual({ tcp: [], udp: [] })
  })

  it('can still be read while the node is disabled, but not with a foreign or ended token', async () => {
    const node = await client.createNode({ name: 'off' })
    await client.patch(`/api/nodes/${node.id}/disable`)
    expect((await getConfig(node.token)).json().node.enabled).toBe(false)
    expect((await getConfig(client.token)).statusCode).toBe(403)
    expect((await getConfig('ptn_unknown')).statusCode).toBe(401)
    await client.delete(`/api/nodes/${node.id}`)
    expect((await getConfig(node.token)).statusCode).toBe(401)
  })

  it('has a host name with an IPv6 literal in brackets', async () => {
    const other = await startTestServer({ settings: { POSTERN_PUBLIC_HOST: '2001:db8::1' } })
    try {
      const admin = await other.signIn()
      const { token } = (await admin.post('/api/nodes', { name: 'six' })).json()
      const answer = await other.as(token).get('/api/agent/config')
      expect(answer.json().peer.endpoint).toBe('[2001:db8::1]:51820')
    } finally {
      await other.close()
    }
  })
})

describe('registering a key', () => {
  it('belongs to the node of the token, once for all nodes', async () => {
    const a = await client.createNode({ name: 'a' })
    const b = await client.createNode({ name: 'b' })
    expect((await register(a.token, key(1))).json().publicKey).toBe(key(1))
    expect((await register(a.token, key(1))).statusCode).toBe(200)
    expect((await register(b.token, key(1))).statusCode).toBe(409)
    expect((await register(b.token, server.context.tunnel.publicKey)).statusCode).toBe(409)
    expect((await register(b.token, 'x')).statusCode).toBe(422)
    expect((await getConfig(b.token)).json().publicKey).toBe(null)
  })

  it('is refused when it is of low order: everybody would know the secret', async () => {
    const node = await client.createNode({ name: 'weak' })
    for (const first of [0, 1]) {
      const weak = Buffer.alloc(32)
      weak[0] = first
      const refused = await register(node.token, weak.toString('base64'))
      expect(refused.statusCode).toBe(422)
      expect(refused.json().errors).toEqual([
        { field: 'publicKey', message: 'This key is weak. Make a new one with wg genkey.' },
      ])
    }
    expect((await getConfig(node.token)).json().publicKey).toBe(null)
  })

  it('is refused after too many keys, so that a node cannot keep the edges busy', async () => {
    const hostile = await client.createNode({ name: 'hostile' })
    const other = await client.createNode({ name: 'other' })
    for (let i = 0; i < 20; i++) expect((await register(hostile.token, key(100 + i))).statusCode).toBe(200)
    const refused = await register(hostile.token, key(99))
    expect(refused.statusCode).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await register(hostile.token, key(119))).statusCode).toBe(200)
    expect((await register(other.token, key(98))).statusCode).toBe(200)
  })
})

describe('the socket', () => {
  it('is open at most a few times for each node, and the oldest is closed first', async () => {
    const node = await client.createNode({ name: 'many' })
    const opened: AgentSocket[] = []
    for (let i = 0; i < 6; i++) opened.push(await openAgentSocket(server, node.token))
    const isClosed = () => opened.map(({ closed }) => closed !== '')
    await until('the end of two', () => isClosed().filter(Boolean).length === 2)
    expect(isClosed()).toEqual([true, true, false, false, false, false])
    for (const { socket } of opened) socket.terminate()
  })

  it('gets a hint at once and when this node changes, and only then', async () => {
    const mine = await client.createNode({ name: 'mine' })
    const other = await client.createNode({ name: 'other' })
    const { socket, frames } = await openAgentSocket(server, mine.token)
    await until('the first hint', () => frames.length === 1)
    await client.patch(`/api/nodes/${other.id}`, { name: 'other name' })
    await client.patch(`/api/nodes/${mine.id}/disable`)
    await until('the second hint', () => frames.length >= 2)
    expect(frames.map((frame) => JSON.parse(frame))).toEqual([{ type: 'changed' }, { type: 'changed' }])
    socket.close()
  })

  it("gets hints at changes of this node's services, and of no other's", async () => {
    const mine = await client.createNode({ name: 'publishing' })
    const other = await client.createNode({ name: 'publishing too' })
    const { socket, frames } = await openAgentSocket(server, mine.token)
    await until('the first hint', () => frames.length === 1)
    await client.post(`/api/services/${other.id}/tcp`, { name: 'theirs', backendPort: 1 })
    const { id } = (await client.post(`/api/services/${mine.id}/tcp`, { name: 'own', backendPort: 1 })).json()
    await until('the hint of a new service', () => frames.length === 2)
    await client.patch(`/api/services/${mine.id}/tcp/${id}`, { backendPort: 2 })
    await until('the hint of a changed one', () => frames.length === 3)
    await client.delete(`/api/services/${mine.id}/tcp/${id}`)
    await until('the hint of a deleted one', () => frames.length === 4)
    socket.close()
  })

  it('ends with the node', async () => {
    const node = await client.createNode({ name: 'ending' })
    const opened = await openAgentSocket(server, node.token)
    await client.delete(`/api/nodes/${node.id}`)
    await until('the end', () => opened.closed === 'the access token was deleted')
  })

  it('outlives a database that cannot be read: the node is still there', async () => {
    const broken = await startTestServer()
    await broken.listen()
    const { id, token } = await (await broken.signIn()).createNode({ name: 'site' })
    const { socket, frames } = await openAgentSocket(broken, token)
    await until('the first hint', () => frames.length === 1)
    await broken.context.db.destroy()
    broken.context.bus.emit({ kind: 'changed', revision: 99, touched: { nodes: [id] } })
    await until('the second hint', () => frames.length === 2)
    await until('the log', () => broken.logged().includes('it is unknown whether a token is still valid'))
    const answered = new Promise((resolve) => socket.once('pong', () => resolve('open')))
    const closed = new Promise((resolve) => socket.once('close', () => resolve('closed')))
    socket.ping()
    expect(await Promise.race([answered, closed])).toBe('open')
    socket.close()
    await broken.close()
  })
})
