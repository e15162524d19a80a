import { connectEdgeClient, fetchState, onlinePeer } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'

let plain: number
let gateway: number
let local: number
const server = shared(() =>
  startTestServer({ world: { resolver: { resolve: async () => ['198.51.100.1'] } } }),
)
const client = shared(() => server.signIn())
beforeAll(async () => {
  plain = (await client.post('/api/nodes', { name: 'plain' })).json().id
  const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  gateway = (await client.post('/api/nodes', { name: 'office', isGateway: true, gatewayNetworks })).json().id
  const nodes: { id: number; isLocal: boolean }[] = (await client.get('/api/nodes')).json()
  local = nodes.find(({ isLocal }) => isLocal)?.id ?? 0
})

let count = 0
const uniqueDomain = () => `s${++count}.example.com`
const create = (node: number, form: object) => client.post(`/api/services/${node}/http`, form)
const fresh = (over: object = {}) => ({ name: 'web', domain: uniqueDomain(), skipValidation: true, ...over })
const errorsOf = (answer: { json(): unknown }) => {
  // Every refusal has this shape; a wrong one makes the expectation below fail.
  const body = answer.json() as { errors?: { field: string; message: string }[] }
  return body.errors ?? []
}
const fieldsOf = (answer: { json(): unknown }) => errorsOf(answer).map(({ field }) => field)
const routeOf = async (id: number) =>
  (await fetchState(server)).sections.routes?.find((route) => route.id === id)

describe('creating', () => {
  it('makes the new domain with its certificate in the same change', async () => {
    const before = await fetchState(server)
    const answer = await create(plain, fresh({ domain: 'New.Example.com', backendPort: 8080 }))
    expect(answer.statusCode).toBe(201)
    expect(answer.json()).toMatchObject({
      nodeId: plain,
      domain: 'new.example.com',
      pathLocation: '/',
      backendProto: 'http',
      backendHost: null,
      backendPort: 8080,
      enabled: true,
      ssl: true,
      selfSigned: true,
      dnsUnchecked: true,
      publicAccess: 'https://new.example.com/',
      system: false,
    })
    const after = await fetchState(server)
    expect(after.revision - before.revision).toBe(1)
    expect(after.sections.certificates.some(({ domains }) => domains.includes('new.example.com'))).toBe(true)
    const domains = (await client.get('/api/domains?search=new.example')).json()
    expect(domains).toMatchObject([{ ssl: 'self-signed', skipValidation: true }])
  })

  it('strips the path of a service that has one', async () => {
    const answer = await create(plain, fresh({ pathLocation: '/wiki', stripPath: true }))
    const { id } = answer.json()
    const url = `/api/services/${plain}/http/${id}`
    const strips = async () => [(await client.get(url)).json().stripPath, (await routeOf(id))?.stripPath]
    expect(answer.json()).toMatchObject({ pathLocation: '/wiki', stripPath: true })
    expect(await strips()).toEqual([true, true])
    await client.patch(url, { name: 'still' })
    expect(await strips()).toEqual([true, true])
    // Nothing is to be stripped there, also when a path comes back.
    await client.patch(url, { pathLocation: '/' })
    expect(await strips()).toEqual([false, false])
    await client.patch(url, { pathLocation: '/wiki' })
    expect(await strips()).toEqual([false, false])
    expect(fieldsOf(await client.patch(url, { stripPath: 'yes' }))).toEqual(['stripPath'])
    expect((await create(plain, fresh())).json().stripPath).toBe(false)
  })

  it('says whose certificate visitors get', async () => {
    const domain = uniqueDomain()
    const { id } = (await create(plain, fresh({ domain }))).json()
    await sql`UPDATE certificates SET kind = 'certbot'
      WHERE domain_id = (SELECT id FROM domains WHERE domain = ${domain})`.execute(server.context.db)
    expect((await client.get(`/api/services/${plain}/http/${id}`)).json()).toMatchObject({
      selfSigned: false,
    })
  })

  it('checks a new domain like the domain form, and shows all errors at once', async () => {
    const answer = await create(plain, { name: 'web', domain: uniqueDomain(), backendHost: '10.0.0.9' })
    expect(answer.statusCode).toBe(422)
    expect(fieldsOf(answer).sort()).toEqual(['backendHost', 'domain'])
    expect(errorsOf(answer).find(({ field }) => field === 'domain')?.message).toContain('198.51.100.1')
  })

  it('leaves no domain behind when the service is refused', async () => {
    const domain = uniqueDomain()
    await create(plain, { name: 'web', domain, skipValidation: true, backendHost: '10.0.0.9' })
    expect((await client.get(`/api/domains?search=${domain}`)).json()).toEqual([])
  })

  it('does not ask about a domain that is there already', async () => {
    const { domain } = (await create(plain, fresh())).json()
    expect((await create(plain, { name: 'api', domain, pathLocation: '/api/' })).statusCode).toBe(201)
  })

  it('of a node that is not there is 404', async () => {
    expect((await create(99_999, fresh())).statusCode).toBe(404)
  })
})

describe('the backend host', () => {
  it('is refused for a plain node, and needed for a gateway and the local node', async () => {
    expect(fieldsOf(await create(plain, fresh({ backendHost: '192.168.7.2' })))).toEqual(['backendHost'])
    expect(fieldsOf(await create(gateway, fresh()))).toEqual(['backendHost'])
    expect(fieldsOf(await create(local, fresh({ backendHost: '' })))).toEqual(['backendHost'])
  })

  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '::1'])(
    '%s of a plain node is the node itself',
    async (backendHost) => {
      const made = await create(plain, fresh({ backendHost }))
      expect([made.statusCode, made.json()]).toMatchObject([201, { backendHost: null }])
      const { id } = made.json()
      const patched = await client.patch(`/api/services/${plain}/http/${id}`, { backendHost })
      expect([patched.statusCode, patched.json()]).toMatchObject([200, { backendHost: null }])
      expect((await routeOf(id))?.backend.host).toBeNull()
    },
  )

  it.each(['127.0.0.2', 'x.localhost', '10.64.0.2', '::ffff:127.0.0.1'])(
    '%s of a plain node is refused',
    async (backendHost) => {
      expect(fieldsOf(await create(plain, fresh({ backendHost })))).toEqual(['backendHost'])
    },
  )

  it('of a gateway lies in its networks, which the message names', async () => {
    const [error] = errorsOf(await create(gateway, fresh({ backendHost: '192.168.8.2' })))
    expect(error).toMatchObject({ field: 'backendHost' })
    expect(error?.message).toContain('192.168.7.0/24')
    expect((await create(gateway, fresh({ backendHost: '192.168.7.2' }))).statusCode).toBe(201)
    expect((await create(gateway, fresh({ backendHost: 'Printer.lan' }))).json().backendHost).toBe(
      'printer.lan',
    )
  })

  it('of the local node is not behind a gateway', async () => {
    const [error] = errorsOf(await create(local, fresh({ backendHost: '192.168.7.2' })))
    expect(error).toMatchObject({
      field: 'backendHost',
      message: expect.stringContaining('is behind a gateway'),
    })
  })

  it.each([
    ['127.0.0.1', 3000],
    ['127.9.9.9', 443],
    ['localhost', 80],
    ['x.localhost', 80],
    ['::1', 443],
    ['0.0.0.0', 3000],
    ['::', 3000],
    ['::ffff:127.0.0.1', 3000],
    ['203.0.113.1', 443],
    ['10.64.3.1', 443],
    ['127.0.0.1', 51820],
  ])(
    'of the local node is never a socket of this installation: %s port %i',
    async (backendHost, backendPort) => {
      const answer = await create(local, fresh({ backendHost, backendPort }))
      expect(answer.statusCode).toBe(422)
      expect(fieldsOf(answer)).toEqual(['backendHost'])
    },
  )

  it.each(['169.254.169.254', 'fe80::1', '::ffff:169.254.169.254', '224.0.0.1', '0.0.0.0', '10.64.0.7'])(
    'of the local node is not what the edge would never dial: %s',
    async (backendHost) => {
      const answer = await create(local, fresh({ backendHost, backendPort: 9100 }))
      expect([answer.statusCode, fieldsOf(answer)]).toEqual([422, ['backendHost']])
    },
  )

  it('of the local node may be another socket of this machine', async () => {
    expect((await create(local, fresh({ backendHost: '::1', backendPort: 9100 }))).statusCode).toBe(201)
    expect((await create(local, fresh({ backendHost: '127.0.0.1', backendPort: 9100 }))).statusCode).toBe(201)
  })
})

describe('the public path', () => {
  it('is needed without a domain, and never one of the console', async () => {
    expect((await create(plain, { name: 'web' })).statusCode).toBe(422)
    for (const pathLocation of ['/', '/api', '/API/x', '/nodes', '/docs/a', '/.well-known', '/assets/'])
      expect(fieldsOf(await create(plain, { name: 'web', pathLocation })), pathLocation).toEqual([
        'pathLocation',
      ])
    const answer = await create(plain, { name: 'web', pathLocation: '/grafana/' })
    expect(answer.json()).toMatchObject({
      pathLocation: '/grafana',
      domain: null,
      publicAccess: 'https://203.0.113.1/grafana',
    })
  })

  it('is unique per domain, and the message names the other service', async () => {
    const { domain } = (await create(plain, fresh({ name: 'first one' }))).json()
    const answer = await create(gateway, { name: 'second', domain, backendHost: '192.168.7.2' })
    expect(answer.statusCode).toBe(409)
    expect(errorsOf(answer)).toEqual([
      { field: 'pathLocation', message: `${domain}/ already belongs to “first one”` },
    ])
    const bare = { name: 'x', pathLocation: '/only-once' }
    expect((await create(plain, bare)).statusCode).toBe(201)
    expect(errorsOf(await create(plain, bare))[0]?.message).toBe('/only-once already belongs to “x”')
  })

  it('carries the port in the public address when it is not 443, and is found by it', async () => {
    const other = await startTestServer({
      settings: { POSTERN_HTTPS_PORT: '8443', POSTERN_PUBLIC_HOST: '2001:db8::1' },
    })
    try {
      const admin = await other.signIn()
      const { id } = (await admin.post('/api/nodes', { name: 'n' })).json()
      const named = await admin.post(`/api/services/${id}/http`, fresh({ domain: 'p.example.com' }))
      expect(named.json().publicAccess).toBe('https://p.example.com:8443/')
      const bare = await admin.post(`/api/services/${id}/http`, { name: 'x', pathLocation: '/x' })
      expect(bare.json().publicAccess).toBe('https://[2001:db8::1]:8443/x')
      for (const service of [named.json(), bare.json()]) {
        const found = await admin.get(`/api/find?text=${encodeURIComponent(service.publicAccess)}`)
        expect(found.json().services).toEqual([expect.objectContaining({ id: service.id })])
      }
    } finally {
      await other.close()
    }
  })
})

describe('changing', () => {
  it('keeps absent fields, clears with null, and may move to a new domain', async () => {
    const { id } = (await create(plain, fresh({ allowedIps: ['10.0.0.7/8'] }))).json()
    const url = `/api/services/${plain}/http/${id}`
    const named = await client.patch(url, { name: 'other' })
    expect(named.json()).toMatchObject({ name: 'other', allowedIps: ['10.0.0.0/8'] })
    expect((await client.patch(url, { allowedIps: null })).json().allowedIps).toEqual([])
    expect((await client.patch(url, { domain: 'moved.example.com' })).statusCode).toBe(422)
    const moved = await client.patch(url, { domain: 'moved.example.com', skipValidation: true })
    expect(moved.json()).toMatchObject({ id, publicAccess: 'https://moved.example.com/' })
    expect(fieldsOf(await client.patch(url, { domain: null }))).toEqual(['pathLocation'])
    expect((await routeOf(id))?.domain).toBe('moved.example.com')
  })

  it('to blank sets what has a default back to it', async () => {
    for (const blank of [null, '']) {
      const blanks = { backendProto: blank, backendPort: blank }
      const made = await create(plain, fresh({ ...blanks }))
      expect([made.statusCode, made.json()]).toMatchObject([201, { backendProto: 'http', backendPort: 80 }])
      const url = `/api/services/${plain}/http/${made.json().id}`
      await client.patch(url, { backendProto: 'https', backendPort: 8443 })
      const cleared = await client.patch(url, { ...blanks, skipValidation: blank })
      expect([cleared.statusCode, cleared.json()]).toMatchObject([
        200,
        { backendProto: 'http', backendPort: 80 },
      ])
    }
  })

  it('of another node, or by an id in the body, is refused', async () => {
    const a = (await create(plain, fresh())).json()
    const b = (await create(plain, fresh({ name: 'untouched' }))).json()
    expect((await client.get(`/api/services/${gateway}/http/${a.id}`)).statusCode).toBe(404)
    expect((await client.patch(`/api/services/${gateway}/http/${a.id}`, { name: 'x' })).statusCode).toBe(404)
    expect((await client.delete(`/api/services/${gateway}/http/${a.id}`)).statusCode).toBe(404)
    expect((await client.patch(`/api/services/${gateway}/http/${a.id}/disable`)).statusCode).toBe(404)
    expect(
      (await client.patch(`/api/services/${plain}/http/${a.id}`, { id: b.id, name: 'x' })).statusCode,
    ).toBe(422)
    expect((await client.patch(`/api/services/${plain}/http/${a.id}`, { nodeId: gateway })).statusCode).toBe(
      422,
    )
    expect((await client.get(`/api/services/${plain}/http/${b.id}`)).json().name).toBe('untouched')
  })

  it('disables and enables, which the desired state follows; so does the node', async () => {
    const { id } = (await create(plain, fresh())).json()
    const url = `/api/services/${plain}/http/${id}`
    expect((await client.patch(`${url}/disable`)).json().enabled).toBe(false)
    expect((await routeOf(id))?.enabled).toBe(false)
    expect((await client.patch(`${url}/enable`)).json().enabled).toBe(true)
    expect((await routeOf(id))?.enabled).toBe(true)
    await client.patch(`/api/nodes/${plain}/disable`)
    expect((await routeOf(id))?.enabled).toBe(false)
    await client.patch(`/api/nodes/${plain}/enable`)
    expect((await client.delete(url)).json()).toEqual({ id })
    expect(await routeOf(id)).toBeUndefined()
    expect((await client.get(url)).statusCode).toBe(404)
  })
})

describe("the console's own service", () => {
  const consoleUrl = async () => {
    const services: { id: number; system: boolean }[] = (
      await client.get(`/api/services/${local}/http`)
    ).json()
    return `/api/services/${local}/http/${services.find(({ system }) => system)?.id}`
  }

  it('stays where it is and leads to the console; its name is free', async () => {
    const url = await consoleUrl()
    const locked = {
      pathLocation: '/x',
      backendProto: 'https',
      backendHost: '127.0.0.2',
      backendPort: 1,
    }
    for (const [field, value] of Object.entries(locked))
      expect(fieldsOf(await client.patch(url, { [field]: value })), field).toEqual([field])
    expect((await client.delete(url)).statusCode).toBe(409)
    expect((await client.patch(`${url}/disable`)).statusCode).toBe(409)
    const listed = await client.patch(url, { allowedIps: ['203.0.113.0/24'] })
    expect(listed.json()).toMatchObject({ name: 'Console', system: true, allowedIps: ['203.0.113.0/24'] })
    expect((await client.patch(url, { name: 'Front door', allowedIps: [] })).json().name).toBe('Front door')
    expect((await client.patch(url, { name: 'Console' })).statusCode).toBe(200)
  })

  it('may have a domain, and nothing takes its paths there', async () => {
    const url = await consoleUrl()
    const taken = (
      await create(plain, fresh({ name: 'early', domain: 'c1.example.com', pathLocation: '/api' }))
    ).json()
    const refused = await client.patch(url, { domain: 'c1.example.com' })
    expect(refused.statusCode).toBe(409)
    expect(errorsOf(refused)[0]).toMatchObject({ field: 'domain' })
    expect(errorsOf(refused)[0]?.message).toContain('“early”')
    await client.delete(`/api/services/${plain}/http/${taken.id}`)
    const set = await client.patch(url, { domain: 'c1.example.com' })
    expect(set.json().publicAccess).toBe('https://c1.example.com/')
    const { routes } = (await fetchState(server)).sections
    expect(routes?.filter(({ system }) => system).map(({ domain }) => domain)).toEqual(['c1.example.com'])
    const late = await create(plain, { name: 'late', domain: 'c1.example.com', pathLocation: '/api/x' })
    expect(fieldsOf(late)).toEqual(['pathLocation'])
    expect(
      (await create(plain, { name: 'ok', domain: 'c1.example.com', pathLocation: '/shop' })).statusCode,
    ).toBe(201)
    expect((await client.patch(url, { domain: null })).json().domain).toBe(null)
  })
})

it('a domain that became the public host keeps no path of the console', async () => {
  const first = await startTestServer({ world: { resolver: { resolve: async () => ['203.0.113.1'] } } })
  const domain = 'moved.example.com'
  const node = (await (await first.signIn()).post('/api/nodes', { name: 'a' })).json().id
  const form = { name: 'api', domain, pathLocation: '/api', skipValidation: true }
  const made = await (await first.signIn()).post(`/api/services/${node}/http`, form)
  await first.close({ keepData: true })
  const settings = { POSTERN_PUBLIC_HOST: domain }
  const second = await startTestServer({ dataDir: first.dataDir, settings })
  const user = await second.signIn()
  const url = `/api/services/${node}/http`
  expect(fieldsOf(await user.patch(`${url}/${made.json().id}`, { name: 'x' }))).toEqual(['pathLocation'])
  expect(fieldsOf(await user.post(url, { ...form, pathLocation: '/docs' }))).toEqual(['pathLocation'])
  await second.close()
})

describe('the lists', () => {
  it('are by node, by domain, or of all', async () => {
    const node = (await client.post('/api/nodes', { name: 'lists' })).json().id
    const first = (await create(node, fresh())).json()
    for (const pathLocation of ['/a', '/b'])
      await create(node, { name: 'n', domain: first.domain, pathLocation })
    const page = (await client.get(`/api/services/${node}/http?limit=2&page=2`)).json()
    expect(page).toMatchObject({ page: 2, limit: 2, total: 3 })
    expect(page.data).toHaveLength(1)
    expect((await client.get(`/api/services/${node}/http`)).json()).toHaveLength(3)
    expect((await client.get(`/api/services/http?domain=${first.domain}`)).json()).toHaveLength(3)
    expect((await client.get('/api/services/http?domain=none.example.com')).json()).toEqual([])
    expect((await client.get('/api/services/http?limit=1')).json().total).toBeGreaterThan(3)
    expect((await client.get('/api/services/99999/http')).statusCode).toBe(404)
    expect((await client.get('/api/services/http?node=1')).statusCode).toBe(422)
  })
})

describe('the state', () => {
  it('turns from applying to live with the report of the edge, and fails by its own problem', async () => {
    const service = (await create(plain, fresh())).json()
    expect(service.state).toEqual({ phase: 'applying', problem: 'No edge is connected' })
    const url = `/api/services/${plain}/http/${service.id}`
    const phase = async () => (await client.get(url)).json().state
    await server.listenOnSocket()
    const edge = await connectEdgeClient(server.context.config.paths)
    const { revision } = await fetchState(server)
    edge.send({ type: 'peers', peers: [onlinePeer(plain)] })
    edge.report(revision - 1)
    await until('applying without a problem', async () => (await phase()).problem === null)
    edge.report(revision)
    await until('live', async () => (await phase()).phase === 'live')
    await client.patch(`${url}/disable`)
    expect((await phase()).phase).toBe('applying')
    edge.report(revision + 1)
    await until('live while disabled', async () => (await phase()).phase === 'live')
    const scope = { kind: 'service', id: service.id } as const
    edge.report(revision + 1, { problems: [{ scope, message: 'printer.lan does not resolve' }] })
    await until('failed', async () => (await phase()).phase === 'failed')
    expect((await phase()).problem).toBe('printer.lan does not resolve')
    edge.report(revision + 1)
    edge.send({ type: 'backends', isFirst: true, backends: [{ service: service.id, trouble: 'timeout' }] })
    await until('unanswered', async () => (await phase()).phase === 'unanswered')
    expect((await phase()).problem).toMatch(/^The connection to the service timed out/)
    edge.send({ type: 'backends', isFirst: true, backends: [] })
    await until('live', async () => (await phase()).phase === 'live')
    edge.close()
    await until('applying again', async () => (await phase()).problem === 'No edge is connected')
  })
})
