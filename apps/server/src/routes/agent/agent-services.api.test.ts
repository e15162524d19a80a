import { LIMITS } from '@postern/contract/limits'
import type { Publication, PublishAnswer, PublishedService } from '@postern/contract/publishing'
import type { Service } from '@postern/contract/services'
import { fetchState } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'

interface TestNode {
  id: number
  token: string
  name: string
}

let node: TestNode
const server = fresh(() =>
  startTestServer({
    settings: { POSTERN_PORT_RANGE: '32700-32710', POSTERN_OIDC_ISSUER: 'https://id.example.com', ...OIDC },
    world: { resolver: { resolve: async () => ['198.51.100.1'] } },
  }),
)
const client = fresh(() => server.signIn())
beforeEach(async () => {
  node = await createNode('gw')
})

const OIDC = { POSTERN_OIDC_CLIENT_ID: 'postern', POSTERN_OIDC_CLIENT_SECRET: 'secret' }
const createNode = async (name: string, over: object = {}): Promise<TestNode> =>
  (
    await client.post('/api/nodes', { name, agentMayPublish: true, agentDomains: ['*.example.com'], ...over })
  ).json()
const send = (payload: unknown, token = node.token) =>
  server.call({
    method: 'PUT',
    url: '/api/agent/services',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    payload: JSON.stringify(payload),
  })
const publish = async (
  services: unknown[],
  source = 'docker',
  token = node.token,
): Promise<Publication[]> => {
  const answer = await send({ source, services }, token)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<PublishAnswer>().services
}
const web = (key: string, over: object = {}) =>
  ({
    ...{ key, type: 'http', name: key, domain: `${key}.example.com`, backendPort: 8080 },
    ...over,
  }) satisfies PublishedService
const port = (key: string, over: object = {}) =>
  ({ key, type: 'tcp', name: key, backendPort: 5432, ...over }) satisfies PublishedService
const list = async (): Promise<Service[]> => [
  ...(await client.get('/api/services/http')).json(),
  ...(await client.get('/api/services/tcp')).json(),
]
const named = async (name: string) => (await list()).find((service) => service.name === name)
const namesOf = async () => (await list()).filter(({ source }) => source !== null).map(({ name }) => name)
const revision = async () => (await fetchState(server)).revision
const domains = async () =>
  (await client.get('/api/domains')).json().map(({ domain }: { domain: string }) => domain)
const toggle = ({ nodeId, type, id }: Service, verb: 'enable' | 'disable') =>
  client.patch(`/api/services/${nodeId}/${type}/${id}/${verb}`)
const remove = ({ nodeId, type, id }: Service) => client.delete(`/api/services/${nodeId}/${type}/${id}`)
const refusal = (field: string, message: string | RegExp) => ({
  state: 'refused',
  errors: [{ field, message: typeof message === 'string' ? message : expect.stringMatching(message) }],
})
const get = async (name: string): Promise<Service> => {
  const service = await named(name)
  if (!service) throw new Error(`no service ${name}`)
  return service
}

describe('a set', () => {
  it('is published in one change, each service as its form would be', async () => {
    const before = await revision()
    const answer = await publish([
      web('grafana', { pathLocation: '/g', backendProto: 'https', allowedIps: ['203.0.113.7/24'] }),
      port('db', { port: 32705, domain: 'db.example.com', ssl: true }),
      { ...port('dns'), type: 'udp' },
    ])
    expect(answer).toEqual([
      {
        ...{ key: 'grafana', state: 'published', type: 'http', id: expect.any(Number) },
        ...{ address: 'https://grafana.example.com/g', enabled: true, disabledByPerson: false },
      },
      {
        ...{ key: 'db', state: 'published', type: 'tcp', id: expect.any(Number), port: 32705 },
        ...{ address: 'tcp://db.example.com:32705', enabled: true, disabledByPerson: false },
      },
      {
        ...{ key: 'dns', state: 'published', type: 'udp', id: expect.any(Number), port: 32700 },
        ...{ address: 'udp://203.0.113.1:32700', enabled: true, disabledByPerson: false },
      },
    ])
    expect(await revision()).toBe(before + 1)
    expect(await named('grafana')).toMatchObject({
      ...{ nodeId: node.id, source: 'docker', system: false, backendPort: 8080, backendProto: 'https' },
      ...{ allowedIps: ['203.0.113.0/24'], requireAuth: false, enabled: true },
    })
    expect(await named('db')).toMatchObject({ ssl: true, source: 'docker', port: 32705, proto: 'tcp' })
    const { routes } = (await fetchState(server)).sections
    expect(routes).toContainEqual(expect.objectContaining({ domain: 'grafana.example.com', path: '/g' }))
  })

  it('that is sent again changes nothing, and answers the same', async () => {
    const set = [web('a'), port('b'), web('bad', { backendPort: 0 }), port('c', { port: 32700 })]
    const first = await publish(set)
    const before = await revision()
    expect(await publish(set)).toEqual(first)
    expect(await publish([...set])).toEqual(first)
    expect(await revision()).toBe(before)
  })

  it('changes only what differs, and keeps ids and ports', async () => {
    const [a, b] = await publish([web('a'), port('b')])
    const before = await get('a')
    const [sameA, newB] = await publish([web('a'), port('b', { backendPort: 5433, name: 'postgres' })])
    expect([sameA, newB]).toEqual([a, b])
    expect(await get('a')).toEqual({ ...before, state: expect.anything() })
    expect(await get('postgres')).toMatchObject({ backendPort: 5433 })
  })

  it('hides no service behind a bad one', async () => {
    const answer = await publish([
      web('ok'),
      web('unnamed', { name: ' ' }),
      web('star', { domain: '*.example.com' }),
      web('without', { domain: undefined }),
      { key: 'odd', type: 'ftp' },
      port('low', { port: 22 }),
      port('wide', { backendPort: 70_000 }),
      web('strange', { backendHost: '192.168.7.9' }),
      web('ok'),
      web('lost', { domain: 'elsewhere.example.org' }),
      port('last'),
    ])
    expect(answer).toMatchObject([
      { key: 'ok', state: 'published' },
      { key: 'unnamed', ...refusal('name', 'This field is required') },
      { key: 'star', ...refusal('domain', 'Wildcards are not supported. Add each domain.') },
      { key: 'without', ...refusal('domain', 'The domain field is required') },
      { key: 'odd', ...refusal('type', 'must be http, tcp or udp') },
      { key: 'low', ...refusal('port', 'must be a port from 32700 to 32710') },
      { key: 'wide', ...refusal('backendPort', 'Enter a port from 1 to 65535.') },
      {
        key: 'strange',
        ...refusal('backendHost', 'This node can only expose its own services. Leave the host empty.'),
      },
      { key: 'ok', ...refusal('key', 'is used twice') },
      { key: 'lost', ...refusal('domain', /198\.51\.100\.1/) },
      { key: 'last', state: 'published' },
    ])
    expect(await namesOf()).toEqual(['ok', 'last'])
    expect(await domains()).toEqual(['ok.example.com'])
  })

  it('lets services change places, and a new one follow another at its address', async () => {
    const at = (key: string, pathLocation: string) => web(key, { domain: 'one.example.com', pathLocation })
    const first = await publish([
      at('a', '/a'),
      at('b', '/b'),
      port('p', { port: 32701 }),
      port('q', { port: 32702 }),
    ])
    const second = await publish([
      at('a', '/b'),
      at('b', '/a'),
      port('p', { port: 32702 }),
      port('q', { port: 32701 }),
    ])
    expect(second).toMatchObject(first.map(({ key }) => ({ key, state: 'published' })))
    expect(await get('a')).toMatchObject({ pathLocation: '/b' })
    expect(await publish([at('c', '/b'), { ...port('p', { port: 32702 }), type: 'udp' }])).toMatchObject([
      { key: 'c', state: 'published' },
      { key: 'p', state: 'published', type: 'udp' },
    ])
    expect(await namesOf()).toEqual(['c', 'p'])
  })

  it('gives one address to one of two, the same each time', async () => {
    const set = [port('first', { port: 32703 }), port('second', { port: 32703 })]
    const answer = await publish(set)
    expect(answer).toMatchObject([
      { key: 'first', state: 'published' },
      { key: 'second', ...refusal('port', 'tcp port 32703 already belongs to “first”') },
    ])
    expect(await publish(set.toReversed())).toMatchObject([{ state: 'refused' }, { state: 'published' }])
  })

  it('gives ports to those that name none after those that do', async () => {
    expect(await publish([port('any'), port('own', { port: 32700 })])).toMatchObject([
      { key: 'any', port: 32701 },
      { key: 'own', port: 32700 },
    ])
  })

  it('that does not name a service any more ends it; an empty one ends all', async () => {
    await publish([web('a'), web('b'), port('c')])
    await publish([web('b')])
    expect(await namesOf()).toEqual(['b'])
    expect(await publish([])).toEqual([])
    expect(await namesOf()).toEqual([])
    const before = await revision()
    await publish([])
    expect(await revision()).toBe(before)
  })

  it('ends what was published when it is right no more', async () => {
    await publish([web('a')])
    expect(await publish([web('a', { backendPort: 0 })])).toMatchObject([{ state: 'refused' }])
    expect(await namesOf()).toEqual([])
  })

  it('holds 200 services, not more; a key is short and printable', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        web(`s${i}`, { domain: 'one.example.com', pathLocation: `/${i}` }),
      )
    expect((await publish(many(LIMITS.publishedServices))).every(({ state }) => state === 'published')).toBe(
      true,
    )
    expect((await send({ source: 'docker', services: many(201) })).json().errors).toEqual([
      { field: 'services', message: 'must have at most 200 entries' },
    ])
    for (const key of ['', ' a', 'a\n', 'ä', 'x'.repeat(201), 7, undefined]) {
      const answer = await send({ source: 'docker', services: [{ ...web('x'), key }] })
      expect(answer.statusCode).toBe(422)
      expect(answer.json().errors[0].field).toBe('services.0.key')
    }
    for (const source of ['', 'Docker', '-', '../../x', 'a'.repeat(33), null])
      expect((await send({ source, services: [] })).statusCode).toBe(422)
  })

  it('comes from five sources at most, and not without end', async () => {
    for (let i = 0; i < LIMITS.sourcesPerNode; i++) await publish([web(`s${i}`)], `s${i}`)
    const refused = await send({ source: 'more', services: [web('more')] })
    expect(refused.statusCode).toBe(409)
    expect(refused.json().message).toMatch(/^This node has services of “s0”, “s1”, “s2”, “s3”, “s4” already/)
    await publish([], 's0')
    await publish([web('more')], 'more')
    const statuses = await Promise.all(
      Array.from({ length: 200 }, () => send({ source: 's1', services: [] })),
    )
    const late = statuses.filter(({ statusCode }) => statusCode === 429)
    expect(late.length).toBeGreaterThan(0)
    expect(Number(late[0]?.headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('an agent touches nothing but its own', () => {
  it('neither services of people, of other sources, nor of other nodes', async () => {
    const other = await createNode('other')
    const form = { name: 'mine', domain: 'mine.example.com', skipValidation: true }
    await client.post(`/api/services/${node.id}/http`, form)
    await publish([web('file')], 'file')
    await publish([web('theirs')], 'docker', other.token)
    await publish([web('docker')])
    await publish([])
    expect((await list()).map(({ name }) => name)).toEqual(['Console', 'mine', 'file', 'theirs'])
    expect(
      await publish([
        web('docker', { domain: 'mine.example.com' }),
        web('b', { domain: 'file.example.com' }),
        web('c', { domain: 'mine.example.com', pathLocation: '/c' }),
      ]),
    ).toMatchObject([
      refusal('pathLocation', 'mine.example.com/ already belongs to “mine”'),
      refusal('pathLocation', 'file.example.com/ already belongs to “file”'),
      { state: 'published' },
    ])
  })

  it('not the console, under any of its names', async () => {
    const system = (await list()).find((service) => service.system)
    await client.patch(`/api/services/${system?.nodeId}/http/${system?.id}`, {
      ...{ domain: 'console.example.com', skipValidation: true },
    })
    const before = await revision()
    const answer = await publish([
      web('a', { domain: 'console.example.com', pathLocation: '/deeper' }),
      web('b', { domain: 'CONSOLE.example.com.', pathLocation: '/x' }),
      port('c', { domain: 'console.example.com', ssl: true }),
      port('d', { ssl: true }),
    ])
    const words = 'is the address of the console: choose another domain'
    expect(answer).toMatchObject([
      refusal('domain', words),
      refusal('domain', words),
      refusal('domain', words),
      refusal('domain', "is needed for TLS: agents can't use the console's certificate"),
    ])
    expect(await revision()).toBe(before)
  })

  it('not the name of the installation', async () => {
    const named = await startTestServer({ settings: { POSTERN_PUBLIC_HOST: 'postern.example.com' } })
    const admin = await named.signIn()
    const own = (await admin.post('/api/nodes', { name: 'a', agentMayPublish: true })).json()
    const answer = await named.call({
      ...{ method: 'PUT', url: '/api/agent/services', headers: { authorization: `Bearer ${own.token}` } },
      payload: {
        source: 'docker',
        services: [web('a', { domain: 'postern.example.com', pathLocation: '/a' })],
      },
    })
    expect(answer.json().services).toMatchObject([refusal('domain', /console/)])
    await named.close()
  })

  it('no domain that services of another node have, nor one with sign-in', async () => {
    const other = await createNode('other')
    await publish([web('theirs')], 'docker', other.token)
    await client.post('/api/domains', {
      ...{ domain: 'locked.example.com', skipValidation: true, authentication: true },
    })
    expect(
      await publish([
        web('a', { domain: 'theirs.example.com', pathLocation: '/mine' }),
        port('b', { domain: 'theirs.example.com' }),
        web('c', { domain: 'locked.example.com' }),
        web('d', { requireAuth: false }),
        web('e', { requireAuth: true, skipAuthRoutes: '/' }),
        web('f', { id: 1, system: 1, node_id: 1 }),
      ]),
    ).toMatchObject([
      refusal('domain', 'belongs to services of another node: choose another domain'),
      refusal('domain', 'belongs to services of another node: choose another domain'),
      refusal('domain', /^has sign-in/),
      refusal('requireAuth', 'Only people set sign-in, in the console'),
      {
        errors: [
          { field: 'requireAuth', message: 'Only people set sign-in, in the console' },
          { field: 'skipAuthRoutes', message: 'Only people set sign-in, in the console' },
        ],
      },
      { errors: [{ field: 'id' }, { field: 'system' }, { field: 'node_id' }] },
    ])
    expect(await namesOf()).toEqual(['theirs'])
  })

  it('no domain of people that none gave to its node, and no name of which DNS leads elsewhere', async () => {
    const agentDomains = ['given.example.org', '*.apps.example.org']
    const own = await createNode('own', { agentDomains })
    for (const domain of ['shop.example.com', 'given.example.org'])
      await client.post('/api/domains', { domain, skipValidation: true })
    const at = (key: string, domain: string, over = {}) => web(key, { domain, ...over })
    expect(
      await publish(
        [
          at('a', 'shop.example.com'),
          at('b', 'given.example.org'),
          at('c', 'new.apps.example.org'),
          at('d', 'apps.example.org'),
          at('e', 'evilapps.example.org'),
          at('f', 'x.apps.example.org', { skipValidation: true }),
          port('g', { domain: 'shop.example.com', ssl: true }),
        ],
        'docker',
        own.token,
      ),
    ).toMatchObject([
      refusal('domain', /^is not available to this node's agent/),
      { state: 'published' },
      { state: 'published' },
      refusal('domain', /198\.51\.100\.1/),
      refusal('domain', /198\.51\.100\.1/),
      refusal('skipValidation', /^Only people can skip the check of a domain/),
      refusal('domain', /^is not available to this node's agent/),
    ])
    await client.post(`/api/services/${own.id}/http`, { name: 'shop', domain: 'shop.example.com' })
    const beside = at('a', 'shop.example.com', { pathLocation: '/a' })
    expect(await publish([beside], 'docker', own.token)).toMatchObject([{ state: 'published' }])
  })

  it('loses what it has when a person takes the domain from its node, and gets it back', async () => {
    await publish([web('a')])
    const carried = async () => (await fetchState(server)).sections.routes?.length
    expect(await carried()).toBe(2)
    await client.patch(`/api/nodes/${node.id}`, { agentDomains: [] })
    expect((await get('a')).state).toMatchObject({
      phase: 'failed',
      problem: expect.stringMatching(/^Withheld: a\.example\.com is not available to this node's agent/),
    })
    expect(await carried()).toBe(1)
    await client.patch(`/api/nodes/${node.id}`, { agentDomains: ['a.example.com'] })
    expect(await carried()).toBe(2)
  })

  it('keeps a domain that it brought when a person saves it: it is given to its node then', async () => {
    server.context.resolver.resolve = async () => ['203.0.113.1']
    await publish([web('a', { domain: 'a.example.org' })])
    const { id } = (await client.get('/api/domains')).json()[0]
    expect((await client.patch(`/api/domains/${id}`, { ssl: 'self-signed' })).statusCode).toBe(200)
    expect((await client.get(`/api/nodes/${node.id}`)).json().agentDomains).toEqual([
      '*.example.com',
      'a.example.org',
    ])
    expect(await publish([web('a', { domain: 'a.example.org' })])).toMatchObject([{ state: 'published' }])
  })

  it('loses a service when a person gives its domain sign-in', async () => {
    await publish([web('a')])
    const { id } = (await client.get('/api/domains')).json()[0]
    expect((await client.patch(`/api/domains/${id}`, { authentication: true })).statusCode).toBe(200)
    expect(await publish([web('a')])).toMatchObject([refusal('domain', /^has sign-in/)])
    expect(await domains()).toEqual(['a.example.com'])
  })
})

describe('a domain that is made for a source', () => {
  it('goes with the last service there', async () => {
    await publish([web('a'), web('b', { domain: 'a.example.com', pathLocation: '/b' })])
    await publish([web('b', { domain: 'a.example.com', pathLocation: '/b' })])
    expect(await domains()).toEqual(['a.example.com'])
    await publish([web('b')])
    expect(await domains()).toEqual(['b.example.com'])
    await remove(await get('b'))
    expect(await domains()).toEqual([])
  })

  it('stays while others use it, and when a person saved it', async () => {
    await publish([web('a'), web('b')])
    const form = { name: 'mine', domain: 'a.example.com', pathLocation: '/mine' }
    await client.post(`/api/services/${node.id}/http`, form)
    const rows: { id: number; domain: string }[] = (await client.get('/api/domains')).json()
    const saved = rows.find(({ domain }) => domain === 'b.example.com')
    await client.patch(`/api/domains/${saved?.id}`, { skipValidation: true })
    await publish([])
    expect(await domains()).toEqual(['a.example.com', 'b.example.com'])
  })

  it('a domain that a person made stays', async () => {
    await client.post('/api/domains', { domain: 'a.example.com', skipValidation: true })
    await publish([web('a')])
    await publish([])
    expect(await domains()).toEqual(['a.example.com'])
  })

  it('is looked up, a bounded number of times', async () => {
    let asked = 0
    server.context.resolver.resolve = async () => {
      asked++
      return []
    }
    const unknown = Array.from({ length: 150 }, (_, i) => web(`s${i}`, { domain: `s${i}.example.org` }))
    await publish(unknown)
    const answer = await publish(unknown)
    // The server's own name is an address here, which is not looked up.
    expect(asked).toBe(200)
    const refused = refusal('domain', /^is one new domain too many/)
    expect(answer.at(-1)).toMatchObject(refused)
    // Its certificate alone costs enough.
    expect(await publish([web('late')])).toMatchObject([refused])
  })
})

describe('a person', () => {
  beforeEach(() => publish([web('a'), port('b')]))

  it('cannot edit a service of a source', async () => {
    const a = await get('a')
    const answer = await client.patch(`/api/services/${node.id}/http/${a.id}`, { name: 'mine' })
    expect(answer.statusCode).toBe(409)
    expect(answer.json()).toMatchObject({
      code: 'published',
      message: 'This service comes from Docker on “gw”: change it there',
    })
    const b = await get('b')
    expect((await client.patch(`/api/services/${node.id}/tcp/${b.id}`, { port: 32710 })).statusCode).toBe(409)
  })

  it('can disable it, until a person enables it again', async () => {
    await toggle(await get('a'), 'disable')
    const held = { key: 'a', enabled: false, disabledByPerson: true }
    expect(await publish([web('a'), port('b')])).toMatchObject([held, { key: 'b', enabled: true }])
    // Also when the container is made anew meanwhile.
    await publish([])
    expect(await publish([web('a', { backendPort: 9 })])).toMatchObject([held])
    await remove(await get('a'))
    expect(await publish([web('a')])).toMatchObject([held])
    expect((await toggle(await get('a'), 'enable')).statusCode).toBe(200)
    expect(await publish([web('a')])).toMatchObject([{ enabled: true, disabledByPerson: false }])
    await publish([])
    expect(await publish([web('a')])).toMatchObject([{ enabled: true, disabledByPerson: false }])
  })

  it('cannot enable what its source disabled', async () => {
    await publish([web('a', { enabled: false })])
    const a = await get('a')
    expect(a.enabled).toBe(false)
    const answer = await toggle(a, 'enable')
    expect(answer.json()).toMatchObject({ message: 'Docker on “gw” disabled it: enable it there' })
    await toggle(a, 'disable')
    expect(await publish([web('a')])).toMatchObject([{ enabled: false, disabledByPerson: true }])
  })

  it('can delete it; it comes back with the next set', async () => {
    expect((await remove(await get('a'))).statusCode).toBe(200)
    expect(await namesOf()).toEqual(['b'])
    await publish([web('a'), port('b')])
    expect(await namesOf()).toEqual(['a', 'b'])
  })

  it('reads who did it', async () => {
    await publish([web('a', { backendPort: 1 })])
    await publish([])
    const { changes } = (await client.get('/api/overview')).json()
    expect(changes.slice(0, 3)).toMatchObject([
      { actor: 'Docker on gw', what: 'service withdrawn', name: 'a', nodeId: node.id },
      { actor: 'Docker on gw', what: 'service published', name: 'a', nodeId: node.id },
      { actor: 'Docker on gw', what: 'services published', name: '“a”, “b”', nodeId: node.id },
    ])
  })
})

describe('the right to publish', () => {
  it('is off unless a person gives it, and the agent learns of it', async () => {
    const plain = await createNode('plain', { agentMayPublish: undefined })
    expect((await client.get(`/api/nodes/${plain.id}`)).json().agentMayPublish).toBe(false)
    const config = async () =>
      (
        await server.call({
          ...{ method: 'GET', url: '/api/agent/config' },
          headers: { authorization: `Bearer ${plain.token}` },
        })
      ).json()
    expect((await config()).mayPublish).toBe(false)
    const refused = await send({ source: 'docker', services: [web('a')] }, plain.token)
    expect(refused.statusCode).toBe(403)
    expect(refused.json()).toMatchObject({
      code: 'may_not_publish',
      message:
        "The agent of “plain” may not publish services. Tick “Agent May Publish Services” in the node's form.",
    })
    await client.patch(`/api/nodes/${plain.id}`, { agentMayPublish: true })
    expect((await config()).mayPublish).toBe(true)
    await publish([web('a')], 'docker', plain.token)
  })

  it('is for node tokens only', async () => {
    expect((await send({ source: 'docker', services: [] }, client.token)).statusCode).toBe(403)
    expect((await send({ source: 'docker', services: [] }, 'ptn_unknown')).statusCode).toBe(401)
  })

  it('takes all with it when it is withdrawn, in one change, and what people disabled stays so', async () => {
    await publish([web('a'), port('b')])
    await publish([web('c')], 'file')
    await toggle(await get('a'), 'disable')
    await client.post(`/api/services/${node.id}/tcp`, { name: 'mine', backendPort: 1883 })
    const before = await revision()
    await client.patch(`/api/nodes/${node.id}`, { agentMayPublish: false })
    expect(await revision()).toBe(before + 1)
    expect((await list()).map(({ name }) => name)).toEqual(['Console', 'mine'])
    expect(await domains()).toEqual([])
    expect((await fetchState(server)).sections.ports).toHaveLength(1)
    await client.patch(`/api/nodes/${node.id}`, { agentMayPublish: true })
    expect(await publish([web('a')])).toMatchObject([{ disabledByPerson: true }])
  })

  it('ends with the node, and all that was published', async () => {
    await publish([web('a'), port('b')])
    await toggle(await get('a'), 'disable')
    await publish([port('b')])
    expect((await client.delete(`/api/nodes/${node.id}`)).statusCode).toBe(200)
    expect(await namesOf()).toEqual([])
    expect(await domains()).toEqual([])
  })

  it('leaves everything as it is while the agent is gone or the node disconnected', async () => {
    await publish([web('a')])
    await client.patch(`/api/nodes/${node.id}/disable`)
    expect(await get('a')).toMatchObject({ enabled: true })
    expect(await publish([web('a')])).toMatchObject([{ state: 'published' }])
  })
})

it('a gateway publishes hosts of its networks by address and name, and no others', async () => {
  const gatewayNetworks = [{ interface: 'eth0', subnet: '172.20.0.0/16' }]
  const gateway = await createNode('docker host', { isGateway: true, gatewayNetworks })
  expect(
    await publish(
      [
        web('a', { backendHost: '172.20.0.5' }),
        web('b', { backendHost: 'grafana' }),
        web('c', { backendHost: '10.0.0.1' }),
        web('d', { backendHost: '127.0.0.1' }),
        web('e', {}),
      ],
      'docker',
      gateway.token,
    ),
  ).toMatchObject([
    { key: 'a', state: 'published' },
    { key: 'b', state: 'published' },
    { key: 'c', ...refusal('backendHost', /^must be inside the networks of docker host: 172\.20\.0\.0\/16/) },
    { key: 'd', state: 'refused' },
    { key: 'e', ...refusal('backendHost', 'This field is required') },
  ])
})
