import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { fieldsOf, gateway } from '../../../test/service-lab.ts'
import { updateStated } from '../../changes/change.ts'

const server = fresh(startTestServer)
const client = fresh(() => server.signIn())

test('networks of gateways must be inside those that the settings allow', async () => {
  const settings = { POSTERN_GATEWAY_NETWORKS: '192.168.0.0/20, fd77::/48' }
  await server.restart({ settings })
  for (const subnet of ['192.168.0.0/16', '10.20.0.0/24', 'fd78::/64']) {
    const answer = await client.post('/api/nodes', gateway(subnet))
    expect([subnet, answer.statusCode, fieldsOf(answer)]).toEqual([subnet, 422, ['gatewayNetworks.0.subnet']])
    expect(answer.body).toContain('POSTERN_GATEWAY_NETWORKS')
  }
  expect((await client.post('/api/nodes', gateway('192.168.7.0/24'))).statusCode).toBe(201)
})

test('a gateway may not have networks that are not behind it', async () => {
  const refused = [
    '10.64.9.0/24',
    '10.0.0.0/8',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '224.0.0.0/4',
    '0.0.0.0/0',
    '::/0',
    'fe80::/64',
    '203.0.113.0/25',
    '203.0.113.254/32',
    server.context.tunnel.network6,
  ]
  for (const subnet of refused) {
    const answer = await client.post('/api/nodes', gateway(subnet))
    expect([subnet, answer.statusCode]).toEqual([subnet, 422])
    expect(answer.json().errors[0].field).toBe('gatewayNetworks.0.subnet')
  }
  expect((await client.post('/api/nodes', gateway('192.168.7.9/24'))).json().gatewayNetworks).toEqual([
    { interface: 'eth0', subnet: '192.168.7.0/24' },
  ])
})

test('two gateways cannot have the same network, not even a part of it', async () => {
  await client.post('/api/nodes', gateway('192.168.0.0/16', 'office'))
  const answer = await client.post('/api/nodes', {
    ...gateway('10.1.0.0/24'),
    gatewayNetworks: [
      { interface: 'eth0', subnet: '10.1.0.0/24' },
      { interface: 'eth1', subnet: '192.168.7.0/24' },
    ],
  })
  expect(answer.statusCode).toBe(409)
  expect(answer.json().errors).toEqual([
    { field: 'gatewayNetworks.1.subnet', message: 'overlaps 192.168.0.0/16 of “office”' },
  ])
  const twice = [0, 1].map(() => ({ interface: 'eth0', subnet: '10.1.0.0/24' }))
  expect((await client.post('/api/nodes', { ...gateway(''), gatewayNetworks: twice })).statusCode).toBe(422)
  expect((await client.patch('/api/nodes/2', { name: 'renamed' })).statusCode).toBe(200)
})

test('a gateway has private networks only, and one with an older public network can still be edited', async () => {
  for (const subnet of ['8.8.8.0/24', '10.0.0.0/7', '198.51.100.0/24', '2606:4700::/32']) {
    const answer = await client.post('/api/nodes', gateway(subnet))
    expect([subnet, answer.statusCode]).toEqual([subnet, 422])
    expect(answer.json().errors).toEqual([
      { field: 'gatewayNetworks.0.subnet', message: expect.stringContaining('Enter a private network') },
    ])
  }
  for (const subnet of ['100.64.7.0/24', '172.20.0.0/16', 'fd77::/64'])
    expect([subnet, (await client.post('/api/nodes', gateway(subnet))).statusCode]).toEqual([subnet, 201])
  const old = JSON.stringify([{ interface: 'eth0', subnet: '198.51.100.0/24' }])
  await writeRows(server.context.db, (tx, revision) =>
    updateStated(tx, 'nodes', 2, revision, { gateway_networks: old }),
  )
  expect((await client.patch('/api/nodes/2', { name: 'renamed' })).statusCode).toBe(200)
})

test('a subnet that this machine has joined later does not block editing the gateway', async () => {
  await client.post('/api/nodes', gateway('192.168.7.0/24'))
  const joined = { ...server.context.network(), networks: ['192.168.7.0/24'] }
  await server.restart({ world: { network: () => joined } })
  expect((await client.patch('/api/nodes/2', { name: 'renamed' })).statusCode).toBe(200)
  expect((await client.patch('/api/nodes/2', gateway('192.168.7.0/25'))).statusCode).toBe(422)
})

test('a gateway keeps the networks that its services use', async () => {
  await client.post('/api/nodes', gateway('192.168.7.0/24'))
  const form = { name: 'nas', domain: 'nas.example.com', backendHost: '192.168.7.20', skipValidation: true }
  expect((await client.post('/api/services/2/http', form)).statusCode).toBe(201)
  const narrowed = await client.patch('/api/nodes/2', gateway('192.168.7.0/28'))
  expect(narrowed.statusCode).toBe(409)
  expect(narrowed.json().errors).toEqual([{ field: 'gatewayNetworks', message: 'is used by “nas”' }])
  const unticked = await client.patch('/api/nodes/2', { isGateway: false })
  expect(unticked.statusCode).toBe(409)
  expect(unticked.json()).toMatchObject({ errors: [{ field: 'isGateway' }] })
  expect((await client.patch('/api/nodes/2', gateway('192.168.0.0/16'))).statusCode).toBe(200)
})
