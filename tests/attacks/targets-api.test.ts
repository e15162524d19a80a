import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { beforeAll, describe, expect, test } from 'vitest'
import { SUBNETS, TARGETS, type TargetNode } from './tables/targets.ts'

const ids: Partial<Record<TargetNode, number>> = { local: 1 }

const gateway = (name: string, subnet: string) => ({
  name,
  isGateway: true,
  gatewayNetworks: [{ interface: 'eth0', subnet }],
})

const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(async () => {
  ids.plain = (await client.post('/api/nodes', { name: 'plain' })).json().id
  ids.gateway = (await client.post('/api/nodes', gateway('gateway', '192.168.7.0/24'))).json().id
})

/** Where nothing is hostile, so that a refusal is about the target. */
const GOOD = { plain: {}, gateway: { backendHost: '192.168.7.20' }, local: { backendHost: '127.0.0.1' } }

/** On a plain node they mean the node itself, in its own network namespace. */
const ITSELF = ['127.0.0.1', '::1', '0:0:0:0:0:0:0:1', 'localhost', 'LOCALHOST']

interface Published {
  status: number
  /** The host as stored. */
  host: string | null
}

async function publish(node: TargetNode, name: string, form: object): Promise<Published> {
  const body = { name, pathLocation: `/${node}`, backendPort: 3000, skipValidation: true, ...form }
  const answer = await client.post(`/api/services/${ids[node]}/http`, body)
  if (answer.statusCode === 201) await client.delete(`/api/services/${ids[node]}/http/${answer.json().id}`)
  return { status: answer.statusCode, host: answer.json().backendHost }
}

test('a valid target is accepted', async () => {
  for (const node of ['plain', 'gateway', 'local'] as const)
    expect((await publish(node, 'good', { ...GOOD[node], backendPort: 8080 })).status).toBe(201)
})

describe.each(['plain', 'gateway', 'local'] as const)('a service of a %s node', (node) => {
  test.each(TARGETS)('cannot lead to %s', async (name, backendHost, nameBehind) => {
    const { status, host } = await publish(node, name, { backendHost })
    if (node === 'plain' && ITSELF.includes(backendHost)) expect([status, host]).toEqual([201, null])
    else expect([422, ...(nameBehind.includes(node) ? [201] : [])]).toContain(status)
  })
})

test.each(['plain', 'gateway'] as const)(
  'the agent of a %s node cannot point a service elsewhere',
  async (node) => {
    const { id, token } = (
      await client.post('/api/nodes', {
        ...(node === 'gateway' ? gateway('by agent', '192.168.9.0/24') : { name: 'by agent' }),
        agentMayPublish: true,
      })
    ).json()
    const services = TARGETS.map(([name, backendHost], index) => ({
      ...{ key: `k${index}`, type: index % 2 === 0 ? 'tcp' : 'udp', name, backendHost, backendPort: 3000 },
    }))
    const answer = await server.call({
      ...{ method: 'PUT', url: '/api/agent/services', headers: { authorization: `Bearer ${token}` } },
      payload: { source: 'docker', services },
    })
    expect(answer.statusCode).toBe(200)
    const published: string[] = answer
      .json()
      .services.flatMap(({ key, state }: { key: string; state: string }) =>
        state === 'published' ? key : [],
      )
    for (const [index, [name, backendHost, nameBehind]] of TARGETS.entries()) {
      const isFine = node === 'plain' ? ITSELF.includes(backendHost) : nameBehind.includes('gateway')
      if (!isFine) expect(published, name).not.toContain(`k${index}`)
    }
    await client.delete(`/api/nodes/${id}`)
  },
)

test.each(SUBNETS)('a gateway cannot have %s', async (name, subnet) => {
  const { network4, network6 } = server.context.tunnel
  const text = subnet.replace('%4', network4).replace('%6', network6)
  const answer = await client.post('/api/nodes', gateway(name, text))
  expect([422, 409]).toContain(answer.statusCode)
})
