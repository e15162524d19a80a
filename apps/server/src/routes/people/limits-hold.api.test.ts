import type { HistoryPage } from '@postern/contract/history/history'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import type { Service } from '@postern/contract/services/services'
import type { Role } from '@postern/contract/sign-in/auth'
import { followStream } from '@postern/testkit/event-stream'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { letIn } from '@postern/testkit/people'
import { type Client, startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeEach, describe, expect, it } from 'vitest'
import { CONFIRMED } from '../../../test/programs-lab.ts'
import { takeBackDue } from '../../core/history/pending.ts'

/** One node and one domain are theirs; on the other node are services of others, also at their domain. */
const server = fresh(() => startTestServer({ world: { clock: () => now } }))
let now = Date.now()
let admin: Client
let own: number
let hidden: number
let domain: number

const DOMAIN = 'shared.example.com'
const known = { ssl: 'self-signed', skipValidation: true } as const
const expose = async (node: number, form: object) => {
  const made = await admin.post(`/api/services/${node}/http`, { backendPort: 80, domain: DOMAIN, ...form })
  expect([made.statusCode, made.body]).toEqual([201, made.body])
  return made.json().id as number
}
const limited = async (role: Role, reach = { nodes: [own], domains: [domain] }) =>
  await letIn(server, admin, { username: `${role} ${count++}`, role, reach })
let count = 0
const newest = async () =>
  (await admin.get('/api/history?limit=1')).json<HistoryPage>().data[0]?.revision ?? 0

beforeEach(async () => {
  now = Date.now()
  admin = await server.signIn()
  own = (await admin.createNode({ name: 'own' })).id
  hidden = (await admin.createNode({ name: 'hidden' })).id
  domain = (await admin.createDomain({ domain: DOMAIN, ...known })).id
})

describe('a limited editor', () => {
  it('does not rename a domain that was given', async () => {
    const { client } = await limited('editor')
    const refused = await client.patch(`/api/domains/${domain}`, { domain: 'bank.example.org', ...known })
    expect(refused.json().errors).toEqual([{ field: 'domain', message: PEOPLE_MESSAGES.forAll }])
    expect((await admin.get(`/api/domains/${domain}`)).json().domain).toBe(DOMAIN)
  })

  it('takes no network and no way to the internet, and keeps what an administrator gave', async () => {
    const { client } = await limited('editor')
    const edit = async (form: object) => (await client.patch(`/api/nodes/${own}`, form)).json()
    const lan = { isGateway: true, gatewayNetworks: [{ interface: 'eth0', subnet: '192.168.2.0/24' }] }
    const [first] = lan.gatewayNetworks
    const forAll = (field: string) => ({ field, message: PEOPLE_MESSAGES.forAll })
    expect((await edit(lan)).errors).toEqual([forAll('isGateway'), forAll('gatewayNetworks')])
    expect((await edit({ allowInternet: true })).errors).toEqual([forAll('allowInternet')])
    await admin.patch(`/api/nodes/${own}`, lan)
    const more = [first, { interface: 'eth0', subnet: '192.168.3.0/24' }]
    expect((await edit({ gatewayNetworks: more })).errors).toEqual([forAll('gatewayNetworks')])
    expect(await edit({ name: 'ours' })).toMatchObject({ name: 'ours', isGateway: true })
    expect(await edit({ isGateway: false })).toMatchObject({ isGateway: false })
  })

  it('makes no token with which an agent publishes at any name', async () => {
    const { client } = await limited('editor')
    const make = () => client.post(`/api/nodes/${own}/pats`, { name: 'mine' })
    const { id } = (await make()).json()
    await admin.patch(`/api/nodes/${own}`, { agentMayPublish: true })
    for (const refused of [await make(), await client.post(`/api/nodes/${own}/pats/${id}/rotate`)])
      expect([refused.statusCode, refused.json().code]).toEqual([403, 'role'])
    expect((await client.patch(`/api/nodes/${own}/pats/${id}/revoke`)).statusCode).toBe(200)
  })

  it('takes no more ports than an administrator gives the node', async () => {
    await admin.patch(`/api/nodes/${own}`, { agentMaxPorts: 2 })
    const { client } = await limited('editor')
    const take = (port: number) => client.post(`/api/services/${own}/tcp`, { name: 't', backendPort: port })
    expect([(await take(1)).statusCode, (await take(2)).statusCode]).toEqual([201, 201])
    expect((await take(3)).json().errors).toEqual([{ field: 'port', message: PEOPLE_MESSAGES.portLimit(2) }])
    const other = (await admin.createNode({ name: 'other' })).id
    await admin.patch(`/api/nodes/${other}`, { agentMaxPorts: 1 })
    const both = (await limited('editor', { nodes: [own, other], domains: [] })).client
    const services = (await admin.get(`/api/services/${own}/tcp`)).json() as { id: number }[]
    const records = services.map(({ id }) => ({ id }))
    const move = { action: 'move', to: { nodeId: other }, records }
    expect((await both.post('/api/services/many', move)).json().done).toHaveLength(1)
    await admin.post('/api/services/many', { ...move, to: { nodeId: own } })
    await admin.patch(`/api/nodes/${own}`, { agentMaxPorts: 3 })
    expect((await take(3)).statusCode).toBe(201)
  })

  it('leaves the address of a service as it is at a domain that was not given', async () => {
    await admin.createDomain({ domain: 'corp.example.com', ...known })
    const blog = await expose(own, { name: 'blog', domain: 'corp.example.com', pathLocation: '/blog' })
    const form = { name: 'feed', domain: 'corp.example.com', backendPort: 22 }
    const feed = (await admin.post(`/api/services/${own}/tcp`, form)).json().id
    const { client } = await limited('editor')
    const edit = (type: string, id: number, values: object) =>
      client.patch(`/api/services/${own}/${type}/${id}`, values)
    for (const pathLocation of ['/', '/hr/login', null])
      expect((await edit('http', blog, { pathLocation })).json().errors).toEqual([
        { field: 'pathLocation', message: PEOPLE_MESSAGES.notGivenStays },
      ])
    expect((await edit('tcp', feed, { ssl: true })).json().errors).toEqual([
      { field: 'ssl', message: PEOPLE_MESSAGES.notGivenStays },
    ])
    expect((await edit('http', blog, { backendPort: 81 })).statusCode).toBe(200)
  })

  it('undoes nothing of a service that has moved to where they see nothing', async () => {
    const service = await expose(own, { name: 'ours', pathLocation: '/ours' })
    const { client } = await limited('editor')
    const url = `/api/services/${own}/http/${service}`
    expect((await client.patch(url, { allowedIps: ['192.0.2.1'] })).statusCode).toBe(200)
    const revision = await newest()
    const move = { action: 'move', records: [{ id: service }], to: { nodeId: hidden } }
    expect((await admin.post('/api/services/many', move)).json().done).toHaveLength(1)
    const refused = await client.post(`/api/history/${revision}/undo`)
    expect(refused.statusCode).toBe(404)
    expect(refused.body).not.toMatch(/hidden/)
    const there = await admin.get(`/api/services/${hidden}/http/${service}`)
    expect(there.json().allowedIps).toEqual(['192.0.2.1'])
  })

  it('is not told what is beyond their limits when many are changed at once', async () => {
    await expose(hidden, { name: 'payroll', pathLocation: '/pay' })
    const mine = await expose(own, {
      name: 'mine',
      domain: 'mine.example.com',
      pathLocation: '/pay',
      skipValidation: true,
    })
    const { client } = await limited('editor')
    const move = { action: 'move', records: [{ id: mine }], to: { domain: DOMAIN } }
    const remove = { action: 'delete', records: [{ id: domain }] }
    for (const [url, form] of [
      ['/api/services/many', move],
      ['/api/domains/many', remove],
    ] as const) {
      const { refused } = (await client.post(url, form)).json()
      expect(refused[0].message).toMatch(/something that you may not see/)
      expect(JSON.stringify(refused)).not.toMatch(/payroll/)
    }
  })

  it('is told neither a part of a hidden name nor a hidden network', async () => {
    const form = { name: 'Payroll “main” database', backendPort: 22 }
    const { port } = (await admin.post(`/api/services/${hidden}/tcp`, form)).json()
    const { client } = await limited('editor')
    const refused = await client.post(`/api/services/${own}/tcp`, { ...form, name: 'mine', port })
    expect(refused.json().message).toBe(`tcp port ${port} already belongs to something that you may not see`)
    const gatewayOf = (subnet: string) => ({
      ...{ isGateway: true, gatewayNetworks: [{ interface: 'eth0', subnet }] },
    })
    await admin.createNode({ name: 'hidden gateway', ...gatewayOf('10.99.7.0/24') })
    const gateway = gatewayOf('10.99.0.0/16')
    const taken = await client.patch(`/api/nodes/${own}`, gateway)
    expect(taken.body).toMatch(/overlaps a network of something that you may not see/)
    expect(taken.body).not.toMatch(/10\.99\.7|hidden/)
    expect((await admin.patch(`/api/nodes/${own}`, gateway)).body).toMatch(
      /10\.99\.7\.0\/24 of “hidden gateway”/,
    )
  })
})

describe('a limited viewer', () => {
  it('gets no request of a service that has moved to where they see nothing', async () => {
    await server.listenOnSocket()
    const edge = await connectFakeEdge(server.context.config.paths)
    const service = await expose(own, { name: 'ours', pathLocation: '/ours' })
    const { client } = await limited('viewer')
    edge.keep([{ at: Date.now() - 1000, service, path: '/before' }])
    const list = async () => (await client.get('/api/requests')).json()
    await until('the request', async () => (await list()).data.length === 1)
    await server.listen()
    const stream = await followStream(`${server.origin}/api/requests/stream?after=${(await list()).newest}`, {
      authorization: `Bearer ${client.token}`,
    })
    edge.keep([{ at: Date.now(), service, path: '/while-theirs' }])
    await until('the stream', () => stream.text.includes('/while-theirs'), { timeoutMs: 10_000 })
    await admin.post('/api/services/many', {
      action: 'move',
      records: [{ id: service }],
      to: { nodeId: hidden },
    })
    edge.keep([{ at: Date.now(), service, path: '/secret' }])
    // Three looks of the stream.
    await until('the time', () => Date.now() > now + 5000, { timeoutMs: 20_000 })
    expect(stream.text).not.toMatch(/secret/)
    stream.close()
    edge.close()
  })

  it('changes nothing by looking at the root that people import', async () => {
    await admin.createDomain({ domain: 'other.example.com', ...known })
    const root = async (by: Client) => (await by.get('/api/domains/root')).json().fingerprint
    const before = await root(admin)
    expect(await root((await limited('viewer')).client)).toBe(before)
    expect(await root(admin)).toBe(before)
  })

  it('sees in the history what is theirs, all of it, and nothing else', async () => {
    const ours = await expose(own, { name: 'ours', pathLocation: '/ours' })
    const payroll = await expose(hidden, {
      name: 'payroll',
      pathLocation: '/pay',
      allowedIps: ['198.51.100.7'],
    })
    await admin.post('/api/services/many', { action: 'delete', records: [{ id: payroll }, { id: ours }] })
    const { client } = await limited('viewer')
    const [entry] = (await client.get('/api/history')).json<HistoryPage>().data
    expect(entry?.records).toMatchObject([{ kind: 'service', name: 'ours' }])
    for (const search of ['payroll', '198.51.100.7'])
      expect((await client.get(`/api/history?search=${search}`)).json().data).toEqual([])
    expect((await client.get('/api/history')).body).not.toMatch(/payroll|hidden|198\.51/)
  })

  it('is not told the name of a hidden service by the domain that came with it', async () => {
    const made = await expose(hidden, {
      name: 'hidden-payroll',
      domain: 'new.example.com',
      skipValidation: true,
    })
    expect(made).toBeGreaterThan(0)
    const domains = (await admin.get('/api/domains')).json()
    const id = domains.find((each: { domain: string }) => each.domain === 'new.example.com').id
    const { client } = await limited('viewer', { nodes: [own], domains: [id] })
    const { data } = (await client.get('/api/history')).json<HistoryPage>()
    expect(data).toContainEqual(expect.objectContaining({ name: 'new.example.com' }))
    for (const url of ['/api/history', '/api/overview', '/api/history?search=payroll'])
      expect((await client.get(url)).body).not.toMatch(/payroll/)
    expect((await client.get('/api/history?search=payroll')).json().data).toEqual([])
  })

  it('sees a withheld service as withheld', async () => {
    await admin.patch(`/api/nodes/${own}`, { agentMayPublish: true, agentDomains: ['w.example.com'] })
    const token = (await admin.post(`/api/nodes/${own}/pats`, { name: 'agent' })).json().token
    const services = [{ key: 'w', type: 'http', name: 'w', domain: 'w.example.com', backendPort: 80 }]
    const publish = { source: 'file', services }
    expect((await server.as(token).put('/api/agent/services', publish)).json().services[0].state).toBe(
      'published',
    )
    await expose(hidden, {
      name: 'theirs',
      domain: 'w.example.com',
      pathLocation: '/x',
      skipValidation: true,
    })
    const { client } = await limited('viewer')
    const stateOf = (all: Service[]) => all.find(({ source }) => source !== null)?.state
    const state = async (by: Client) => stateOf((await by.get('/api/services?search=w')).json())
    expect(await state(client)).toEqual(await state(admin))
    expect(await state(client)).toMatchObject({
      phase: 'failed',
      problem: expect.stringMatching(/^Withheld/),
    })
  })
})

describe('the overview', () => {
  it('tells people who are no administrators nothing about people and tokens', async () => {
    await admin.post('/api/people', { username: 'secret-hire', role: 'viewer' })
    await admin.post('/api/tokens', { name: 'secret-token', role: 'viewer', ...CONFIRMED })
    const { client } = await letIn(server, admin, { username: 'vic', role: 'viewer', reach: null })
    expect((await client.get('/api/overview')).body).not.toMatch(/secret-|invited|API token/)
    expect((await admin.get('/api/overview')).body).toMatch(/secret-hire/)
  })
})

describe('a change that waits to be kept', () => {
  const TAKE_BACK = { 'take-back-after': '60' }
  const act = (by: Client, method: 'PATCH' | 'DELETE' | 'POST', url: string, payload: object = {}) =>
    server.call({ method, url, payload, headers: { authorization: `Bearer ${by.token}`, ...TAKE_BACK } })
  const end = async () => {
    now += 61_000
    await takeBackDue(server.context)
  }
  const pending = async (by: Client) => (await by.get('/api/history/pending')).json().data

  it('is kept by its author, or by somebody who could take it back', async () => {
    const [own0] = (await admin.get('/api/services/http')).json()
    const url = `/api/services/${own0.nodeId}/http/${own0.id}`
    expect((await act(admin, 'PATCH', url, { allowedIps: ['127.0.0.1'] })).statusCode).toBe(200)
    const consoles = await newest()
    const both = { action: 'disable', records: [{ id: own }, { id: hidden }] }
    expect((await act(admin, 'POST', '/api/nodes/many', both)).statusCode).toBe(200)
    const nodes = await newest()
    const editor = (await letIn(server, admin, { username: 'ed', role: 'editor', reach: null })).client
    const { client } = await limited('editor')
    expect((await editor.post(`/api/history/${consoles}/keep`)).json().code).toBe('role')
    expect((await client.post(`/api/history/${nodes}/keep`)).statusCode).toBe(403)
    expect((await editor.post(`/api/history/${nodes}/keep`)).statusCode).toBe(200)
    expect((await admin.post(`/api/history/${consoles}/keep`)).statusCode).toBe(200)
  })

  it('is one of a few of its author, whose own come first', async () => {
    const { client } = await limited('editor')
    const service = await expose(own, { name: 'ours', pathLocation: '/ours' })
    const save = (by: Client, backendPort: number) =>
      act(by, 'PATCH', `/api/services/${own}/http/${service}`, { backendPort })
    for (let port = 1; port <= 10; port++) expect((await save(client, 1000 + port)).statusCode).toBe(200)
    expect((await save(client, 2000)).json().message).toMatch(/^10 of your changes wait to be kept/)
    expect((await save(admin, 3000)).statusCode).toBe(200)
    expect((await pending(admin))[0]).toMatchObject({ actor: 'admin' })
    expect((await pending(client))[0]).toMatchObject({ actor: `editor ${count - 1}` })
  })

  it('is taken back with the rights that its author has then', async () => {
    const { id, client } = await limited('editor')
    const service = await expose(own, { name: 'ours', pathLocation: '/ours' })
    const url = `/api/services/${own}/http/${service}`
    expect((await act(client, 'PATCH', url, { backendPort: 81 })).statusCode).toBe(200)
    await admin.patch(`/api/people/${id}`, { role: 'viewer' })
    await end()
    expect((await admin.get(url)).json().backendPort).toBe(81)
    expect(await pending(admin)).toMatchObject([{ problem: 'Its author may not take it back any more.' }])
  })

  it('makes nobody the owner of what an agent publishes', async () => {
    await admin.patch(`/api/nodes/${own}`, { agentMayPublish: true, agentDomains: ['w.example.com'] })
    const token = (await admin.post(`/api/nodes/${own}/pats`, { name: 'agent' })).json().token
    const services = [{ key: 'w', type: 'http', name: 'w', domain: 'w.example.com', backendPort: 80 }]
    await server.as(token).put('/api/agent/services', { source: 'file', services })
    const [published] = (await admin.get('/api/services?search=w')).json()
    const refused = await act(admin, 'DELETE', `/api/services/${own}/http/${published.id}`)
    expect(refused.json().message).toMatch(/^This is what an agent publishes/)
    expect((await admin.delete(`/api/services/${own}/http/${published.id}`)).statusCode).toBe(200)
    expect((await admin.post(`/api/history/${await newest()}/undo`)).json().message).toMatch(
      /^This is what an agent publishes/,
    )
  })

  it('stays and says why when a part of it cannot be taken back', async () => {
    const { client } = await limited('editor')
    const a = await expose(own, { name: 'a', pathLocation: '/a' })
    const b = await expose(own, { name: 'b', pathLocation: '/b' })
    const both = { action: 'delete', records: [{ id: a }, { id: b }] }
    expect((await act(client, 'POST', '/api/services/many', both)).json().done).toHaveLength(2)
    await expose(hidden, { name: 'payroll', pathLocation: '/b' })
    await end()
    const [{ problem }] = await pending(admin)
    expect(problem).toMatch(/^Not all of it could be taken back: .*“payroll”/)
    const [shown] = await pending(client)
    expect(shown.problem).toMatch(/something that you may not see/)
    expect(shown.problem).not.toMatch(/payroll/)
  })
})
