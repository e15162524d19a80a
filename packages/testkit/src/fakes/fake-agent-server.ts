import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { AgentConfig, type AgentHint, RegisterKey } from '@postern/contract/agent/agent'
import { AgentReport } from '@postern/contract/agent/agent-report'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { ErrorBody } from '@postern/contract/errors'
import { PublishAnswer, type PublishedService, PublishForm } from '@postern/contract/services/publishing'
import { WebSocketServer } from 'ws'

/** The server's data for one node. */
export interface FakeNode {
  token: string
  /** Without `publicKey`, which is what was registered. */
  config: AgentConfig
  /** Its token was revoked. */
  isRevoked: boolean
  /** The console lets its agent publish services. */
  mayPublish?: boolean
}

/**
 * The server's side of an agent's protocol, for one node. tests/conformance holds it and the real server to the same.
 */
export interface FakeAgentServer {
  /** Undefined: it knows no node. */
  node: FakeNode | undefined
  /** What was registered. */
  publicKey: string | null
  /** The agent's last sets, by source. Each service is accepted, except those named `refused`. */
  published: Map<string, PublishedService[]>
  /** What the agent reported last. */
  report: AgentReport | undefined
  /** The PEM text of the installation's authority. */
  authority: string
  hint(): void
  /** How many agents are connected. */
  countSockets(): number
}

interface Events {
  onCall?(method: string, path: string, body: string): void
  onKey?(publicKey: string): void
}

/** Answers on an HTTP or HTTPS server of the test. */
export function serveAgents(http: Server, { onCall, onKey }: Events = {}): FakeAgentServer {
  const sockets = new WebSocketServer({ noServer: true })
  const hint: AgentHint = { type: 'changed' }
  const fake: FakeAgentServer = {
    node: undefined,
    publicKey: null,
    published: new Map(),
    report: undefined,
    authority: '',
    hint() {
      for (const socket of sockets.clients) socket.send(JSON.stringify(hint))
    },
    countSockets: () => sockets.clients.size,
  }
  http.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '' } = request
    if (url === '/install/ca.crt') return response.end(fake.authority)
    let body = ''
    for await (const chunk of request) body += chunk
    onCall?.(method, url, body)
    const refusal = findRefusal(fake.node, request)
    if (refusal) return refuse(response, ...refusal)
    if (method === endpoints.registerKey.method && url === endpoints.registerKey.path) {
      const key = RegisterKey.safeParse(JSON.parse(body))
      if (!key.success) return refuse(response, 422, 'validation')
      fake.publicKey = key.data.publicKey
      onKey?.(key.data.publicKey)
    } else if (method === endpoints.publishServices.method && url === endpoints.publishServices.path) {
      publish(fake, response, JSON.parse(body))
      return
    } else if (method === endpoints.reportNode.method && url === endpoints.reportNode.path) {
      const report = AgentReport.safeParse(JSON.parse(body))
      if (!report.success) return refuse(response, 422, 'validation')
      fake.report = report.data
      return answer(response, 200, {})
    } else if (url !== endpoints.agentConfig.path) return refuse(response, 404, 'not_found')
    answer(response, 200, AgentConfig.parse({ ...fake.node?.config, publicKey: fake.publicKey }))
  })
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refusal = findRefusal(fake.node, request)
    if (refusal || request.url !== endpoints.agentSocket.path)
      return socket.end(`HTTP/1.1 ${refusal?.[0] ?? 404} Refused\r\nContent-Length: 0\r\n\r\n`)
    sockets.handleUpgrade(request, socket, head, (agent) => {
      agent.on('message', () => agent.close(1008))
      agent.send(JSON.stringify(hint))
    })
  })
  return fake
}

function publish(fake: FakeAgentServer, response: ServerResponse, body: unknown): void {
  const form = PublishForm.safeParse(body)
  if (!fake.node?.mayPublish) refuse(response, 403, 'may_not_publish')
  else if (!form.success) refuse(response, 422, 'validation')
  else {
    const { source, services } = form.data
    // Only the real server checks the agent's other messages against the contract.
    fake.published.set(source, services as PublishedService[])
    answer(response, 200, PublishAnswer.parse({ services: services.map(judge) }))
  }
}

function judge({ key, name, type = 'http', domain = 'none' }: Record<string, unknown>, index: number) {
  if (name === 'refused') return { key, state: 'refused', errors: [{ field: 'domain', message: 'is taken' }] }
  const address = `https://${domain}/`
  return { key, state: 'published', id: index + 10, type, address, enabled: true, disabledByPerson: false }
}

type Refusal = [status: number, code: ErrorBody['code']]

function findRefusal(node: FakeNode | undefined, { headers }: IncomingMessage): Refusal | undefined {
  if (!node || headers.authorization !== `Bearer ${node.token}`) return [401, 'unauthenticated']
  return node.isRevoked ? [403, 'token_revoked'] : undefined
}

function refuse(response: ServerResponse, status: number, code: ErrorBody['code']): void {
  answer(response, status, { message: 'Refused', code })
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}
