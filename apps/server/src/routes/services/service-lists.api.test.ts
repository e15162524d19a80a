import type { Service } from '@postern/contract/services/services'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { beforeAll, describe, expect, it } from 'vitest'

let node: number
let now = Date.parse('2026-01-01T00:00:00Z')
const server = shared(() => startTestServer({ world: { clock: () => now++ } }))
const client = shared(() => server.signIn())
beforeAll(async () => {
  node = (await client.post('/api/nodes', { name: 'plain' })).json().id
  const add = (name: string, domain: string) => ({ name, domain, backendPort: 80, skipValidation: true })
  // One after the other, because the order of creation matters.
  for (const form of [
    add('Zürich', 'web.example.com'),
    add('ätna', 'bücher.example.com'),
    add('100% _safe_', 'api.example.com'),
    add('berg', 'shop.example.org'),
  ]) {
    await client.post(`/api/services/${node}/http`, form)
    await client.post(`/api/services/${node}/tcp`, form)
  }
})

/** The names that the list holds, the same in both lists. */
async function namesOf(query: string): Promise<string[]> {
  const lists = await Promise.all(
    [`/${node}/http`, `/${node}/tcp`, '/http', '/tcp'].map(async (path) => {
      const rows: Service[] = (await client.get(`/api/services${path}?${query}`)).json()
      return rows.filter(({ system }) => !system).map(({ name }) => name)
    }),
  )
  for (const names of lists) expect(names).toEqual(lists[0])
  return lists[0] ?? []
}

describe('lists of services', () => {
  it.each([
    ['ZÜR', ['Zürich']],
    ['Ät', ['ätna']],
    ['example.com', ['Zürich', 'ätna', '100% _safe_']],
    ['BÜCHER', ['ätna']],
    ['%', ['100% _safe_']],
    ['_', ['100% _safe_']],
    ['  berg ', ['berg']],
    ['', ['Zürich', 'ätna', '100% _safe_', 'berg']],
    ["'; DROP TABLE services; --", []],
  ])('are searched by name and domain: %s', async (text, names) => {
    expect(await namesOf(`search=${encodeURIComponent(text)}`)).toEqual(names)
  })

  it.each([
    ['name,asc', ['100% _safe_', 'berg', 'zürich', 'ätna']],
    ['name,desc', ['ätna', 'zürich', 'berg', '100% _safe_']],
    ['created_at,asc', ['zürich', 'ätna', '100% _safe_', 'berg']],
    ['created_at,desc', ['berg', '100% _safe_', 'ätna', 'zürich']],
  ])('are sorted by %s', async (order, names) => {
    expect((await namesOf(`orderBy=${order}`)).map((name) => name.toLowerCase())).toEqual(names)
  })

  it('can be searched, sorted and paged at once, with the total', async () => {
    const query = 'search=example.com&orderBy=name,desc&limit=2'
    const page = async (number: number) =>
      (await client.get(`/api/services/${node}/tcp?${query}&page=${number}`)).json()
    const [first, second] = [await page(1), await page(2)]
    expect(first.data.map(({ name }: Service) => name)).toEqual(['ätna', 'Zürich'])
    expect(second.data.map(({ name }: Service) => name)).toEqual(['100% _safe_'])
    expect([first.total, second.total]).toEqual([3, 3])
  })

  it('of a domain hold the services of one type, with the names of their nodes', async () => {
    for (const type of ['http', 'tcp'])
      expect((await client.get(`/api/services/${type}?domain=WEB.example.com`)).json()).toMatchObject([
        { type, name: 'Zürich', nodeName: 'plain' },
      ])
  })

  it.each(['orderBy=port,asc', 'orderBy=name', 'orderBy=name,up', 'limit=101', 'page=0', 'type=http'])(
    'refuse %s',
    async (query) => {
      expect((await client.get(`/api/services/tcp?${query}`)).statusCode).toBe(422)
      expect((await client.get(`/api/services/${node}/tcp?${query}`)).statusCode).toBe(422)
    },
  )
})

it('what both types share is one: ids, generic verbs, and who is named when something is still in use', async () => {
  const both: Service[] = []
  const gateway = await client.post('/api/nodes', {
    name: 'office',
    isGateway: true,
    gatewayNetworks: [{ interface: 'eth0', subnet: '192.168.7.0/24' }],
  })
  const { id } = gateway.json()
  for (const type of ['http', 'tcp']) {
    const form = {
      name: `of ${type}`,
      domain: 'both.example.com',
      backendHost: '192.168.7.9',
      backendPort: 80,
      skipValidation: true,
    }
    both.push((await client.post(`/api/services/${id}/${type}`, form)).json())
  }
  expect(new Set(both.map((service) => service.id)).size).toBe(2)
  for (const { type, id: serviceId } of both) {
    const other = type === 'http' ? 'tcp' : 'http'
    for (const [method, path] of [
      ['get', `${other}/${serviceId}`],
      ['patch', `${other}/${serviceId}/disable`],
      ['delete', `${other}/${serviceId}`],
    ] as const)
      expect((await client[method](`/api/services/${id}/${path}`)).statusCode).toBe(404)
  }
  const names = '“of http”, “of tcp”'
  const plain = await client.patch(`/api/nodes/${id}`, { isGateway: false, gatewayNetworks: [] })
  expect([plain.statusCode, plain.json().message]).toEqual([409, expect.stringContaining(names)])
  const [domain] = (await client.get('/api/domains?search=both')).json()
  const kept = await client.delete(`/api/domains/${domain.id}`)
  expect([kept.statusCode, kept.json().message]).toEqual([409, expect.stringContaining(names)])
  expect((await client.get(`/api/nodes/${id}`)).json().services).toBe(2)
  await client.delete(`/api/nodes/${id}`)
  expect((await client.delete(`/api/domains/${domain.id}`)).statusCode).toBe(200)
})

it('domains are sorted by name or time', async () => {
  const namesBy = async (order: string) => {
    const rows: { domain: string }[] = (await client.get(`/api/domains?${order}`)).json()
    return rows.map(({ domain }) => domain.split('.')[0])
  }
  const bücher = 'xn--bcher-kva'
  expect(await namesBy('')).toEqual(['api', 'shop', 'web', bücher])
  expect(await namesBy('orderBy=domain,desc')).toEqual([bücher, 'web', 'shop', 'api'])
  expect(await namesBy('orderBy=created_at,asc')).toEqual(['web', bücher, 'api', 'shop'])
  expect(await namesBy('orderBy=created_at,desc')).toEqual(['shop', 'api', bücher, 'web'])
  expect((await client.get('/api/domains?orderBy=id,asc')).statusCode).toBe(422)
})
