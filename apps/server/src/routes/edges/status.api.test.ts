import { once } from 'node:events'
import type { Edge } from '@postern/contract/edge/edge'
import type { EdgeMessage, PeerFigures } from '@postern/contract/edge/edge-messages'
import { ALL_OK, connectEdgeClient, type EdgeClient, everywhere } from '@postern/testkit/edge-client'
import { addEdgeMachine, openEdgeSocket, startServerForEdges } from '@postern/testkit/edge-machine'
import { followStream } from '@postern/testkit/event-stream'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeEach, expect, it } from 'vitest'

const server = fresh(() => startServerForEdges())
const client = fresh(() => server.signIn())
const ids = { node: 0, service: 0, far: 0 }
let local: EdgeClient
let send: (message: EdgeMessage) => void

const peer = (over: Partial<PeerFigures> = {}): PeerFigures => ({
  ...{
    nodeId: ids.node,
    latestHandshake: Date.now() + 3_600_000,
    rx: 100,
    tx: 10,
    clientIp: '198.51.100.7',
    reachable: true,
  },
  ...over,
})
const service = async () => (await client.get(`/api/services/${ids.node}/http/${ids.service}`)).json()
const node = async () => (await client.get(`/api/nodes/${ids.node}`)).json()

beforeEach(async () => {
  await server.listenOnSocket()
  ids.node = (await client.createNode({ name: 'attic' })).id
  const form = { name: 'wiki', pathLocation: '/wiki' }
  ids.service = (await client.post(`/api/services/${ids.node}/http`, form)).json().id
  local = await connectEdgeClient(server.context.config.paths)
  const machine = await addEdgeMachine(server, { name: 'Frankfurt' })
  ids.far = machine.joined.edgeId
  const socket = await openEdgeSocket(server, machine)
  send = (message) => socket.send(JSON.stringify(message))
  send({ type: 'hello', version: '0.1.0', epoch: 'far1' })
  local.report(1000)
  report()
  for (const each of [local.send, send]) each({ type: 'peers', peers: [peer()] })
  await until('both edges', async () => (await service()).state.phase === 'live')
  return () => {
    local.close()
    socket.terminate()
  }
})

const report = () =>
  send({
    type: 'report',
    report: { wanted: 1000, applied: 1000, inForce: everywhere(1000), problems: [], dataPlane: ALL_OK },
  })

it('shows each edge with its own state', async () => {
  const edges: Edge[] = (await client.get('/api/edges')).json()
  expect(edges).toMatchObject([
    { name: 'Local', number: 1, connected: true, applied: 1000 },
    { name: 'Frankfurt', number: 2, connected: true, applied: 1000, isJoined: true },
  ])
})

it('names the edge at which a service does not answer, until that is over', async () => {
  const tell = (trouble: 'refused' | null) =>
    send({ type: 'backends', isFirst: false, backends: [{ service: ids.service, trouble }] })
  tell('refused')
  const { problem } = await until('the trouble', async () => {
    const { state } = await service()
    return state.phase === 'unanswered' && state
  })
  expect(problem).toMatch(/^Not at Frankfurt: The service refused the connection/)
  await client.patch(`/api/edges/${ids.far}`, { name: 'Wien' })
  await until('the new name', async () => (await service()).state.problem.startsWith('Not at Wien: '))
  tell(null)
  await until('it to answer', async () => (await service()).state.phase === 'live')
})

it('names the edge that a node does not reach, and sums what it carries at all', async () => {
  expect(await node()).toMatchObject({ status: 'online', problem: null, transferRx: 200, transferTx: 20 })
  send({ type: 'peers', peers: [peer({ latestHandshake: 1, reachable: false })] })
  await until('the node to be away there', async () => (await node()).problem !== null)
  expect(await node()).toMatchObject({
    ...{ status: 'online', transferRx: 200 },
    problem: 'Not at Frankfurt: it does not answer through the tunnel',
  })
  expect((await service()).state).toEqual({
    phase: 'unanswered',
    problem: 'Not at Frankfurt: attic does not answer through the tunnel',
  })
  await client.delete(`/api/edges/${ids.far}`)
  await until('nobody to miss it', async () => (await node()).problem === null)
  expect(await node()).toMatchObject({ transferRx: 100 })
  expect((await service()).state.phase).toBe('live')
})

it('does not speak with an edge that is newer than the server, and says so on both sides', async () => {
  const machine = await addEdgeMachine(server, { name: 'Vienna' })
  const socket = await openEdgeSocket(server, machine)
  const ended = once(socket, 'close')
  socket.send(JSON.stringify({ type: 'hello', version: '9.0.0', epoch: 'far2' }))
  const [code, reason] = await ended
  const words = 'This edge has version 9.0.0, and the server 0.1.0. Upgrade the server first'
  expect([code, String(reason)]).toEqual([1008, expect.stringContaining(words)])
  const vienna = async () =>
    (await client.get('/api/edges')).json().find((edge: Edge) => edge.name === 'Vienna')
  await until('it to be away', async () => !(await vienna()).connected)
  expect(await vienna()).toMatchObject({
    version: '9.0.0',
    problems: [{ scope: { kind: 'edge' }, message: expect.stringContaining(words) }],
  })
})

it('has the log lines of all edges in one stream, as they came, and says which are missing', async () => {
  const origin = await server.listen()
  const url = `${origin}/api/logs/stream?type=http&id=${ids.service}&token=${client.token}`
  const first = await followStream(url)
  await until('the hint', () => server.context.logs.watched().includes(ids.service))
  const line = (seq: number, number: number, text: string): EdgeMessage => ({
    type: 'logs',
    lines: [{ service: ids.service, seq, number, text }],
  })
  const linesOf = () => first.listData().flat() as string[]
  const seen = (text: string) => until(text, () => linesOf().includes(text))
  local.send(line(50, 1, 'here 1'))
  await seen('here 1')
  send(line(1, 1, 'far 1'))
  await seen('far 1')
  local.send(line(51, 2, 'here 2'))
  await seen('here 2')
  send(line(9, 4, 'far 4'))
  await seen('far 4')
  const told = linesOf()
  expect(told.filter((text) => !text.startsWith('[WARN]'))).toEqual(['here 1', 'far 1', 'here 2', 'far 4'])
  expect(told.filter((text) => text.endsWith('2 lines are missing'))).toHaveLength(1)
  const again = await followStream(url)
  await until('what was kept', () => again.listData().flat().length === told.length)
  expect(again.listData().flat()).toEqual(told)
  const later = await followStream(url, { 'last-event-id': first.lastId() ?? '' })
  send(line(10, 5, 'far 5'))
  await until('the last line', () => later.listData().flat().length > 0)
  expect(later.listData().flat()).toEqual(['far 5'])
  for (const stream of [first, again, later]) stream.close()
})
