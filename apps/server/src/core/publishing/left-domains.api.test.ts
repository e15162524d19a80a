import { publishAs } from '@postern/testkit/agent-calls'
import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'

const resolver = fresh(() => ({ resolve: async (_name: string) => ['203.0.113.1'] }))
const server = fresh(() => startTestServer({ world: { resolver } }))
const client = fresh(() => server.signIn())
const DOMAIN = 'shop.example.com'
const at = (domain: string) => ({ key: domain, type: 'http', name: domain, domain, backendPort: 8080 })
const KEPT = {
  state: 'refused',
  errors: [
    { field: 'domain', message: expect.stringContaining('belonged to another node within the last day') },
  ],
}

/** An agent brings the domain; a person publishes there on another node; the agent's service ends. */
async function bring() {
  const [first, second, third] = [
    await client.createNode({ name: 'a', agentMayPublish: true }),
    await client.createNode({ name: 'b' }),
    await client.createNode({ name: 'c', agentMayPublish: true }),
  ]
  expect(await publishAs(server, first.token, [at(DOMAIN)])).toMatchObject([{ state: 'published' }])
  const form = { name: 'shop', domain: DOMAIN, pathLocation: '/shop', backendPort: 80 }
  const made = await client.post(`/api/services/${second.id}/http`, form)
  expect(made.statusCode, made.body).toBe(201)
  await publishAs(server, first.token, [])
  await client.createDomain({ domain: 'other.example.com', skipValidation: true })
  return { second, third, id: made.json<{ id: number }>().id }
}

test.each(['edited away', 'moved away', 'deleted', 'deleted with many', 'deleted with its node'])(
  'a domain that an agent brought goes with its last service, which a person’s is, %s; and to no other agent',
  async (how) => {
    const { second, third, id } = await bring()
    const path = `/api/services/${second.id}/http/${id}`
    const domain = 'other.example.com'
    const records = [{ id }]
    const leave: Record<string, () => Promise<{ statusCode: number }>> = {
      'edited away': () => client.patch(path, { domain }),
      'moved away': () => client.post('/api/services/many', { action: 'move', records, to: { domain } }),
      deleted: () => client.delete(path),
      'deleted with many': () => client.post('/api/services/many', { action: 'delete', records }),
      'deleted with its node': () => client.delete(`/api/nodes/${second.id}`),
    }
    expect((await leave[how]?.())?.statusCode).toBe(200)
    const domains = (await client.get('/api/domains')).json<{ domain: string }[]>()
    expect(domains.map((each) => each.domain)).toEqual([domain])
    // Nothing is reserved for a node that is gone.
    const expected = how === 'deleted with its node' ? { state: 'published' } : KEPT
    expect(await publishAs(server, third.token, [at(DOMAIN)])).toMatchObject([expected])
  },
)

test('a domain that stays without services is reserved for the node that left it, too', async () => {
  const { second, third, id } = await bring()
  // As versions before left it.
  await server.context.db.deleteFrom('services').where('id', '=', id).execute()
  expect(await publishAs(server, third.token, [at(DOMAIN)])).toMatchObject([KEPT])
  expect(second.id).not.toBe(third.id)
})

test('a name that a person takes away during the look-ups is not created without its own', async () => {
  const node = await client.createNode({
    name: 'c',
    agentMayPublish: true,
    agentDomains: ['app.example.com'],
  })
  resolver.resolve = async (name) => {
    if (name !== 'slow.example.net') return ['198.51.100.9']
    expect((await client.patch(`/api/nodes/${node.id}`, { agentDomains: [] })).statusCode).toBe(200)
    return ['203.0.113.1']
  }
  const set = [at('app.example.com'), at('slow.example.net')]
  const message = 'was given to this node until now: the next set looks it up'
  expect(await publishAs(server, node.token, set)).toMatchObject([
    { state: 'refused', errors: [{ field: 'domain', message }] },
    { state: 'published' },
  ])
  expect(await publishAs(server, node.token, set)).toMatchObject([
    { state: 'refused' },
    { state: 'published' },
  ])
})
