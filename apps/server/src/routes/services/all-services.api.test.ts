import { publishAs } from '@postern/testkit/agent-calls'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServiceLab } from '../../../test/service-lab.ts'

interface Row {
  id: number
  name: string
  enabled: boolean
  state: { phase: string }
}

const lab = shared(startServiceLab)
let edge: Awaited<ReturnType<typeof connectFakeEdge>>
const ids: Record<string, number> = {}

/** One service in each state, and of each kind. */
beforeAll(async () => {
  const { client, plain, gateway, server } = lab
  const add = async (node: number, type: 'http' | 'tcp', form: { name: string }) => {
    const answer = await client.post(`/api/services/${node}/${type}`, { skipValidation: true, ...form })
    expect([form.name, answer.statusCode]).toEqual([form.name, 201])
    ids[form.name] = answer.json().id
  }
  const lan = { backendHost: '192.168.7.31' }
  await add(gateway, 'http', {
    name: 'Grafana',
    domain: 'grafana.example.com',
    backendPort: 3000,
    ...lan,
  } as never)
  await add(gateway, 'tcp', { name: 'mqtt', backendPort: 1883, ...lan } as never)
  await add(gateway, 'tcp', { name: 'game', proto: 'udp', backendPort: 27_015, ...lan } as never)
  await add(plain, 'http', { name: 'wiki', domain: 'wiki.example.com' } as never)
  await add(plain, 'http', { name: 'api', domain: 'wiki.example.com', pathLocation: '/api' } as never)
  await add(plain, 'tcp', { name: 'off', backendPort: 22 } as never)
  await client.patch(`/api/services/${plain}/tcp/${ids.off}/disable`)
  await server.listenOnSocket()
  edge = await connectFakeEdge(server.context.config.paths)
  edge.sendPeers([onlinePeer(gateway)])
  await edge.setProblems([{ scope: { kind: 'service', id: ids.mqtt ?? 0 }, message: 'HAProxy says no' }])
  edge.sendTrouble(ids.game ?? 0, 'refused')
  await until('the edge to be heard', async () => (await phases()).game === 'unanswered')
})
afterAll(() => edge?.close())

const list = async (query = ''): Promise<Row[]> =>
  (await lab.client.get(`/api/services?limit=100${query}`)).json().data
const names = async (query = '') => (await list(query)).map(({ name }) => name)
const phases = async () =>
  Object.fromEntries(
    (await list()).map(({ name, enabled, state }) => [name, enabled ? state.phase : 'disabled']),
  )

describe('the list of all services', () => {
  it('has those of all nodes and types by name, but for the console itself', async () => {
    expect(await names()).toEqual(['api', 'game', 'Grafana', 'mqtt', 'off', 'wiki'])
    expect(await names('&orderBy=name,desc')).toEqual(['wiki', 'off', 'mqtt', 'Grafana', 'game', 'api'])
    const page = (await lab.client.get('/api/services?limit=4&page=2')).json()
    expect(page).toMatchObject({ page: 2, limit: 4, total: 6 })
    expect(page.data.map(({ name }: Row) => name)).toEqual(['off', 'wiki'])
  })

  it.each([
    ['kind=http', ['api', 'Grafana', 'wiki']],
    ['kind=tcp', ['mqtt', 'off']],
    ['kind=udp', ['game']],
    ['domain=wiki.example.com', ['api', 'wiki']],
    ['domain=none.example.com', []],
    ['search=192.168.7.31', ['game', 'Grafana', 'mqtt']],
    ['search=192.168.7.31:3000', ['Grafana']],
    ['search=27015', ['game']],
    ['search=localhost:22', ['off']],
    ['search=wiki.example.com/api', ['api']],
    ['search=OFFICE', ['game', 'Grafana', 'mqtt']],
    ['search=office&kind=udp', ['game']],
    ['search=grafana', ['Grafana']],
  ])('by %s', async (query, found) => {
    expect(await names(`&${query}`)).toEqual(found)
  })

  it('by node, of which the address finds them too', async () => {
    expect(await names(`&node=${lab.plain}`)).toEqual(['api', 'off', 'wiki'])
    const { address } = (await lab.client.get(`/api/nodes/${lab.plain}`)).json()
    expect(await names(`&search=${address}`)).toEqual(['api', 'off', 'wiki'])
  })

  it.each(['state=gone', 'kind=quic', 'node=x', 'orderBy=state,asc', 'type=http'])(
    'refuses %s at its field',
    async (query) => {
      const answer = await lab.client.get(`/api/services?limit=10&${query}`)
      expect(answer.statusCode).toBe(422)
      expect(answer.json().errors[0].field).toBe(query.split('=')[0])
    },
  )

  it('by state shows exactly those that the overview counts, in that state', async () => {
    expect(await phases()).toEqual({
      ...{ Grafana: 'live', mqtt: 'failed', game: 'unanswered' },
      ...{ wiki: 'node-offline', api: 'node-offline', off: 'disabled' },
    })
    await expectAsCounted()
    edge.sendTrouble(ids.Grafana ?? 0, 'unchecked' as never)
    await until('it to be asked', async () => (await phases()).Grafana === 'checking')
    await expectAsCounted()
    await lab.client.patch(`/api/nodes/${lab.plain}/disable`)
    await until('the edge to follow', async () => (await phases()).wiki === 'node-disconnected')
    await expectAsCounted()
    await edge.setDataPlane({ haproxy: { state: 'failed', detail: 'HAProxy does not start' } } as never)
    await until('the failure to be heard', async () => (await phases()).Grafana === 'failed')
    await expectAsCounted()
    edge.close()
    await until('the edge to be missed', async () => (await phases()).Grafana === 'applying')
    await expectAsCounted()
  })

  it('of an agent is there as well, and nobody without a session reads any', async () => {
    const { token, id } = await lab.client.createNode({ name: 'docker', agentMayPublish: true })
    await publishAs(lab.server, token, [{ key: 'k', type: 'tcp', name: 'ci', backendPort: 80 }])
    expect(await names(`&node=${id}`)).toEqual(['ci'])
    expect((await lab.server.call({ method: 'GET', url: '/api/services' })).statusCode).toBe(401)
  })
})

async function expectAsCounted(): Promise<void> {
  const overview = (await lab.client.get('/api/overview')).json()
  const counted: [string, number][] = [
    ...Object.entries<number>(overview.services),
    ['disabled', overview.disabledServices],
  ]
  for (const [state, count] of counted) {
    const rows = await list(`&state=${state}`)
    expect([state, rows.length]).toEqual([state, count])
    for (const row of rows) expect(row.enabled ? row.state.phase : 'disabled').toBe(state)
    expect((await lab.client.get(`/api/services?limit=1&state=${state}`)).json()).toMatchObject({
      total: count,
    })
  }
}
