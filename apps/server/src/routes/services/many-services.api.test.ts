import type { ManyResult } from '@postern/contract/services/many'
import type { Service } from '@postern/contract/services/services'
import { publishAs } from '@postern/testkit/agent-calls'
import { fetchState } from '@postern/testkit/edge-client'
import { shared } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { errorsOf, gateway, make, startServiceLab } from '../../../test/service-lab.ts'
import { getRevision } from '../../changes/change.ts'

const lab = shared(startServiceLab)
const revision = () => getRevision(lab.server.context.db)
const add = async (node: number, form: object, type = 'http'): Promise<Service> => {
  const answer = await lab.client.post(`/api/services/${node}/${type}`, form)
  expect([answer.statusCode, answer.body]).toEqual([201, answer.body])
  return answer.json()
}
const some = (count: number, over: object = {}) =>
  Promise.all(Array.from({ length: count }, (_, i) => add(lab.plain, make({ name: `many ${i}`, ...over }))))
const post = (body: object) => lab.client.post('/api/services/many', body)
const many = async (body: object): Promise<ManyResult> => {
  const answer = await post(body)
  expect([answer.statusCode, answer.body]).toEqual([200, answer.body])
  return answer.json()
}
const named = (services: readonly { id: number }[]) => services.map(({ id }) => ({ id }))
const read = async ({ id }: { id: number }): Promise<Service | undefined> =>
  (await lab.client.get('/api/services?limit=100')).json().data.find((row: Service) => row.id === id)
const changes = async () => (await lab.client.get('/api/overview')).json().changes
const routes = async () => (await fetchState(lab.server)).sections.routes ?? []

describe('enabling and disabling many', () => {
  it('is one revision and one line of what was done, which names one and counts more', async () => {
    const services = await some(3)
    const before = await revision()
    const result = await many({ action: 'disable', records: named(services) })
    expect(result).toMatchObject({ unchanged: 0, refused: [], next: null })
    expect(result.done.map(({ id }) => id)).toEqual(services.map(({ id }) => id))
    expect(await revision()).toBe(before + 1)
    expect((await changes())[0]).toMatchObject({ what: '3 services disabled', name: null })
    const ids = new Set(services.map(({ id }) => id))
    expect((await routes()).filter((route) => ids.has(route.id)).map(({ enabled }) => enabled)).toEqual([
      false,
      false,
      false,
    ])
    await many({ action: 'enable', records: named(services.slice(0, 1)) })
    expect((await changes())[0]).toMatchObject({ what: 'service enabled', name: 'many 0' })
  })

  it('leaves what is so already, without a revision when all is', async () => {
    const services = await some(2)
    await many({ action: 'disable', records: named(services.slice(1)) })
    const result = await many({ action: 'disable', records: named([...services, ...services]) })
    expect([result.done.length, result.unchanged]).toEqual([1, 1])
    const before = await revision()
    const again = await many({ action: 'disable', records: named(services) })
    expect([again.done.length, again.unchanged]).toEqual([0, 2])
    expect(await revision()).toBe(before)
  })

  it('says of each that it cannot be why, and does it to all others', async () => {
    const [service] = await some(1)
    const { token } = await lab.client.createNode({ name: 'docker', agentMayPublish: true })
    const off = { key: 'k', type: 'tcp', name: 'ci', backendPort: 80, enabled: false }
    const [published] = await publishAs(lab.server, token, [off])
    const consoles = (await lab.client.get('/api/services/http?limit=1')).json().data[0]
    const ci = (await lab.client.get('/api/services?limit=5&search=ci')).json().data[0]
    expect(published).toMatchObject({ state: 'published' })
    const records = named([service, consoles, ci, { id: 999_999 }] as Service[])
    const { done, refused } = await many({ action: 'disable', records })
    expect(done.map(({ id }) => id)).toEqual([service?.id])
    expect(refused).toMatchObject([
      { id: consoles.id, name: 'Console', code: 'system', message: 'The console cannot be disabled' },
      { id: 999_999, name: null, code: 'not_found', message: 'Service not found' },
    ])
    const enabled = await many({ action: 'enable', records: named([ci]) })
    expect(enabled.refused).toMatchObject([{ name: 'ci', code: 'published' }])
    expect(enabled.refused[0]?.message).toMatch(/on “docker” disabled it: enable it there/)
  })

  it('does nothing to one that was changed since it was seen, if asked to look', async () => {
    const [service] = await some(1)
    const { done } = await many({ action: 'disable', records: named([service as Service]) })
    const seen = { id: service?.id, updated_at: done[0]?.updated_at }
    await lab.client.patch(`/api/services/${lab.plain}/http/${service?.id}`, { name: 'renamed' })
    const { refused } = await many({ action: 'enable', records: [seen] })
    expect(refused).toMatchObject([
      { name: 'renamed', code: 'stale', message: 'admin changed this while you were editing' },
    ])
    expect(await read(service as Service)).toMatchObject({ enabled: false })
  })
})

describe('by a filter', () => {
  it('does it to what matches, in parts of so many, and says where to go on', async () => {
    const services = await some(5, { name: 'filtered' })
    await some(1)
    const ids = services.map(({ id }) => id).sort((a, b) => a - b)
    const form = { action: 'disable', filter: { search: 'filtered' }, limit: 2 }
    const first = await many(form)
    expect([first.done.map(({ id }) => id), first.next]).toEqual([ids.slice(0, 2), ids[1]])
    const second = await many({ ...form, after: first.next })
    expect([second.done.map(({ id }) => id), second.next]).toEqual([ids.slice(2, 4), ids[3]])
    const last = await many({ ...form, after: second.next })
    expect([last.done.map(({ id }) => id), last.next]).toEqual([ids.slice(4), null])
    const shown = (await lab.client.get('/api/services?limit=10&state=disabled&search=filtered')).json()
    expect(shown.total).toBe(5)
    const enabled = await many({ action: 'enable', filter: { state: 'disabled', search: 'filtered' } })
    expect(enabled.done).toHaveLength(5)
  })

  it('never means the console', async () => {
    const before = await revision()
    const { done, refused } = await many({ action: 'delete', filter: { search: 'console' } })
    expect([done, refused]).toEqual([[], []])
    expect(await revision()).toBe(before)
  })
})

describe('deleting many', () => {
  it('takes them and what they carried away', async () => {
    const services = await some(3)
    const result = await many({ action: 'delete', records: named(services) })
    expect(result.done.map(({ updated_at }) => updated_at)).toEqual([null, null, null])
    for (const service of services) expect(await read(service)).toBeUndefined()
    const ids = new Set(services.map(({ id }) => id))
    expect((await routes()).filter((route) => ids.has(route.id))).toEqual([])
  })
})

describe('moving many', () => {
  it('to another node keeps id, address and port, and can be undone as it was', async () => {
    const { id: other } = await lab.client.createNode({ name: 'other' })
    const web = await add(lab.plain, make({ name: 'web' }))
    const port = await add(lab.plain, { name: 'ssh', backendPort: 22 }, 'tcp')
    const before = await revision()
    const moved = await many({ action: 'move', to: { nodeId: other }, records: named([web, port]) })
    expect(moved.refused).toEqual([])
    expect(await revision()).toBe(before + 1)
    expect(await read(web)).toMatchObject({
      nodeId: other,
      publicAccess: web.publicAccess,
      nodeName: 'other',
    })
    expect(await read(port)).toMatchObject({ nodeId: other, publicAccess: port.publicAccess })
    expect((await routes()).find(({ id }) => id === web.id)?.node).toMatchObject({ id: other })
    expect((await lab.client.get(`/api/services/${other}/http/${web.id}`)).statusCode).toBe(200)
    expect((await lab.client.get(`/api/services/${lab.plain}/http/${web.id}`)).statusCode).toBe(404)
    const records = moved.done.map(({ id, updated_at, from }) => ({ id, updated_at, to: from }))
    const undone = await many({ action: 'move', records })
    expect([undone.done.length, undone.refused]).toEqual([2, []])
    expect(await read(web)).toMatchObject({ nodeId: lab.plain, domain: web.domain })
  })

  it('between nodes of other kinds holds each to the rules of a form', async () => {
    const { id: site } = await lab.client.createNode(gateway('192.168.50.0/24', 'site'))
    const inOffice = await add(lab.gateway, make({ name: 'nas', backendHost: '192.168.7.9' }))
    const onPlain = await add(lab.plain, make({ name: 'local' }))
    const local = await add(lab.local, make({ name: 'here', backendHost: '127.0.0.1', backendPort: 8080 }))
    const records = named([inOffice, onPlain, local])
    const { done, refused } = await many({ action: 'move', to: { nodeId: site }, records })
    expect(done).toEqual([])
    expect(refused.map(({ name, message }) => [name, message])).toEqual([
      ['nas', 'Its backend host must be inside the networks of site: 192.168.50.0/24'],
      ['local', 'Its backend host is required there'],
      [
        'here',
        'Its backend host must be inside the networks of site: 192.168.50.0/24. For a program on site itself, use its address there',
      ],
    ])
    // What is the same program there is kept as that node keeps it, and comes back as it was.
    const moved = await many({ action: 'move', to: { nodeId: lab.plain }, records: named([local]) })
    expect(await read(local)).toMatchObject({ nodeId: lab.plain, backendHost: null })
    await many({ action: 'move', records: moved.done.map(({ id, from }) => ({ id, to: from })) })
    expect(await read(local)).toMatchObject({ nodeId: lab.local, backendHost: '127.0.0.1' })
  })

  it('to another domain does not take a path that is taken, nor the sign-in along', async () => {
    await lab.client.createDomain({ domain: 'target.example.com', skipValidation: true })
    const [a, b] = await some(2)
    const records = named([a, b] as Service[])
    const { done, refused } = await many({ action: 'move', to: { domain: 'target.example.com' }, records })
    expect(done).toMatchObject([{ id: a?.id, from: { domain: a?.domain } }])
    expect(refused).toMatchObject([
      { id: b?.id, message: 'target.example.com/ already belongs to “many 0”', code: 'conflict' },
    ])
    const away = await many({
      action: 'move',
      to: { domain: 'none.example.com' },
      records: named([b as Service]),
    })
    expect(away.refused).toMatchObject([{ code: 'not_found', message: 'Domain not found' }])
    const bare = await many({ action: 'move', to: { domain: null }, records: named([b as Service]) })
    expect(bare.refused[0]?.code).toBe('validation')
  })

  it('leaves what an agent publishes where it is', async () => {
    const { token } = await lab.client.createNode({ name: 'swarm', agentMayPublish: true })
    await publishAs(lab.server, token, [{ key: 'k', type: 'tcp', name: 'agents', backendPort: 80 }])
    const row = (await lab.client.get('/api/services?limit=5&search=agents')).json().data[0]
    const { refused } = await many({ action: 'move', to: { nodeId: lab.plain }, records: named([row]) })
    expect(refused).toMatchObject([{ name: 'agents', code: 'published' }])
  })
})

it.each([
  [{ action: 'enable' }, 'records'],
  [{ action: 'enable', records: [{ id: 1 }], filter: {} }, 'records'],
  [{ action: 'enable', records: [] }, 'records'],
  [{ action: 'enable', records: Array.from({ length: 501 }, (_, i) => ({ id: i + 1 })) }, 'records'],
  [{ action: 'enable', filter: { state: 'gone' } }, 'filter.state'],
  [{ action: 'enable', filter: {}, limit: 501 }, 'limit'],
  [{ action: 'shake', filter: {} }, 'action'],
  [{ action: 'move', filter: {} }, 'to'],
  [{ action: 'move', filter: {}, to: { nodeId: 'x' } }, 'to.nodeId'],
  [{ action: 'enable', filter: {}, more: 1 }, 'more'],
])('refuses %j at %s', async (body, field) => {
  const answer = await post(body)
  expect([answer.statusCode, errorsOf(answer)[0]?.field]).toEqual([422, field])
})
