import { type Endpoint, pathOf } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { edgeToken } from '@postern/testkit/edge-client'
import { followStream } from '@postern/testkit/event-stream'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fakes/fake-edge'
import { addPerson } from '@postern/testkit/people'
import { type Client, startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { AUDIENCES, CALLERS, type Caller, MAY, PEOPLE } from '../../test/audiences.ts'

interface World {
  node: number
  domain: number
  http: number
  tcp: number
  token: number
  /** The revision of a change of its TCP service. */
  change: number
}

let edge: FakeEdge
let own: World
let others: World
const server = shared(startTestServer)
const admin = shared(() => server.signIn())
const tokens = new Map<Caller, string>()
const as = (caller: Caller): Client => server.as(tokens.get(caller) ?? 'unknown')

beforeAll(async () => {
  await server.listen()
  await server.listenOnSocket()
  edge = await connectFakeEdge(server.context.config.paths)
  own = await fill('own')
  others = await fill('hidden')
  const reach = { nodes: [own.node], domains: [own.domain] }
  const people = {
    admin: await addPerson(server, 'second admin', 'admin'),
    editor: await addPerson(server, 'editor', 'editor'),
    viewer: await addPerson(server, 'viewer', 'viewer'),
    'limited editor': await addPerson(server, 'limited editor', 'editor', reach),
    'limited viewer': await addPerson(server, 'limited viewer', 'viewer', reach),
  }
  for (const caller of PEOPLE) tokens.set(caller, people[caller].token)
  const makeToken = async (form: object) =>
    (await admin.post('/api/tokens', { name: 'x', password: TEST_ADMIN.password, ...form })).json().token
  tokens.set('program', await makeToken({ role: 'admin' }))
  tokens.set('limited program', await makeToken({ role: 'editor', reach }))
  const pat = await admin.post(`/api/nodes/${own.node}/pats`, { name: 'agent' })
  tokens.set('node', pat.json().token)
  tokens.set('edge', edgeToken(server.context.config.paths))
})
afterAll(() => edge?.close())

/** A node, a domain, and services at both, all with this name. */
async function fill(name: string): Promise<World> {
  const node = (await admin.createNode({ name: `${name}-node` })).id
  const domain = `${name}.example.com`
  const { id: domainId } = await admin.createDomain({ domain, ssl: 'self-signed', skipValidation: true })
  const http = await admin.post(`/api/services/${node}/http`, { name: `${name}-http`, domain })
  const tcp = await admin.post(`/api/services/${node}/tcp`, { name: `${name}-tcp`, backendPort: 22 })
  const token = await admin.post(`/api/nodes/${node}/pats`, { name: `${name}-token` })
  await admin.patch(`/api/services/${node}/tcp/${tcp.json().id}`, { backendPort: 23 })
  const [newest] = (await admin.get('/api/history?limit=1')).json().data
  const world = {
    node,
    domain: domainId,
    http: http.json().id,
    tcp: tcp.json().id,
    token: token.json().id,
    change: newest.revision,
  }
  await server.context.db
    .insertInto('sign_ins')
    .values({
      domain_id: domainId,
      email: `${name}@example.com`,
      address: '192.0.2.1',
      outcome: 'signed-in',
      at: new Date().toISOString(),
    })
    .execute()
  edge.keep([{ at: Date.now() - 1000, service: world.http, path: `/${name}` }])
  edge.sendCounts([[world.http, 1, 100, 1000]])
  return world
}

const ID_OF: Partial<Record<Endpoint['noun'], (world: World, path: string) => number>> = {
  Node: ({ node }) => node,
  Domain: ({ domain }) => domain,
  Token: ({ token }) => token,
  Change: ({ change }) => change,
  Service: ({ http, tcp }, path) => (path.includes('/tcp/') ? tcp : http),
}

const QUERIES: Partial<Record<keyof typeof endpoints, (world: World) => string>> = {
  find: () => 'text=e',
  streamLogs: ({ http }) => `type=http&id=${http}`,
  exportRequests: () => 'format=jsonl',
  serviceFigures: () => 'span=day',
  nodeFigures: () => 'span=day',
  domainFigures: () => 'span=day',
  edgeFigures: () => 'span=day',
  allFigures: () => 'span=day',
  serviceTraffic: () => `ids=${own.http},${others.http}`,
  nodeTraffic: () => `ids=${own.node},${others.node}`,
  domainTraffic: () => `ids=${own.domain},${others.domain}`,
  edgeTraffic: () => 'ids=1',
}

async function call(client: Client, name: keyof typeof endpoints, world: World) {
  const endpoint: Endpoint = endpoints[name]
  const { method, path, noun } = endpoint
  const params = { id: ID_OF[noun]?.(world, path) ?? 1, nodeId: world.node, type: 'http' }
  const query = QUERIES[name]?.(world)
  const url = pathOf(endpoint, params) + (query === undefined ? '' : `?${query}`)
  return await server.call({
    // A stream ends by itself when nobody wants its body.
    method: endpoint.auth === 'stream' ? 'HEAD' : method,
    url,
    headers: client.token === 'unknown' ? {} : { authorization: `Bearer ${client.token}` },
    ...(method !== 'GET' && { payload: {} }),
  })
}

const NAMES = Object.keys(AUDIENCES) as (keyof typeof AUDIENCES)[]
/** A call with nothing in it does not do anything, but for these, which come last. */
const LAST = ['deleteService', 'deleteToken', 'deleteDomain', 'deleteNode', 'logout']
const inOrder = NAMES.toSorted((a, b) => LAST.indexOf(a) - LAST.indexOf(b))

describe('limited people', () => {
  const limited = ['limited editor', 'limited viewer', 'limited program'] as const
  const looks = NAMES.filter((name) => AUDIENCES[name] === 'who looks' && endpoints[name].auth !== 'stream')

  it.each(limited.flatMap((caller) => looks.map((name) => [caller, name] as const)))(
    'a %s finds nothing of others by %s',
    async (caller, name) => {
      for (const world of [own, others])
        expect((await call(as(caller), name, world)).body).not.toMatch(/hidden/)
    },
  )

  it.each(limited)('a %s finds their own', async (caller) => {
    const client = as(caller)
    const list = async (url: string) => (await client.get(url)).json<{ name?: string; domain?: string }[]>()
    expect(await list('/api/nodes')).toMatchObject([{ name: 'own-node', services: 2 }])
    expect(await list('/api/domains')).toMatchObject([{ domain: 'own.example.com' }])
    expect((await list('/api/services')).map(({ name }) => name)).toEqual(['own-http', 'own-tcp'])
    expect((await client.get('/api/find?text=own')).body).toMatch(/own-node.*own-http|own-http.*own-node/)
    expect((await client.get('/api/overview')).json()).toMatchObject({ nodes: { neverConnected: 1 } })
    expect((await client.get('/api/requests')).json().data).toMatchObject([{ path: '/own' }])
    expect((await client.get(`/api/domains/${own.domain}/sign-ins`)).body).toMatch(/own@example/)
  })

  it('see the sum of their nodes as the figures of everything', async () => {
    const whole = async (caller: Caller) =>
      (await as(caller).get('/api/figures?span=hour')).json<{ whole: { sent: number } }>().whole.sent
    await until('the counts', async () => (await whole('admin')) === 2000)
    expect(await whole('limited viewer')).toBe(1000)
    const traffic = await as('limited viewer').get(`/api/figures/nodes?ids=${own.node},${others.node}`)
    expect(traffic.json().data.map(({ id }: { id: number }) => id)).toEqual([own.node])
  })

  it('get only their own rows by streams', async () => {
    const headers = { authorization: `Bearer ${tokens.get('limited viewer')}` }
    const everything = await followStream(`${server.origin}/api/nodes/stream`, {
      authorization: `Bearer ${tokens.get('viewer')}`,
    })
    const nodes = await followStream(`${server.origin}/api/nodes/stream`, headers)
    const { newest } = (await as('limited viewer').get('/api/requests')).json()
    const requests = await followStream(`${server.origin}/api/requests/stream?after=${newest}`, headers)
    await until('all nodes', () => everything.text.includes('hidden-node'))
    await until('their nodes', () => nodes.text.includes('own-node'))
    edge.keep([
      { at: Date.now(), service: others.http, path: '/hidden-later' },
      { at: Date.now(), service: own.http, path: '/own-later' },
    ])
    await until('their request', () => requests.text.includes('/own-later'))
    expect(nodes.text + requests.text).not.toMatch(/hidden/)
    for (const stream of [everything, nodes, requests]) stream.close()
    const log = await followStream(`${server.origin}/api/logs/stream?type=http&id=${others.http}`, headers)
    expect(log.status).toBe(404)
    const file = await as('limited viewer').get('/api/requests/export?format=csv')
    expect(file.body).toMatch(/own/)
    expect(file.body).not.toMatch(/hidden/)
  })

  it('learn from Why? about their own addresses alone', async () => {
    const ask = (address: string) => as('limited viewer').post('/api/why', { address })
    expect((await ask('https://own.example.com/')).statusCode).toBe(201)
    const refused = await ask('https://hidden.example.com/')
    expect(refused.statusCode).toBe(409)
    expect(refused.json().message).toBe('No service that you may see is published at this address')
  })

  it('see their streams begin anew when what they may see changes', async () => {
    const headers = { authorization: `Bearer ${tokens.get('limited viewer')}` }
    const stream = await followStream(`${server.origin}/api/nodes/stream`, headers)
    const { db, bus } = server.context
    const { id: userId } = await db
      .selectFrom('users')
      .select('id')
      .where('username', '=', 'limited viewer')
      .executeTakeFirstOrThrow()
    bus.emit({ kind: 'access-changed', userId })
    await until('the end of the stream', () => stream.isEnded)
  })

  it('may only publish on the domains that were given to them', async () => {
    const client = as('limited editor')
    const publish = (form: object) =>
      client.post(`/api/services/${own.node}/http`, {
        name: 'new',
        skipValidation: true,
        pathLocation: '/new',
        ...form,
      })
    for (const domain of ['hidden.example.com', 'new.example.com', null]) {
      const refused = await publish({ domain })
      expect(refused.statusCode).toBe(422)
      expect(refused.json().errors).toContainEqual({
        field: 'domain',
        message: 'must be one of the domains that were given to you',
      })
    }
    const made = await publish({ domain: 'own.example.com' })
    expect(made.statusCode).toBe(201)
    const moved = await client.post('/api/services/many', {
      action: 'move',
      records: [{ id: made.json().id }],
      to: { nodeId: others.node },
    })
    expect(moved.json()).toMatchObject({ done: [], refused: [{ code: 'not_found' }] })
    const away = await client.post('/api/services/many', {
      action: 'move',
      records: [{ id: made.json().id }],
      to: { domain: 'hidden.example.com' },
    })
    expect(away.json()).toMatchObject({ done: [], refused: [{ id: made.json().id }] })
    const many = await client.post('/api/services/many', {
      action: 'disable',
      records: [{ id: others.http }],
    })
    expect(many.json()).toMatchObject({
      done: [],
      refused: [{ id: others.http, name: null, code: 'not_found' }],
    })
    const filtered = await client.post('/api/services/many', { action: 'disable', filter: {} })
    expect(filtered.body).not.toMatch(/hidden/)
    expect((await admin.get(`/api/services/${others.node}/http/${others.http}`)).json().enabled).toBe(true)
  })

  it('are not told whose port or network it is that they may not have', async () => {
    const { port } = (await admin.get(`/api/services/${others.node}/tcp/${others.tcp}`)).json()
    const form = { name: 'mine', backendPort: 22, port }
    const refused = await as('limited editor').post(`/api/services/${own.node}/tcp`, form)
    expect(refused.statusCode).toBe(409)
    expect(refused.json().message).toBe(`tcp port ${port} already belongs to something that you may not see`)
    const told = await as('editor').post(`/api/services/${own.node}/tcp`, form)
    expect(told.json().message).toMatch(/“hidden-tcp”/)
  })

  it('do not let an agent publish where they may not', async () => {
    const client = as('limited editor')
    for (const form of [{ agentMayPublish: true }, { agentDomains: ['hidden.example.com'] }]) {
      const refused = await client.patch(`/api/nodes/${own.node}`, form)
      expect(refused.statusCode).toBe(422)
      expect(refused.json().errors).toMatchObject([{ field: Object.keys(form)[0] }])
    }
    expect((await client.patch(`/api/nodes/${own.node}`, { keepalive: 30 })).statusCode).toBe(200)
  })

  it('see a domain at which a service of theirs is, and do not change it', async () => {
    const moved = await admin.patch(`/api/services/${own.node}/http/${own.http}`, {
      domain: 'hidden.example.com',
      pathLocation: '/own',
    })
    expect(moved.statusCode).toBe(200)
    const client = as('limited editor')
    expect((await client.get(`/api/services/${own.node}/http/${own.http}`)).json().domain).toBe(
      'hidden.example.com',
    )
    expect((await client.get(`/api/domains/${others.domain}`)).statusCode).toBe(200)
    expect((await client.get(`/api/domains/${others.domain}/sign-ins`)).body).not.toMatch(/hidden@/)
    const refused = await client.patch(`/api/domains/${others.domain}`, { ssl: 'self-signed' })
    expect(refused.json()).toMatchObject({ code: 'role' })
    const edited = await client.patch(`/api/services/${own.node}/http/${own.http}`, { name: 'own-renamed' })
    expect(edited.statusCode).toBe(200)
    const back = { name: 'own-http', domain: 'own.example.com', pathLocation: '/' }
    expect((await client.patch(`/api/services/${own.node}/http/${own.http}`, back)).statusCode).toBe(200)
  })
})

test('only an admin changes the service of the console', async () => {
  const { db } = server.context
  const consoles = await db
    .selectFrom('services')
    .selectAll()
    .where('system', '=', 1)
    .executeTakeFirstOrThrow()
  const url = `/api/services/${consoles.node_id}/http/${consoles.id}`
  expect((await as('editor').patch(url, { requireAuth: true })).json()).toMatchObject({ code: 'role' })
})

describe.each(inOrder)('%s', (name) => {
  const allowed: readonly Caller[] = MAY[AUDIENCES[name]]

  it('is refused to everybody who may not call it, also for records of their own', async () => {
    for (const caller of CALLERS.filter((each) => !allowed.includes(each))) {
      const { statusCode } = await call(as(caller), name, own)
      expect([401, 403], `${caller}: ${statusCode}`).toContain(statusCode)
    }
  })

  it('is open to those who may, for records that they may see', async () => {
    for (const caller of allowed.filter((each) => each !== 'admin' && each !== 'nobody')) {
      // What is deleted is gone for the next.
      if (LAST.includes(name) && caller !== allowed.at(-1)) continue
      const { statusCode } = await call(as(caller), name, own)
      // What needs no session may ask for a credential of its own.
      const isRefused = AUDIENCES[name] !== 'everybody' && [401, 403].includes(statusCode)
      expect(isRefused || statusCode >= 500, `${caller}: ${statusCode}`).toBe(false)
    }
  })

  it('answers a limited person nothing about a record of others', async () => {
    const { path, noun }: Endpoint = endpoints[name]
    const isNamed = path.includes(':nodeId') || (path.includes(':id') && ID_OF[noun] !== undefined)
    if (!isNamed) return
    for (const caller of allowed.filter((each) => each.startsWith('limited')))
      expect((await call(as(caller), name, others)).statusCode, caller).toBe(404)
  })
})
