import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentConfig, AgentHint } from '@postern/contract/agent/agent'
import { NOTHING_BEYOND } from '@postern/contract/agent/agent-report'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { ErrorBody } from '@postern/contract/errors'
import { PublishAnswer } from '@postern/contract/services/publishing'
import { serveAgents } from '@postern/testkit/fakes/fake-agent-server'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'

/** What an agent may expect of its server: the real one and the double of the agent's tests pass the same tests. */
interface Subject {
  origin: string
  token: string
  /** Makes a change that affects the agent's node. */
  change(): Promise<void>
  /** Lets the node's agent publish services. */
  letPublish(): Promise<void>
  /** Revokes the token, for good. */
  revoke(): Promise<void>
  close(): Promise<void>
}

const KEY = Buffer.alloc(32, 7).toString('base64')

describe.each([
  ['the real server', startReal],
  ['the fake server', startFake],
])('%s', (_, startSubject) => {
  const subject = shared(startSubject)

  async function call(endpoint: { method: string; path: string }, body?: unknown, token = subject.token) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method: endpoint.method, headers, body: body === undefined ? null : JSON.stringify(body) }
    const answer = await fetch(`${subject.origin}${endpoint.path}`, init)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    return { status: answer.status, body: await answer.json() }
  }
  const getConfig = async () => AgentConfig.parse((await call(endpoints.agentConfig)).body)
  const dial = (token = subject.token) => {
    const url = `${subject.origin.replace('http', 'ws')}${endpoints.agentSocket.path}`
    return new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
  }
  /** The code of a refusal, the same at every endpoint. */
  async function refusalOf(token: string) {
    const answers = [
      await call(endpoints.agentConfig, undefined, token),
      await call(endpoints.registerKey, { publicKey: KEY }, token),
    ]
    const [error] = await once(dial(token), 'error')
    const codes = answers.map(({ body }) => ErrorBody.parse(body).code)
    const statuses = [...answers.map(({ status }) => status), Number(/\d{3}/.exec(String(error))?.[0])]
    return { codes, statuses }
  }

  test('gives a node without a key everything it needs, and takes its key', async () => {
    expect((await getConfig()).publicKey).toBeNull()
    const registered = await call(endpoints.registerKey, { publicKey: KEY })
    expect(registered.status).toBe(200)
    expect(AgentConfig.parse(registered.body).publicKey).toBe(KEY)
    expect((await getConfig()).publicKey).toBe(KEY)
  })

  test.each(['', 'x', KEY.slice(1)])('refuses %j as a key', async (publicKey) => {
    const refused = await call(endpoints.registerKey, { publicKey })
    expect([refused.status, ErrorBody.parse(refused.body).code]).toEqual([422, 'validation'])
  })

  test('hints at once and at a change', async () => {
    const socket = dial()
    const hints: AgentHint[] = []
    socket.on('message', (data) => hints.push(AgentHint.parse(JSON.parse(String(data)))))
    await until('the first hint', () => hints.length === 1)
    await subject.change()
    await until('the second hint', () => hints.length === 2)
    socket.close()
  })

  test('expects nothing over the socket', async () => {
    const socket = dial()
    await once(socket, 'open')
    socket.send('{}')
    expect((await once(socket, 'close'))[0]).toBe(1008)
  })

  const GRAFANA = { key: 'g/http', type: 'http', name: 'g', domain: 'g.example.com', backendPort: 3000 }
  const publish = (...services: object[]) => call(endpoints.publishServices, { source: 'docker', services })

  test('lets an agent publish services only when the console allows it', async () => {
    const refused = await publish(GRAFANA)
    expect([refused.status, ErrorBody.parse(refused.body).code]).toEqual([403, 'may_not_publish'])
    await subject.letPublish()
    const { status, body } = await publish(GRAFANA)
    expect(status).toBe(200)
    expect(PublishAnswer.parse(body).services).toMatchObject([
      { key: 'g/http', state: 'published', type: 'http', address: 'https://g.example.com/', enabled: true },
    ])
    expect(await publish()).toEqual({ status: 200, body: { services: [] } })
  })

  test('refuses a set without keys as a whole', async () => {
    const { key: _, ...keyless } = GRAFANA
    const { status, body } = await publish(GRAFANA, keyless)
    expect([status, ErrorBody.parse(body).code]).toEqual([422, 'validation'])
  })

  test('accepts a report of closed types, and no other', async () => {
    const report = { takenPorts: [], takenRoutes: ['10.64.0.0/16'], beyond: NOTHING_BEYOND }
    expect(await call(endpoints.reportNode, report)).toEqual({ status: 200, body: {} })
    const { status, body } = await call(endpoints.reportNode, { ...report, takenRoutes: ['a text'] })
    expect([status, ErrorBody.parse(body).code]).toEqual([422, 'validation'])
  })

  test('refuses a token that it does not know', async () => {
    const seen = await refusalOf(`ptn_${'x'.repeat(43)}`)
    expect(seen).toEqual({ codes: ['unauthenticated', 'unauthenticated'], statuses: [401, 401, 401] })
  })

  test('says that a revoked token was revoked', async () => {
    await subject.revoke()
    const seen = await refusalOf(subject.token)
    expect(seen).toEqual({ codes: ['token_revoked', 'token_revoked'], statuses: [403, 403, 403] })
  })
})

async function startReal(): Promise<Subject> {
  const server = await startTestServer()
  const client = await server.signIn()
  const { id, token } = (await client.post('/api/nodes', { name: 'site' })).json()
  return {
    origin: await server.listen(),
    token,
    async change() {
      await client.patch(`/api/nodes/${id}`, { keepalive: 7 })
    },
    async letPublish() {
      await client.patch(`/api/nodes/${id}`, { agentMayPublish: true, agentDomains: ['g.example.com'] })
    },
    async revoke() {
      await server.context.db
        .updateTable('node_tokens')
        .set({ revoked: 1 })
        .where('node_id', '=', id)
        .execute()
    },
    close: () => server.close(),
  }
}

async function startFake(): Promise<Subject> {
  const http = createServer()
  const fake = serveAgents(http)
  const token = 'pn_lab-token-1234567890'
  fake.node = { token, config: CONFIG, isRevoked: false }
  await once(http.listen(0, '127.0.0.1'), 'listening')
  // A TCP listener has this kind of address.
  const { port } = http.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    token,
    change: async () => fake.hint(),
    async letPublish() {
      if (fake.node) fake.node.mayPublish = true
    },
    async revoke() {
      if (fake.node) fake.node.isRevoked = true
    },
    async close() {
      http.closeAllConnections()
      http.close()
    },
  }
}

const CONFIG: AgentConfig = {
  node: { id: 2, name: 'office', enabled: true },
  addresses: ['10.64.0.2/32', 'fd64::2/128'],
  dns: [],
  publicKey: null,
  gateway: null,
  peer: {
    publicKey: KEY,
    presharedKey: KEY,
    endpoint: '203.0.113.1:51820',
    allowedIps: ['10.64.0.0/16', 'fd64::/64'],
    keepaliveSeconds: 25,
  },
  edgeAddress: '10.64.0.1',
  targets: { tcp: [], udp: [] },
}
