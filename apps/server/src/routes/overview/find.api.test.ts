import { Found } from '@postern/contract/find'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { beforeAll, expect, it } from 'vitest'

const find = async (text: string) =>
  Found.parse((await client.get(`/api/find?text=${encodeURIComponent(text)}`)).json())

const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(async () => {
  for (let copy = 0; copy < 7; copy++) await client.post('/api/nodes', { name: `a-shop-${copy}` })
  const { id } = (await client.post('/api/nodes', { name: 'Shop' })).json()
  const names = ['old-web', 'web-2', 'Web', 'my-web', 'the-web', 'a-web', 'x-web']
  for (const name of names)
    await client.post(`/api/services/${id}/http`, { name, pathLocation: `/${name}`, backendHost: '' })
  for (const domain of ['b.web.example.com', 'web.example.com', 'a.web.example.com'])
    await client.post('/api/domains', { domain, ssl: 'self-signed', skipValidation: true })
  await client.post(`/api/services/${id}/http`, { name: 'late', domain: 'web.example.com' })
})

it('tells of each what its list does: how many services a node has, whether one is enabled, where it is reached', async () => {
  const { nodes } = await find('shop')
  const id = nodes[0]?.id
  expect(nodes[0]).toEqual((await client.get(`/api/nodes/${id}`)).json())
  expect(nodes[0]?.services).toBe(8)
  const [service] = (await find('my-web')).services
  expect(service).toEqual((await client.get(`/api/services/${id}/http/${service?.id}`)).json())
  const [domain] = (await find('b.web.example.com')).domains
  expect(domain).toEqual((await client.get(`/api/domains/${domain?.id}`)).json())
})

it('finds nodes, domains and services by a part of their names, whatever the case, and at most five of each', async () => {
  const { nodes, domains, services } = await find('SHOP')
  expect(nodes.map(({ name }) => name)).toEqual(['Shop', 'a-shop-0', 'a-shop-1', 'a-shop-2', 'a-shop-3'])
  expect([domains, services]).toEqual([[], []])
})

it('puts exact names first, then those that begin with the text', async () => {
  const { domains, services } = await find('web')
  expect(services.map(({ name }) => name)).toEqual(['Web', 'late', 'web-2', 'a-web', 'my-web'])
  expect(domains.map(({ domain }) => domain)).toEqual([
    'web.example.com',
    'a.web.example.com',
    'b.web.example.com',
  ])
})

it('finds a service by its domain and shows its node, and a node by its address', async () => {
  const { services } = await find('web.example.com')
  expect(services).toEqual([
    expect.objectContaining({ name: 'late', type: 'http', nodeName: 'Shop', domain: 'web.example.com' }),
  ])
  const { nodes } = await find('10.64.0.2')
  expect(nodes[0]).toMatchObject({ name: 'a-shop-0', address: '10.64.0.2' })
})

it('lists the service with exactly this name on the first page', async () => {
  const [{ id }] = (await client.get('/api/nodes?search=shop&orderBy=name,desc')).json()
  const { data, total } = (await client.get(`/api/services/${id}/http?search=x-web&limit=1`)).json()
  expect([data[0].name, total]).toEqual(['x-web', 1])
  const page = (await client.get(`/api/services/${id}/http?search=web&limit=2`)).json()
  expect(page.data.map(({ name }: { name: string }) => name)).toContain('Web')
})

it('finds a service by its backend', async () => {
  const networks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  const gateway = { name: 'gate', isGateway: true, gatewayNetworks: networks }
  const { id } = (await client.post('/api/nodes', gateway)).json()
  const form = { name: 'camera', pathLocation: '/camera', backendHost: '192.168.7.21', backendPort: 8554 }
  await client.post(`/api/services/${id}/http`, form)
  const camera = { name: 'camera', backendHost: '192.168.7.21', backendPort: 8554 }
  for (const text of ['192.168.7.21', '7.21:8554', ':8554'])
    expect((await find(text)).services).toEqual([expect.objectContaining(camera)])
  const listed = (await client.get(`/api/services/${id}/http?search=192.168.7.21`)).json()
  expect(listed).toHaveLength(1)
})

it('finds a service by its backend as shown in its row, with localhost and the brackets of IPv6', async () => {
  const create = async (name: string, node: object, backendHost: string) => {
    const { id } = (await client.post('/api/nodes', { name, ...node })).json()
    const form = { name, pathLocation: `/${name}`, backendHost, backendPort: 8766 }
    const answer = await client.post(`/api/services/${id}/http`, form)
    expect(answer.statusCode, answer.body).toBe(201)
  }
  await create('six-own', {}, '')
  const gatewayNetworks = [{ interface: 'eth0', subnet: 'fd00:7::/64' }]
  await create('six-lan', { isGateway: true, gatewayNetworks }, 'fd00:7::7')
  const namesOf = async (text: string) => (await find(text)).services.map(({ name }) => name)
  expect(await namesOf('localhost:8766')).toEqual(['six-own'])
  for (const text of ['[fd00:7::7]:8766', 'fd00:7::7']) expect(await namesOf(text)).toEqual(['six-lan'])
})

it('finds a service by its public address as shown in its row', async () => {
  const { id } = (await client.post('/api/nodes', { name: 'broker' })).json()
  const form = { name: 'mqtt', backendPort: 1884 }
  const { publicAccess, port } = (await client.post(`/api/services/${id}/tcp`, form)).json()
  await client.post(`/api/services/${id}/http`, { name: 'hall', pathLocation: '/Floor/2' })
  const namesOf = async (text: string) => (await find(text)).services.map(({ name }) => name)
  for (const text of [publicAccess, `:${port}`]) expect(await namesOf(text)).toEqual(['mqtt'])
  expect(await namesOf('https://web.example.com/')).toEqual(['late'])
  const { VPN_HOST } = (await client.get('/api/config')).json()
  for (const text of [`https://${VPN_HOST}/Floor/2`, 'floor/2']) expect(await namesOf(text)).toEqual(['hall'])
  const attic = { name: 'attic', domain: 'web.example.com', pathLocation: '/Floor/3' }
  await client.post(`/api/services/${id}/http`, attic)
  for (const text of ['https://web.example.com/floor/3', 'ple.com/Fl'])
    expect(await namesOf(text)).toEqual(['attic'])
  for (const text of ['.com/oor', 'x.example.com/fl']) expect(await namesOf(text)).toEqual([])
  expect(await namesOf(String(port))).toEqual(['mqtt'])
  // All services have this.
  for (const text of [VPN_HOST, `https://${VPN_HOST}/`, '/']) expect(await namesOf(text)).toEqual([])
  const listed = await client.get(`/api/services/${id}/tcp?search=${encodeURIComponent(publicAccess)}`)
  expect(listed.json()).toHaveLength(1)
})

it.each(['%', '_', "'", '"', '\\', '*'])('takes %s literally', async (text) => {
  expect(await find(text)).toEqual({ nodes: [], domains: [], services: [] })
})

it.each(['', '?text=', '?text=%20', `?text=${'x'.repeat(254)}`, '?text=a&limit=9'])(
  'refuses the query %s',
  async (query) => {
    expect((await client.get(`/api/find${query}`)).statusCode).toBe(422)
  },
)

it('is for people who are signed in', async () => {
  expect((await server.app.inject({ url: '/api/find?text=web' })).statusCode).toBe(401)
})
