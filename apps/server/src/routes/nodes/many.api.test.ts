import type { ManyResult } from '@postern/contract/services/many'
import { publishAs } from '@postern/testkit/agent-calls'
import { fetchState } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { getRevision } from '../../changes/change.ts'

const server = shared(startTestServer)
const client = shared(() => server.signIn())
const revision = () => getRevision(server.context.db)
const many = async (noun: string, body: object): Promise<ManyResult> => {
  const answer = await client.post(`/api/${noun}/many`, body)
  expect([answer.statusCode, answer.body]).toEqual([200, answer.body])
  return answer.json()
}
const named = (records: readonly { id: number }[]) => records.map(({ id }) => ({ id }))
const nodes = (name: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => client.createNode({ name: `${name} ${i}` })))

describe('many nodes', () => {
  it('are disconnected and connected in one revision, with what they carry', async () => {
    const some = await nodes('site', 3)
    const service = await client.post(`/api/services/${some[0]?.id}/tcp`, { name: 's', backendPort: 80 })
    const before = await revision()
    const off = await many('nodes', { action: 'disable', records: named(some) })
    expect([off.done.length, await revision()]).toEqual([3, before + 1])
    const port = async () =>
      (await fetchState(server)).sections.ports?.find(({ id }) => id === service.json().id)?.enabled
    expect(await port()).toBe(false)
    expect((await client.get('/api/overview')).json().changes[0].what).toBe('3 nodes disconnected')
    const on = await many('nodes', {
      action: 'enable',
      records: off.done.map(({ id, updated_at }) => ({ id, updated_at })),
    })
    expect([on.done.length, on.refused]).toEqual([3, []])
    expect(await port()).toBe(true)
  })

  it('are deleted by a filter, but for the local one, with their services, tokens and figures', async () => {
    const some = await nodes('gone', 2)
    const service = await client.post(`/api/services/${some[0]?.id}/tcp`, { name: 's', backendPort: 80 })
    const { done, refused, next } = await many('nodes', { action: 'delete', filter: { search: 'gone' } })
    expect([done.map(({ id }) => id), refused, next]).toEqual([some.map(({ id }) => id), [], null])
    for (const { id } of some) expect((await client.get(`/api/nodes/${id}`)).statusCode).toBe(404)
    expect((await client.get(`/api/services?limit=9&search=s`)).json().data).not.toContainEqual(
      expect.objectContaining({ id: service.json().id }),
    )
    const local = await many('nodes', { action: 'disable', records: [{ id: 1 }, { id: 777_777 }] })
    expect(local.refused).toMatchObject([
      { id: 1, name: 'Local', code: 'local_node' },
      { id: 777_777, name: null, code: 'not_found' },
    ])
    expect((await many('nodes', { action: 'delete', filter: { search: 'Local' } })).refused).toEqual([])
  })
})

describe('many domains', () => {
  it('are deleted, but for those that services use, which say so', async () => {
    const free = await client.createDomain({ domain: 'free.example.com', skipValidation: true })
    const used = await client.createDomain({ domain: 'used.example.com', skipValidation: true })
    await client.post('/api/services/1/http', {
      ...{ name: 'wiki', domain: 'used.example.com', backendHost: '127.0.0.1', backendPort: 8080 },
    })
    const { done, refused } = await many('domains', { action: 'delete', filter: { search: 'example.com' } })
    expect(done.map(({ id }) => id)).toEqual([free.id])
    expect(refused).toMatchObject([
      {
        ...{ id: used.id, name: 'used.example.com', code: 'in_use' },
        message: 'used.example.com is used by “wiki”. Delete its services first.',
      },
    ])
    expect((await client.get('/api/domains')).json()).toMatchObject([{ domain: 'used.example.com' }])
  })
})

describe('many tokens', () => {
  it('of a node are revoked and deleted, with what they brought if asked to', async () => {
    const node = await client.createNode({ name: 'docker', agentMayPublish: true })
    const url = `/api/nodes/${node.id}/pats`
    for (const name of ['ci', 'laptop']) await client.post(url, { name })
    await publishAs(server, node.token, [{ key: 'k', type: 'tcp', name: 'app', backendPort: 80 }])
    const before = await revision()
    const revoked = await many(`nodes/${node.id}/pats`, { action: 'revoke', filter: {}, forgetKey: true })
    expect([revoked.done.length, revoked.refused, await revision()]).toEqual([3, [], before + 1])
    expect((await client.get(`/api/services?limit=5&node=${node.id}`)).json().data).toEqual([])
    expect((await server.as(node.token).get('/api/agent/config')).statusCode).toBe(403)
    const again = await many(`nodes/${node.id}/pats`, { action: 'revoke', filter: {} })
    expect(again).toMatchObject({ done: [], unchanged: 3 })
    const deleted = await many(`nodes/${node.id}/pats`, { action: 'delete', filter: { search: 'ci' } })
    expect(deleted.done).toHaveLength(1)
    expect((await client.get(url)).json()).toHaveLength(2)
  })

  it('of another node are none of it, and the local node has none', async () => {
    const [a, b] = await nodes('pair', 2)
    const [token] = (await client.get(`/api/nodes/${b?.id}/pats`)).json()
    const records = [{ id: token.id }]
    const { refused } = await many(`nodes/${a?.id}/pats`, { action: 'delete', records })
    expect(refused).toMatchObject([{ id: token.id, code: 'not_found' }])
    const local = await client.post('/api/nodes/1/pats/many', { action: 'delete', records })
    expect([local.statusCode, local.json().code]).toEqual([409, 'local_node'])
    expect((await client.post('/api/nodes/9999/pats/many', { action: 'delete', records })).statusCode).toBe(
      404,
    )
  })
})
