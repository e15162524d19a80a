import { connectEdgeClient, fetchState, onlinePeer } from '@postern/testkit/edge-client'
import { duringTest, shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { describe, expect, it } from 'vitest'
import { errorsOf, fieldsOf, make, startServiceLab } from '../../../test/service-lab.ts'

const lab = shared(startServiceLab)
const create = (node: number, form: object) => lab.client.post(`/api/services/${node}/http`, form)
const routeOf = async (id: number) =>
  (await fetchState(lab.server)).sections.routes?.find((route) => route.id === id)

describe('changing', () => {
  it('keeps absent fields, clears with null, and may move to a new domain', async () => {
    const { id } = (await create(lab.plain, make({ allowedIps: ['10.0.0.7/8'] }))).json()
    const url = `/api/services/${lab.plain}/http/${id}`
    const named = await lab.client.patch(url, { name: 'other' })
    expect(named.json()).toMatchObject({ name: 'other', allowedIps: ['10.0.0.0/8'] })
    expect((await lab.client.patch(url, { allowedIps: null })).json().allowedIps).toEqual([])
    expect((await lab.client.patch(url, { domain: 'moved.example.com' })).statusCode).toBe(422)
    const moved = await lab.client.patch(url, { domain: 'moved.example.com', skipValidation: true })
    expect(moved.json()).toMatchObject({ id, publicAccess: 'https://moved.example.com/' })
    expect(fieldsOf(await lab.client.patch(url, { domain: null }))).toEqual(['pathLocation'])
    expect((await routeOf(id))?.domain).toBe('moved.example.com')
  })

  it("to blank restores a field's default", async () => {
    for (const blank of [null, '']) {
      const blanks = { backendProto: blank, backendPort: blank }
      const made = await create(lab.plain, make({ ...blanks }))
      expect([made.statusCode, made.json()]).toMatchObject([201, { backendProto: 'http', backendPort: 80 }])
      const url = `/api/services/${lab.plain}/http/${made.json().id}`
      await lab.client.patch(url, { backendProto: 'https', backendPort: 8443 })
      const cleared = await lab.client.patch(url, { ...blanks, skipValidation: blank })
      expect([cleared.statusCode, cleared.json()]).toMatchObject([
        200,
        { backendProto: 'http', backendPort: 80 },
      ])
    }
  })

  it('of another node, or by an id in the body, is refused', async () => {
    const a = (await create(lab.plain, make())).json()
    const b = (await create(lab.plain, make({ name: 'untouched' }))).json()
    expect((await lab.client.get(`/api/services/${lab.gateway}/http/${a.id}`)).statusCode).toBe(404)
    expect(
      (await lab.client.patch(`/api/services/${lab.gateway}/http/${a.id}`, { name: 'x' })).statusCode,
    ).toBe(404)
    expect((await lab.client.delete(`/api/services/${lab.gateway}/http/${a.id}`)).statusCode).toBe(404)
    expect((await lab.client.patch(`/api/services/${lab.gateway}/http/${a.id}/disable`)).statusCode).toBe(404)
    expect(
      (await lab.client.patch(`/api/services/${lab.plain}/http/${a.id}`, { id: b.id, name: 'x' })).statusCode,
    ).toBe(422)
    expect(
      (await lab.client.patch(`/api/services/${lab.plain}/http/${a.id}`, { nodeId: lab.gateway })).statusCode,
    ).toBe(422)
    expect((await lab.client.get(`/api/services/${lab.plain}/http/${b.id}`)).json().name).toBe('untouched')
  })

  it('disables and enables, which the desired state follows; so does the node', async () => {
    const { id } = (await create(lab.plain, make())).json()
    const url = `/api/services/${lab.plain}/http/${id}`
    expect((await lab.client.patch(`${url}/disable`)).json().enabled).toBe(false)
    expect((await routeOf(id))?.enabled).toBe(false)
    expect((await lab.client.patch(`${url}/enable`)).json().enabled).toBe(true)
    expect((await routeOf(id))?.enabled).toBe(true)
    await lab.client.patch(`/api/nodes/${lab.plain}/disable`)
    expect((await routeOf(id))?.enabled).toBe(false)
    await lab.client.patch(`/api/nodes/${lab.plain}/enable`)
    expect((await lab.client.delete(url)).json()).toEqual({ id })
    expect(await routeOf(id)).toBeUndefined()
    expect((await lab.client.get(url)).statusCode).toBe(404)
  })
})

describe("the console's own service", () => {
  const consoleUrl = async () => {
    const services: { id: number; system: boolean }[] = (
      await lab.client.get(`/api/services/${lab.local}/http`)
    ).json()
    return `/api/services/${lab.local}/http/${services.find(({ system }) => system)?.id}`
  }

  it('keeps its path and backend; its name can be changed', async () => {
    const url = await consoleUrl()
    const locked = {
      pathLocation: '/x',
      backendProto: 'https',
      backendHost: '127.0.0.2',
      backendPort: 1,
    }
    for (const [field, value] of Object.entries(locked))
      expect(fieldsOf(await lab.client.patch(url, { [field]: value })), field).toEqual([field])
    expect((await lab.client.delete(url)).statusCode).toBe(409)
    expect((await lab.client.patch(`${url}/disable`)).statusCode).toBe(409)
    const listed = await lab.client.patch(url, { allowedIps: ['203.0.113.0/24'] })
    expect(listed.json()).toMatchObject({ name: 'Console', system: true, allowedIps: ['203.0.113.0/24'] })
    expect((await lab.client.patch(url, { name: 'Front door', allowedIps: [] })).json().name).toBe(
      'Front door',
    )
    expect((await lab.client.patch(url, { name: 'Console' })).statusCode).toBe(200)
  })

  it('may have a domain, and nothing takes its paths there', async () => {
    const url = await consoleUrl()
    const taken = (
      await create(lab.plain, make({ name: 'early', domain: 'c1.example.com', pathLocation: '/api' }))
    ).json()
    const refused = await lab.client.patch(url, { domain: 'c1.example.com', confirmUsedName: true })
    expect(refused.statusCode).toBe(409)
    expect(errorsOf(refused)[0]).toMatchObject({ field: 'domain' })
    expect(errorsOf(refused)[0]?.message).toContain('“early”')
    await lab.client.delete(`/api/services/${lab.plain}/http/${taken.id}`)
    const set = await lab.client.patch(url, { domain: 'c1.example.com', confirmUsedName: true })
    expect(set.json().publicAccess).toBe('https://c1.example.com/')
    const { routes } = (await fetchState(lab.server)).sections
    expect(routes?.filter(({ system }) => system).map(({ domain }) => domain)).toEqual(['c1.example.com'])
    const late = await create(lab.plain, { name: 'late', domain: 'c1.example.com', pathLocation: '/api/x' })
    expect(fieldsOf(late)).toEqual(['pathLocation'])
    expect(
      (await create(lab.plain, { name: 'ok', domain: 'c1.example.com', pathLocation: '/shop' })).statusCode,
    ).toBe(201)
    const left = await lab.client.patch(url, { domain: null, confirmUsedName: true })
    expect(left.json().domain).toBe(null)
  })
})

it("on a domain that became the public host, services lose the console's paths", async () => {
  const other = await duringTest(startServiceLab)
  const domain = 'moved.example.com'
  const url = `/api/services/${other.plain}/http`
  const form = { name: 'api', domain, pathLocation: '/api', skipValidation: true }
  const { id } = (await other.client.post(url, form)).json()
  await other.server.restart({ settings: { POSTERN_PUBLIC_HOST: domain } })
  expect(fieldsOf(await other.client.patch(`${url}/${id}`, { name: 'x' }))).toEqual(['pathLocation'])
  expect(fieldsOf(await other.client.post(url, { ...form, pathLocation: '/docs' }))).toEqual(['pathLocation'])
})

describe('the lists', () => {
  it('are by node, by domain, or of all', async () => {
    const node = (await lab.client.post('/api/nodes', { name: 'lists' })).json().id
    const first = (await create(node, make())).json()
    for (const pathLocation of ['/a', '/b'])
      await create(node, { name: 'n', domain: first.domain, pathLocation })
    const page = (await lab.client.get(`/api/services/${node}/http?limit=2&page=2`)).json()
    expect(page).toMatchObject({ page: 2, limit: 2, total: 3 })
    expect(page.data).toHaveLength(1)
    expect((await lab.client.get(`/api/services/${node}/http`)).json()).toHaveLength(3)
    expect((await lab.client.get(`/api/services/http?domain=${first.domain}`)).json()).toHaveLength(3)
    expect((await lab.client.get('/api/services/http?domain=none.example.com')).json()).toEqual([])
    expect((await lab.client.get('/api/services/http?limit=1')).json().total).toBeGreaterThan(3)
    expect((await lab.client.get('/api/services/99999/http')).statusCode).toBe(404)
    expect((await lab.client.get('/api/services/http?node=1')).statusCode).toBe(422)
  })
})

describe('the state', () => {
  it("turns from applying to live with the edge's report, and fails with its own problem", async () => {
    const service = (await create(lab.plain, make())).json()
    expect(service.state).toEqual({ phase: 'applying', problem: 'No edge is connected' })
    const url = `/api/services/${lab.plain}/http/${service.id}`
    const phase = async () => (await lab.client.get(url)).json().state
    await lab.server.listenOnSocket()
    const edge = await connectEdgeClient(lab.server.context.config.paths)
    const { revision } = await fetchState(lab.server)
    edge.send({ type: 'peers', peers: [onlinePeer(lab.plain)] })
    edge.report(revision - 1)
    await until('applying without a problem', async () => (await phase()).problem === null)
    edge.report(revision)
    await until('live', async () => (await phase()).phase === 'live')
    await lab.client.patch(`${url}/disable`)
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
