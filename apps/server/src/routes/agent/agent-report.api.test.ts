import { type AgentReport, MOST_REPORTED, NOTHING_BEYOND } from '@postern/contract/agent/agent-report'
import type { Attention } from '@postern/contract/overview'
import { openAgentSocket } from '@postern/testkit/agent-calls'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, test } from 'vitest'

const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(() => server.listen())

const NOTHING: AgentReport = { takenPorts: [], takenRoutes: [], beyond: NOTHING_BEYOND }
const TAKEN = { proto: 'tcp', port: 9001, place: 'tunnel', user: 65534, owner: 0 } as const
const WORDS =
  "A program of user 65534 on this node also listens on TCP port 9001, at the tunnel's address. Visitors still reach the program of root"

const createNode = (name: string) => client.createNode({ name })
const report = async ({ token }: { token: string }, payload: object) =>
  (await server.as(token).put('/api/agent/report', payload)).statusCode
const connect = async ({ token }: { token: string }) => (await openAgentSocket(server, token)).socket
const problemOf = async ({ id }: { id: number }) => (await client.get(`/api/nodes/${id}`)).json().problem
const listAttention = async (): Promise<Attention[]> => (await client.get('/api/overview/attention')).json()

test("an agent's report is a problem of its own node, and of no other, until it is over", async () => {
  const [node, other] = [await createNode('site'), await createNode('another')]
  const routes = { takenRoutes: ['10.64.0.0/16'] }
  const beyond = { gateway: ['192.168.7.0/24'], tunnel: ['198.18.0.1/15'], allTraffic: true, dns: true }
  expect(await report(node, { takenPorts: [TAKEN], ...routes, beyond })).toBe(200)
  expect(await problemOf(node)).toBe(WORDS)
  expect(await problemOf(other)).toBeNull()
  expect(await listAttention()).toMatchObject(
    [
      WORDS,
      "Another program on this node, such as a second agent, has taken the route to 10.64.0.0/16, so this agent's tunnel may carry no traffic",
      "This node's policy does not allow: forwarding to 192.168.7.0/24, 198.18.0.0/15 in the tunnel, all its traffic through the server, its DNS servers. Run postern status on the node to see how to allow it",
    ].map((problem) => ({ kind: 'node', tone: 'warn', name: 'site', nodeId: node.id, problem })),
  )
  expect(await report(node, NOTHING)).toBe(200)
  expect(await problemOf(node)).toBeNull()
  expect(await listAttention()).toEqual([])
})

test.each([
  ['words of its own', { ...NOTHING, note: 'Enter your password at https://evil.example' }],
  ['words as a network', { ...NOTHING, takenRoutes: ['call 0900'] }],
  ['words as a place', { ...NOTHING, takenPorts: [{ ...TAKEN, place: 'at https://evil.example' }] }],
  ['a port that is none', { ...NOTHING, takenPorts: [{ ...TAKEN, port: 70_000 }] }],
  ['a user that is none', { ...NOTHING, takenPorts: [{ ...TAKEN, user: '0 and you' }] }],
  ['more than is shown', { ...NOTHING, takenPorts: Array(MOST_REPORTED + 1).fill(TAKEN) }],
  ['nothing at all', {}],
])('a report with %s is refused as a whole', async (_, payload) => {
  const node = await createNode('hostile')
  expect(await report(node, payload)).toBe(422)
  expect(await problemOf(node)).toBeNull()
  await client.delete(`/api/nodes/${node.id}`)
})

test('it counts while the agent is connected, and pages get a hint', async () => {
  const node = await createNode('leaving')
  const hinted: number[] = []
  const stop = server.context.bus.listen((hint) => {
    if (hint.kind === 'figures') hinted.push(...hint.nodes)
  })
  const socket = await connect(node)
  await report(node, { ...NOTHING, takenPorts: [TAKEN] })
  expect(await problemOf(node)).toBe(WORDS)
  socket.close()
  await until('the report to be forgotten', async () => (await problemOf(node)) === null)
  expect(hinted).toEqual([node.id, node.id])
  stop()
})

test("two agents of one node neither remove nor replace each other's report", async () => {
  const node = await createNode('pair')
  const pats = `/api/nodes/${node.id}/pats`
  const pat: { id: number; token: string } = (await client.post(pats, { name: 'second' })).json()
  const seen = async () => {
    const rows = (await listAttention()).filter(({ nodeId }) => nodeId === node.id)
    return rows.map(({ problem }) => problem?.split(' ', 2).join(' '))
  }
  const first = await connect(node)
  await report(node, { ...NOTHING, takenPorts: [TAKEN] })
  const second = await connect(pat)
  expect(await seen()).toEqual(['A program'])
  await report(pat, { ...NOTHING, takenRoutes: ['10.64.0.0/16'] })
  expect(await seen()).toEqual(['A program', 'Another program'])
  await report(node, NOTHING)
  expect(await seen()).toEqual(['Another program'])
  await report(node, { ...NOTHING, takenPorts: [TAKEN] })
  second.close()
  await until('the end of the second', async () => (await seen()).length === 1)
  expect(await seen()).toEqual(['A program'])
  const again = await connect(pat)
  await report(pat, { ...NOTHING, takenRoutes: ['10.64.0.0/16'] })
  const asked = new Promise((resolve) => first.on('close', (code) => resolve(code)))
  await client.delete(`${pats}/${pat.id}`)
  expect(await asked).toBe(1012)
  await until('the end of all', async () => (await seen()).length === 0)
  again.terminate()
})

test('an agent that reports endlessly is told to wait', async () => {
  const node = await createNode('eager')
  const statuses = new Set<number>()
  for (let count = 0; count <= 200; count++) statuses.add(await report(node, NOTHING))
  expect([...statuses]).toEqual([200, 429])
})
