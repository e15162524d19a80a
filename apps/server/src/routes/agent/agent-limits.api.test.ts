import { fetchState } from '@postern/testkit/edge-client'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { port, refusal, startPublishingLab, web } from '../../../test/publishing-lab.ts'

const SETTINGS = {
  POSTERN_PORT_RANGE: '32700-32710',
  POSTERN_OIDC_ISSUER: 'https://id.example.com',
  POSTERN_OIDC_CLIENT_ID: 'postern',
  POSTERN_OIDC_CLIENT_SECRET: 'secret',
}
const lab = fresh(() => startPublishingLab(SETTINGS, '198.51.100.1'))

describe('an agent touches nothing but its own', () => {
  it('neither services of people, of other sources, nor of other nodes', async () => {
    const other = await lab.createNode('other')
    const form = { name: 'mine', domain: 'mine.example.com', skipValidation: true }
    await lab.client.post(`/api/services/${lab.node.id}/http`, form)
    await lab.publish([web('file')], { source: 'file' })
    await lab.publish([web('theirs')], { from: other })
    await lab.publish([web('docker')])
    await lab.publish([])
    expect((await lab.list()).map(({ name }) => name)).toEqual(['Console', 'mine', 'file', 'theirs'])
    expect(
      await lab.publish([
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
    const system = (await lab.list()).find((service) => service.system)
    await lab.client.patch(`/api/services/${system?.nodeId}/http/${system?.id}`, {
      ...{ domain: 'console.example.com', skipValidation: true },
    })
    const before = await lab.revision()
    const answer = await lab.publish([
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
    expect(await lab.revision()).toBe(before)
  })

  it('not the name of the installation', async () => {
    await lab.server.restart({ settings: { POSTERN_PUBLIC_HOST: 'postern.example.com' } })
    const answer = await lab.publish([web('a', { domain: 'postern.example.com', pathLocation: '/a' })])
    expect(answer).toMatchObject([refusal('domain', /console/)])
  })

  it('no domain that services of another node have, nor one with sign-in', async () => {
    const other = await lab.createNode('other')
    await lab.publish([web('theirs')], { from: other })
    await lab.client.post('/api/domains', {
      ...{ domain: 'locked.example.com', skipValidation: true, authentication: true },
    })
    expect(
      await lab.publish([
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
    expect(await lab.published()).toEqual(['theirs'])
  })

  it('no domain of people that nobody gave to its node, and no name whose DNS points elsewhere', async () => {
    const agentDomains = ['given.example.org', '*.apps.example.org']
    const own = await lab.createNode('own', { agentDomains })
    for (const domain of ['shop.example.com', 'given.example.org'])
      await lab.client.post('/api/domains', { domain, skipValidation: true })
    const at = (key: string, domain: string, over = {}) => web(key, { domain, ...over })
    expect(
      await lab.publish(
        [
          at('a', 'shop.example.com'),
          at('b', 'given.example.org'),
          at('c', 'new.apps.example.org'),
          at('d', 'apps.example.org'),
          at('e', 'evilapps.example.org'),
          at('f', 'x.apps.example.org', { skipValidation: true }),
          port('g', { domain: 'shop.example.com', ssl: true }),
        ],
        { from: own },
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
    await lab.client.post(`/api/services/${own.id}/http`, { name: 'shop', domain: 'shop.example.com' })
    const beside = at('a', 'shop.example.com', { pathLocation: '/a' })
    expect(await lab.publish([beside], { from: own })).toMatchObject([{ state: 'published' }])
  })

  it('loses its services when a person takes the domain from its node, and gets them back', async () => {
    await lab.publish([web('a')])
    const carried = async () => (await fetchState(lab.server)).sections.routes?.length
    expect(await carried()).toBe(2)
    await lab.client.patch(`/api/nodes/${lab.node.id}`, { agentDomains: [] })
    expect((await lab.get('a')).state).toMatchObject({
      phase: 'failed',
      problem: expect.stringMatching(/^Withheld: a\.example\.com is not available to this node's agent/),
    })
    expect(await carried()).toBe(1)
    await lab.client.patch(`/api/nodes/${lab.node.id}`, { agentDomains: ['a.example.com'] })
    expect(await carried()).toBe(2)
  })

  it('keeps a domain that it brought when a person saves it: it is given to its node then', async () => {
    lab.server.context.resolver.resolve = async () => ['203.0.113.1']
    await lab.publish([web('a', { domain: 'a.example.org' })])
    const { id } = (await lab.client.get('/api/domains')).json()[0]
    expect((await lab.client.patch(`/api/domains/${id}`, { ssl: 'self-signed' })).statusCode).toBe(200)
    expect((await lab.client.get(`/api/nodes/${lab.node.id}`)).json().agentDomains).toEqual([
      '*.example.com',
      'a.example.org',
    ])
    expect(await lab.publish([web('a', { domain: 'a.example.org' })])).toMatchObject([{ state: 'published' }])
  })

  it('loses a service when a person gives its domain sign-in', async () => {
    await lab.publish([web('a')])
    const { id } = (await lab.client.get('/api/domains')).json()[0]
    expect((await lab.client.patch(`/api/domains/${id}`, { authentication: true })).statusCode).toBe(200)
    expect(await lab.publish([web('a')])).toMatchObject([refusal('domain', /^has sign-in/)])
    expect(await lab.domains()).toEqual(['a.example.com'])
  })
})

describe('a domain that is made for a source', () => {
  it('goes with its last service', async () => {
    await lab.publish([web('a'), web('b', { domain: 'a.example.com', pathLocation: '/b' })])
    await lab.publish([web('b', { domain: 'a.example.com', pathLocation: '/b' })])
    expect(await lab.domains()).toEqual(['a.example.com'])
    await lab.publish([web('b')])
    expect(await lab.domains()).toEqual(['b.example.com'])
    await lab.remove(await lab.get('b'))
    expect(await lab.domains()).toEqual([])
  })

  it('stays while others use it, and when a person saved it', async () => {
    await lab.publish([web('a'), web('b')])
    const form = { name: 'mine', domain: 'a.example.com', pathLocation: '/mine' }
    await lab.client.post(`/api/services/${lab.node.id}/http`, form)
    const rows: { id: number; domain: string }[] = (await lab.client.get('/api/domains')).json()
    const saved = rows.find(({ domain }) => domain === 'b.example.com')
    await lab.client.patch(`/api/domains/${saved?.id}`, { skipValidation: true })
    await lab.publish([])
    expect(await lab.domains()).toEqual(['a.example.com', 'b.example.com'])
  })

  it('a domain that a person made stays', async () => {
    await lab.client.post('/api/domains', { domain: 'a.example.com', skipValidation: true })
    await lab.publish([web('a')])
    await lab.publish([])
    expect(await lab.domains()).toEqual(['a.example.com'])
  })

  it('is looked up, a limited number of times', async () => {
    let asked = 0
    lab.server.context.resolver.resolve = async () => {
      asked++
      return []
    }
    const unknown = Array.from({ length: 150 }, (_, i) => web(`s${i}`, { domain: `s${i}.example.org` }))
    await lab.publish(unknown)
    const answer = await lab.publish(unknown)
    // The server's own name is an address here, which is not looked up.
    expect(asked).toBe(200)
    const refused = refusal('domain', /^is one new domain too many/)
    expect(answer.at(-1)).toMatchObject(refused)
    // Its certificate alone costs enough.
    expect(await lab.publish([web('late')])).toMatchObject([refused])
  })
})

it('a gateway publishes hosts of its networks by address and name, and no others', async () => {
  const gatewayNetworks = [{ interface: 'eth0', subnet: '172.20.0.0/16' }]
  const gateway = await lab.createNode('docker host', { isGateway: true, gatewayNetworks })
  expect(
    await lab.publish(
      [
        web('a', { backendHost: '172.20.0.5' }),
        web('b', { backendHost: 'grafana' }),
        web('c', { backendHost: '10.0.0.1' }),
        web('d', { backendHost: '127.0.0.1' }),
        web('e', {}),
      ],
      { from: gateway },
    ),
  ).toMatchObject([
    { key: 'a', state: 'published' },
    { key: 'b', state: 'published' },
    { key: 'c', ...refusal('backendHost', /^must be inside the networks of docker host: 172\.20\.0\.0\/16/) },
    { key: 'd', state: 'refused' },
    { key: 'e', ...refusal('backendHost', 'This field is required') },
  ])
})
