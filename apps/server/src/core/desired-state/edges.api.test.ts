import { X509Certificate } from 'node:crypto'
import { StateAnswer } from '@postern/contract/edge/desired-state'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { fetchState } from '@postern/testkit/edge-client'
import {
  addEdgeMachine,
  askControl,
  type EdgeMachine,
  startServerForEdges,
} from '@postern/testkit/edge-machine'
import { shared } from '@postern/testkit/shared'
import { beforeAll, expect, it } from 'vitest'

const server = shared(() => startServerForEdges())
const client = shared(() => server.signIn())
const plain = shared(() => addEdgeMachine(server, { name: 'plain' }))
const withConsole = shared(() => addEdgeMachine(server, { name: 'with console', servesConsole: true }))
const ids = { local: 0, localPort: 0, remote: 0 }

beforeAll(async () => {
  const [{ id: local }] = (await client.get('/api/nodes')).json()
  const node = await client.createNode({ name: 'attic' })
  const form = { name: 's', backendPort: 8080 }
  const made = async (url: string, more: object) => {
    const answer = await client.post(url, { ...form, ...more })
    expect(answer.statusCode, answer.body).toBe(201)
    return answer.json().id
  }
  ids.local = await made(`/api/services/${local}/http`, { pathLocation: '/here', backendHost: '127.0.0.1' })
  ids.localPort = await made(`/api/services/${local}/tcp`, { backendHost: '127.0.0.1' })
  ids.remote = await made(`/api/services/${node.id}/http`, { pathLocation: '/there' })
})

const stateAt = async (edge: EdgeMachine, known = {}) => {
  const answer = await askControl(server, edge, { path: endpoints.edgeState.path, body: { known } })
  expect(answer.status).toBe(200)
  return StateAnswer.parse(answer.json)
}
const idsIn = ({ sections }: StateAnswer) => [...sections.routes, ...sections.ports].map(({ id }) => id)

it('gives services of the machine beside the server to the edge there, and to no other', async () => {
  const here = [ids.local, ids.localPort]
  expect(idsIn(await fetchState(server))).toEqual(expect.arrayContaining([...here, ids.remote]))
  for (const edge of [plain, withConsole]) {
    const found = idsIn(await stateAt(edge))
    expect(found).toContain(ids.remote)
    expect(found.filter((id) => here.includes(id))).toEqual([])
  }
})

it('gives the console and its certificate only to edges that serve it; others get one that is nobody', async () => {
  const own = await fetchState(server)
  const serving = await stateAt(withConsole)
  const curious = await stateAt(plain)
  const consoleOf = ({ sections }: StateAnswer) => sections.routes.filter(({ system }) => system)
  expect([own, serving, curious].map((state) => consoleOf(state).length)).toEqual([1, 1, 0])
  const leafOf = ({ sections }: StateAnswer) => sections.certificates.find(({ id }) => id === 0)
  expect(leafOf(serving)).toEqual(leafOf(own))
  const leaf = leafOf(curious)
  expect(leaf?.privateKey).not.toBe(leafOf(own)?.privateKey)
  const { subjectAltName } = new X509Certificate(leaf?.chain ?? '')
  expect(subjectAltName).toBe(`DNS:edge-${plain.joined.number}.postern.internal`)
  expect(JSON.stringify(curious)).not.toContain(JSON.stringify(leafOf(own)?.privateKey))
})

it('gives each edge its own number and key, and says where servers are', async () => {
  const states = [await fetchState(server), await stateAt(plain), await stateAt(withConsole)]
  const settings = states.map(({ sections }) => sections.settings)
  expect(settings.map((each) => each?.edge)).toEqual([
    { number: 1, servesConsole: true, isDrained: false },
    { number: plain.joined.number, servesConsole: false, isDrained: false },
    { number: withConsole.joined.number, servesConsole: true, isDrained: false },
  ])
  expect(new Set(settings.map((each) => each?.tunnelPrivateKey)).size).toBe(3)
  for (const each of settings) expect(each?.servers).toEqual(plain.joined.servers)
})

it('sends only what an edge does not hold, and anew what an edit changes', async () => {
  const { hashes } = await stateAt(plain)
  const nothing = await stateAt(plain, hashes)
  expect(nothing.sections).toEqual({
    ...{ peers: [], routes: [], ports: [], signIns: [], challenges: [], certificates: [] },
  })
  await client.patch(`/api/edges/${plain.joined.edgeId}/drain`)
  const drained = await stateAt(plain, hashes)
  expect(drained.sections.settings?.edge?.isDrained).toBe(true)
  await client.patch(`/api/edges/${plain.joined.edgeId}`, { servesConsole: true })
  const serving = await stateAt(plain, hashes)
  expect(serving.sections.certificates.map(({ id }) => id)).toContain(0)
  expect(serving.sections.routes.some(({ system }) => system)).toBe(true)
  await client.patch(`/api/edges/${plain.joined.edgeId}`, { servesConsole: false })
  const again = await stateAt(plain, serving.hashes)
  expect(again.hashes).toMatchObject({ 'certificates:0': hashes['certificates:0'] })
})
