import { fetchState } from '@postern/testkit/edge-client'
import { duringTest, shared } from '@postern/testkit/shared'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { errorsOf, fieldsOf, make, startServiceLab, uniqueDomain } from '../../../test/service-lab.ts'

const lab = shared(startServiceLab)
const create = (node: number, form: object) => lab.client.post(`/api/services/${node}/http`, form)
const routeOf = async (id: number) =>
  (await fetchState(lab.server)).sections.routes?.find((route) => route.id === id)

describe('creating', () => {
  it('creates the new domain with its certificate in the same change', async () => {
    const before = await fetchState(lab.server)
    const answer = await create(lab.plain, make({ domain: 'New.Example.com', backendPort: 8080 }))
    expect(answer.statusCode).toBe(201)
    expect(answer.json()).toMatchObject({
      nodeId: lab.plain,
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
    const after = await fetchState(lab.server)
    expect(after.revision - before.revision).toBe(1)
    expect(after.sections.certificates.some(({ domains }) => domains.includes('new.example.com'))).toBe(true)
    const domains = (await lab.client.get('/api/domains?search=new.example')).json()
    expect(domains).toMatchObject([{ ssl: 'self-signed', skipValidation: true }])
  })

  it('strips the path of a service that has one', async () => {
    const answer = await create(lab.plain, make({ pathLocation: '/wiki', stripPath: true }))
    const { id } = answer.json()
    const url = `/api/services/${lab.plain}/http/${id}`
    const strips = async () => [(await lab.client.get(url)).json().stripPath, (await routeOf(id))?.stripPath]
    expect(answer.json()).toMatchObject({ pathLocation: '/wiki', stripPath: true })
    expect(await strips()).toEqual([true, true])
    await lab.client.patch(url, { name: 'still' })
    expect(await strips()).toEqual([true, true])
    // Nothing is stripped there, even when a path is set again.
    await lab.client.patch(url, { pathLocation: '/' })
    expect(await strips()).toEqual([false, false])
    await lab.client.patch(url, { pathLocation: '/wiki' })
    expect(await strips()).toEqual([false, false])
    expect(fieldsOf(await lab.client.patch(url, { stripPath: 'yes' }))).toEqual(['stripPath'])
    expect((await create(lab.plain, make())).json().stripPath).toBe(false)
  })

  it('shows whose certificate visitors get', async () => {
    const domain = uniqueDomain()
    const { id } = (await create(lab.plain, make({ domain }))).json()
    await sql`UPDATE certificates SET kind = 'certbot'
      WHERE domain_id = (SELECT id FROM domains WHERE domain = ${domain})`.execute(lab.server.context.db)
    expect((await lab.client.get(`/api/services/${lab.plain}/http/${id}`)).json()).toMatchObject({
      selfSigned: false,
    })
  })

  it('checks a new domain like the domain form, and shows all errors at once', async () => {
    const answer = await create(lab.plain, {
      name: 'web',
      domain: uniqueDomain(),
      backendHost: '10.0.0.9',
    })
    expect(answer.statusCode).toBe(422)
    expect(fieldsOf(answer).sort()).toEqual(['backendHost', 'domain'])
    expect(errorsOf(answer).find(({ field }) => field === 'domain')?.message).toContain('198.51.100.1')
  })

  it('leaves no domain behind when the service is refused', async () => {
    const domain = uniqueDomain()
    await create(lab.plain, { name: 'web', domain, skipValidation: true, backendHost: '10.0.0.9' })
    expect((await lab.client.get(`/api/domains?search=${domain}`)).json()).toEqual([])
  })

  it('does not check a domain that already exists', async () => {
    const { domain } = (await create(lab.plain, make())).json()
    expect((await create(lab.plain, { name: 'api', domain, pathLocation: '/api/' })).statusCode).toBe(201)
  })

  it('of a node that does not exist is 404', async () => {
    expect((await create(99_999, make())).statusCode).toBe(404)
  })
})

describe('the backend host', () => {
  it('is refused for a plain node, and needed for a gateway and the local node', async () => {
    expect(fieldsOf(await create(lab.plain, make({ backendHost: '192.168.7.2' })))).toEqual(['backendHost'])
    expect(fieldsOf(await create(lab.gateway, make()))).toEqual(['backendHost'])
    expect(fieldsOf(await create(lab.local, make({ backendHost: '' })))).toEqual(['backendHost'])
  })

  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '::1'])(
    '%s of a plain node is the node itself',
    async (backendHost) => {
      const made = await create(lab.plain, make({ backendHost }))
      expect([made.statusCode, made.json()]).toMatchObject([201, { backendHost: null }])
      const { id } = made.json()
      const patched = await lab.client.patch(`/api/services/${lab.plain}/http/${id}`, { backendHost })
      expect([patched.statusCode, patched.json()]).toMatchObject([200, { backendHost: null }])
      expect((await routeOf(id))?.backend.host).toBeNull()
    },
  )

  it.each(['127.0.0.2', 'x.localhost', '10.64.0.2', '::ffff:127.0.0.1'])(
    '%s of a plain node is refused',
    async (backendHost) => {
      expect(fieldsOf(await create(lab.plain, make({ backendHost })))).toEqual(['backendHost'])
    },
  )

  it('of a gateway must be inside its networks, which the message names', async () => {
    const [error] = errorsOf(await create(lab.gateway, make({ backendHost: '192.168.8.2' })))
    expect(error).toMatchObject({ field: 'backendHost' })
    expect(error?.message).toContain('192.168.7.0/24')
    expect((await create(lab.gateway, make({ backendHost: '192.168.7.2' }))).statusCode).toBe(201)
    expect((await create(lab.gateway, make({ backendHost: 'Printer.lan' }))).json().backendHost).toBe(
      'printer.lan',
    )
  })

  it('of the local node is not behind a gateway', async () => {
    const [error] = errorsOf(await create(lab.local, make({ backendHost: '192.168.7.2' })))
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
      const answer = await create(lab.local, make({ backendHost, backendPort }))
      expect(answer.statusCode).toBe(422)
      expect(fieldsOf(answer)).toEqual(['backendHost'])
    },
  )

  it.each(['169.254.169.254', 'fe80::1', '::ffff:169.254.169.254', '224.0.0.1', '0.0.0.0', '10.64.0.7'])(
    'of the local node is never an address that the edge would not dial: %s',
    async (backendHost) => {
      const answer = await create(lab.local, make({ backendHost, backendPort: 9100 }))
      expect([answer.statusCode, fieldsOf(answer)]).toEqual([422, ['backendHost']])
    },
  )

  it('of the local node may be another socket of this machine', async () => {
    expect((await create(lab.local, make({ backendHost: '::1', backendPort: 9100 }))).statusCode).toBe(201)
    expect((await create(lab.local, make({ backendHost: '127.0.0.1', backendPort: 9100 }))).statusCode).toBe(
      201,
    )
  })
})

describe('the public path', () => {
  it('is needed without a domain, and never one of the console', async () => {
    expect((await create(lab.plain, { name: 'web' })).statusCode).toBe(422)
    for (const pathLocation of ['/', '/api', '/API/x', '/nodes', '/docs/a', '/.well-known', '/assets/'])
      expect(fieldsOf(await create(lab.plain, { name: 'web', pathLocation })), pathLocation).toEqual([
        'pathLocation',
      ])
    const answer = await create(lab.plain, { name: 'web', pathLocation: '/grafana/' })
    expect(answer.json()).toMatchObject({
      pathLocation: '/grafana',
      domain: null,
      publicAccess: 'https://203.0.113.1/grafana',
    })
  })

  it('is unique per domain, and the message names the other service', async () => {
    const { domain } = (await create(lab.plain, make({ name: 'first one' }))).json()
    const answer = await create(lab.gateway, { name: 'second', domain, backendHost: '192.168.7.2' })
    expect(answer.statusCode).toBe(409)
    expect(errorsOf(answer)).toEqual([
      { field: 'pathLocation', message: `${domain}/ already belongs to “first one”` },
    ])
    const bare = { name: 'x', pathLocation: '/only-once' }
    expect((await create(lab.plain, bare)).statusCode).toBe(201)
    expect(errorsOf(await create(lab.plain, bare))[0]?.message).toBe('/only-once already belongs to “x”')
  })

  it('has the port in its public address when it is not 443, and is found by it', async () => {
    const settings = { POSTERN_HTTPS_PORT: '8443', POSTERN_PUBLIC_HOST: '2001:db8::1' }
    const { client, plain } = await duringTest(() => startServiceLab(settings))
    const named = await client.post(`/api/services/${plain}/http`, make({ domain: 'p.example.com' }))
    expect(named.json().publicAccess).toBe('https://p.example.com:8443/')
    const bare = await client.post(`/api/services/${plain}/http`, { name: 'x', pathLocation: '/x' })
    expect(bare.json().publicAccess).toBe('https://[2001:db8::1]:8443/x')
    for (const service of [named.json(), bare.json()]) {
      const found = await client.get(`/api/find?text=${encodeURIComponent(service.publicAccess)}`)
      expect(found.json().services).toEqual([expect.objectContaining({ id: service.id })])
    }
  })
})
