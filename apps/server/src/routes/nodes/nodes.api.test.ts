import { Node } from '@postern/contract/nodes'
import { connectEdgeClient, fetchState, onlinePeer } from '@postern/testkit/edge-client'
import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'
import { fieldsOf, gateway } from '../../../test/service-lab.ts'

const server = fresh(startTestServer)
const client = fresh(() => server.signIn())

test('a new node gets the next free address and, once, a token', async () => {
  const first = await client.post('/api/nodes', { name: ' office ' })
  expect(first.statusCode).toBe(201)
  expect(first.json()).toMatchObject({
    id: 2,
    name: 'office',
    address: '10.64.0.2',
    keepalive: 25,
    enabled: true,
    isLocal: false,
    isGateway: false,
    gatewayNetworks: null,
    status: 'offline',
    services: 0,
  })
  expect(first.json().token).toMatch(/^ptn_[\w-]{43}$/)
  const again = (await client.get('/api/nodes/2')).json()
  expect(Node.parse(again)).toEqual(again)
  expect(again.token).toBeUndefined()
  expect((await client.post('/api/nodes', { name: 'b' })).json().address).toBe('10.64.0.3')
})

test('an address must be inside the tunnel, not reserved and not taken', async () => {
  const create = (address: string) => client.post('/api/nodes', { name: 'n', address })
  expect((await create('10.64.7.9')).json().address).toBe('10.64.7.9')
  for (const address of [
    '10.65.0.2',
    '192.168.1.2',
    '10.64.3.0',
    '10.64.3.1',
    '10.64.3.255',
    '10.64.3.4/32',
  ]) {
    const answer = await create(address)
    expect(answer.statusCode).toBe(422)
    expect(answer.json().errors[0].field).toBe('address')
  }
  const taken = await create('10.64.7.9')
  expect(taken.statusCode).toBe(409)
  expect(taken.json().errors).toEqual([{ field: 'address', message: 'already belongs to “n”' }])
})

test('addresses skip the reserved ones at the end of a /24', async () => {
  await writeRows(server.context.db, async (tx, revision) => {
    const template = await tx
      .selectFrom('nodes')
      .selectAll()
      .where('is_local', '=', 1)
      .executeTakeFirstOrThrow()
    const { id: _id, ...row } = template
    for (let last = 2; last < 255; last++)
      await tx
        .insertInto('nodes')
        .values({ ...row, is_local: 0, address: `10.64.0.${last}`, revision })
        .execute()
  })
  expect((await client.post('/api/nodes', { name: 'n' })).json().address).toBe('10.64.1.2')
})

test('a patch keeps fields that it does not contain, and blank clears', async () => {
  await client.post('/api/nodes', {
    name: 'a',
    dns: '9.9.9.9',
    keepalive: 5,
    advanced: true,
    allowInternet: true,
  })
  const renamed = (await client.patch('/api/nodes/2', { name: 'b' })).json()
  expect(renamed).toMatchObject({
    name: 'b',
    dns: '9.9.9.9',
    keepalive: 5,
    advanced: true,
    allowInternet: true,
  })
  expect((await client.patch('/api/nodes/2', { dns: '' })).json()).toMatchObject({ name: 'b', dns: null })
  expect((await client.patch('/api/nodes/2', { address: null })).json().address).toBe('10.64.0.2')
})

test('blank means the default where there is one: on POST and on PATCH', async () => {
  const defaults = { keepalive: 25, isGateway: false, allowInternet: false, advanced: false }
  for (const blank of [null, '']) {
    const blanks = { keepalive: blank, isGateway: blank, allowInternet: blank, advanced: blank }
    const made = await client.post('/api/nodes', { name: 'a', ...blanks })
    expect([made.statusCode, made.json()]).toMatchObject([201, defaults])
    const over = { keepalive: 7, allowInternet: true, advanced: true }
    const url = `/api/nodes/${made.json().id}`
    expect((await client.patch(url, over)).json()).toMatchObject(over)
    expect((await client.patch(url, blanks)).json()).toMatchObject(defaults)
  }
})

test('all errors of a node come at once', async () => {
  await client.post('/api/nodes', { ...gateway('192.168.7.0/24', 'office'), address: '10.64.0.9' })
  const wrong = await client.post('/api/nodes', {
    name: 'n',
    isGateway: true,
    address: '10.65.0.2',
    gatewayNetworks: ['8.8.8.0/24', '192.168.7.0/25'].map((subnet) => ({ interface: 'eth0', subnet })),
  })
  expect(wrong.statusCode).toBe(422)
  expect(fieldsOf(wrong)).toEqual(['address', 'gatewayNetworks.0.subnet', 'gatewayNetworks.1.subnet'])
  const both = await client.post('/api/nodes', {
    ...{ ...gateway('192.168.7.0/25'), name: ' ', keepalive: -1, dns: 'x', address: '10.64.0.9', mtu: 1 },
  })
  expect([both.statusCode, fieldsOf(both)?.sort()]).toEqual([
    422,
    ['address', 'dns', 'gatewayNetworks.0.subnet', 'keepalive', 'mtu', 'name'],
  ])
  const taken = await client.post('/api/nodes', { ...gateway('192.168.7.0/25'), address: '10.64.0.9' })
  expect(taken.statusCode).toBe(409)
  expect(fieldsOf(taken)).toEqual(['address', 'gatewayNetworks.0.subnet'])
  const moved = await client.post('/api/nodes', { name: 'other' })
  const patched = await client.patch(`/api/nodes/${moved.json().id}`, {
    ...gateway('192.168.7.0/25'),
    address: '10.64.0.9',
  })
  expect(fieldsOf(patched)).toEqual(['address', 'gatewayNetworks.0.subnet'])
  const rows = [
    { interface: 'eth0', subnet: '192.168.7.0/25' },
    { interface: 'eth 1', subnet: '8.8.8.0/24' },
    { interface: 'eth2', subnet: '10.1.2.3' },
    { subnet: '192.168.7.128/25', mtu: 1 },
    'eth4',
    { interface: 'eth5', subnet: '10.5.0.0/16' },
  ]
  const mixed = await client.post('/api/nodes', { name: 'n', isGateway: true, gatewayNetworks: rows })
  expect([mixed.statusCode, fieldsOf(mixed)?.sort()]).toEqual([
    422,
    [
      'gatewayNetworks.0.subnet',
      'gatewayNetworks.1.interface',
      'gatewayNetworks.1.subnet',
      'gatewayNetworks.2.subnet',
      'gatewayNetworks.3.interface',
      'gatewayNetworks.3.mtu',
      'gatewayNetworks.3.subnet',
      'gatewayNetworks.4',
    ],
  ])
})

test('two patches of different fields at the same time keep both', async () => {
  await client.post('/api/nodes', { name: 'a' })
  await Promise.all([
    client.patch('/api/nodes/2', { dns: '9.9.9.9' }),
    client.patch('/api/nodes/2', { keepalive: 7 }),
  ])
  expect((await client.get('/api/nodes/2')).json()).toMatchObject({ dns: '9.9.9.9', keepalive: 7 })
})

test('an id in the body never reaches another record', async () => {
  await client.post('/api/nodes', { name: 'mine' })
  await client.post('/api/nodes', { name: 'theirs' })
  const answer = await client.patch('/api/nodes/2', { id: 3, name: 'taken over' })
  expect(answer.statusCode).toBe(422)
  expect(answer.json().errors).toEqual([{ field: 'id', message: 'cannot be changed' }])
  expect((await client.get('/api/nodes/3')).json().name).toBe('theirs')
  expect((await client.patch('/api/nodes/2', { id: 2, name: 'still mine' })).json().name).toBe('still mine')
  expect((await client.post('/api/nodes', { id: 2, name: 'x' })).statusCode).toBe(422)
  for (const field of ['is_local', 'isLocal', 'enabled', 'public_key', 'created_at'])
    expect((await client.patch('/api/nodes/2', { [field]: 1 })).statusCode).toBe(422)
})

test('a patch made from an older record is refused', async () => {
  const { updated_at } = (await client.post('/api/nodes', { name: 'a' })).json()
  const first = await client.patch('/api/nodes/2', { name: 'b', updated_at })
  expect(first.statusCode).toBe(200)
  const stale = await client.patch('/api/nodes/2', { name: 'c', updated_at })
  expect(stale.statusCode).toBe(409)
  expect(stale.json()).toMatchObject({
    code: 'stale',
    message: 'admin changed this while you were editing',
  })
  expect((await client.get('/api/nodes/2')).json().name).toBe('b')
})

test('disabling and enabling are recorded, and the edges apply the services again', async () => {
  await client.post('/api/nodes', { name: 'a' })
  await client.post('/api/services/2/http', { name: 's', domain: 'a.example.com', skipValidation: true })
  await server.listenOnSocket()
  const edge = await connectEdgeClient(server.context.config.paths)
  const phase = async () => (await client.get('/api/services/2/http/2')).json().state.phase
  const { revision } = await fetchState(server)
  edge.report(revision)
  edge.send({ type: 'peers', peers: [onlinePeer(2)] })
  await until('the service is live', async () => (await phase()) === 'live')
  expect((await client.patch('/api/nodes/2/disable')).json()).toMatchObject({
    enabled: false,
    status: 'offline',
  })
  expect(await phase()).toBe('node-disconnected')
  await client.patch('/api/nodes/2/enable')
  // Previous observations do not count for the new tunnel.
  expect((await client.get('/api/nodes/2')).json().status).toBe('idle')
  expect(await phase()).toBe('node-offline')
  edge.send({ type: 'peers', peers: [onlinePeer(2)] })
  await until('the edge sees it', async () => (await phase()) === 'applying')
  edge.report(revision + 2)
  await until('the edge has applied it', async () => (await phase()) === 'live')
  await edge.close()
  expect((await client.patch('/api/nodes/2/enable')).json().enabled).toBe(true)
  expect((await client.patch('/api/nodes/2/enable', { enabled: false })).statusCode).toBe(422)
})

test('deleting a node deletes its services and tokens, and its id never comes back', async () => {
  const { token } = (await client.post('/api/nodes', { name: 'a' })).json()
  await client.post('/api/services/2/http', { name: 's', domain: 'a.example.com', skipValidation: true })
  expect((await client.get('/api/nodes/2')).json().services).toBe(1)
  expect((await client.delete('/api/nodes/2')).json()).toEqual({ id: 2 })
  expect((await client.get('/api/nodes/2')).statusCode).toBe(404)
  expect((await client.delete('/api/nodes/2')).statusCode).toBe(404)
  expect((await server.as(token).get('/api/agent/config')).statusCode).toBe(401)
  expect((await client.get('/api/services/http')).json()).toHaveLength(1)
  expect((await client.post('/api/nodes', { name: 'b' })).json().id).toBe(3)
})

test('the local node exists from the first start, and cannot be changed', async () => {
  const local = (await client.get('/api/nodes/1')).json()
  expect(local).toMatchObject({ name: 'Local', address: 'localhost', isLocal: true, services: 1 })
  const [service] = (await client.get('/api/services/1/http')).json()
  expect(service).toMatchObject({
    name: 'Console',
    system: true,
    pathLocation: '/',
    domain: null,
    backendProto: 'http',
    backendHost: '127.0.0.1',
    backendPort: 3000,
  })
  const attempts = [
    client.patch('/api/nodes/1', { name: 'x' }),
    client.delete('/api/nodes/1'),
    client.patch('/api/nodes/1/disable'),
    client.patch('/api/nodes/1/enable'),
    client.get('/api/nodes/1/download'),
  ]
  for (const answer of await Promise.all(attempts)) {
    expect(answer.statusCode).toBe(409)
    expect(answer.json().message).toContain('local node')
  }
})

test('a second start creates nothing twice, and follows a new console port', async () => {
  await client.post('/api/nodes', { name: 'kept' })
  const key = server.context.tunnel.publicKey
  await server.restart({ settings: { POSTERN_CONSOLE_PORT: '3333' } })
  const nodes = (await client.get('/api/nodes')).json()
  expect(nodes.map((node: Node) => node.name)).toEqual(['Local', 'kept'])
  expect((await client.get('/api/services/1/http')).json()[0].backendPort).toBe(3333)
  expect(server.context.tunnel.publicKey).toBe(key)
})
