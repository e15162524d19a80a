import * as z from 'zod/mini'
import { AgentConfig, RegisterKey } from './agent.ts'
import { Account, Login, LoginForm } from './auth.ts'
import { Config } from './config.ts'
import { StateAnswer, StateRequest } from './desired-state.ts'
import { Domain, DomainForm, DomainList, DomainQuery } from './domains.ts'
import { EdgeList } from './edge.ts'
import { idText } from './fields.ts'
import { LogStreamQuery } from './logs.ts'
import { CreatedNode, Node, NodeForm, NodeList, NodeQuery, NodeStreamQuery } from './nodes.ts'
import { HttpService, HttpServiceForm, HttpServiceList, NodeServiceQuery, ServiceQuery } from './services.ts'

/**
 * Who may call. `session`: a console user (bearer; the cookie on GET and HEAD only). `stream`: the same, or
 * `?token=`, for streams and the download. `node`: an access token of a node. `edge`: the edge's token.
 */
export type AuthKind = 'none' | 'session' | 'stream' | 'node' | 'edge'

export interface Endpoint {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Fastify's form: `/api/nodes/:id`. */
  path: string
  auth: AuthKind
  params?: z.ZodMiniType
  query?: z.ZodMiniType
  body?: z.ZodMiniType
  /** What a success answers with; absent for streams, files and sockets. */
  answer?: z.ZodMiniType
  status?: 200 | 201
}

const nothing = z.strictObject({})
const deleted = z.object({ id: z.number() })
const byId = z.object({ id: idText })
const ofNode = z.object({ nodeId: idText })
const serviceOfNode = z.object({ nodeId: idText, id: idText })
const downloadQuery = z.strictObject({ token: z.optional(z.string()) })

export const endpoints = {
  health: { method: 'GET', path: '/api/health', auth: 'none', answer: z.object({ status: z.literal('ok') }) },
  config: { method: 'GET', path: '/api/config', auth: 'session', answer: Config },

  login: { method: 'POST', path: '/api/auth/login', auth: 'none', body: LoginForm, answer: Login },
  logout: { method: 'POST', path: '/api/auth/logout', auth: 'session', body: nothing, answer: nothing },
  me: { method: 'GET', path: '/api/auth/me', auth: 'session', answer: Account },

  listNodes: { method: 'GET', path: '/api/nodes', auth: 'session', query: NodeQuery, answer: NodeList },
  createNode: {
    method: 'POST',
    path: '/api/nodes',
    auth: 'session',
    body: NodeForm,
    answer: CreatedNode,
    status: 201,
  },
  getNode: { method: 'GET', path: '/api/nodes/:id', auth: 'session', params: byId, answer: Node },
  updateNode: {
    method: 'PATCH',
    path: '/api/nodes/:id',
    auth: 'session',
    params: byId,
    body: NodeForm,
    answer: Node,
  },
  deleteNode: { method: 'DELETE', path: '/api/nodes/:id', auth: 'session', params: byId, answer: deleted },
  enableNode: {
    method: 'PATCH',
    path: '/api/nodes/:id/enable',
    auth: 'session',
    params: byId,
    body: nothing,
    answer: Node,
  },
  disableNode: {
    method: 'PATCH',
    path: '/api/nodes/:id/disable',
    auth: 'session',
    params: byId,
    body: nothing,
    answer: Node,
  },
  downloadNode: {
    method: 'GET',
    path: '/api/nodes/:id/download',
    auth: 'stream',
    params: byId,
    query: downloadQuery,
  },
  streamNodes: { method: 'GET', path: '/api/nodes/stream', auth: 'stream', query: NodeStreamQuery },

  listDomains: {
    method: 'GET',
    path: '/api/domains',
    auth: 'session',
    query: DomainQuery,
    answer: DomainList,
  },
  createDomain: {
    method: 'POST',
    path: '/api/domains',
    auth: 'session',
    body: DomainForm,
    answer: Domain,
    status: 201,
  },
  getDomain: { method: 'GET', path: '/api/domains/:id', auth: 'session', params: byId, answer: Domain },
  updateDomain: {
    method: 'PATCH',
    path: '/api/domains/:id',
    auth: 'session',
    params: byId,
    body: DomainForm,
    answer: Domain,
  },
  deleteDomain: {
    method: 'DELETE',
    path: '/api/domains/:id',
    auth: 'session',
    params: byId,
    answer: deleted,
  },

  listHttpServices: {
    method: 'GET',
    path: '/api/services/http',
    auth: 'session',
    query: ServiceQuery,
    answer: HttpServiceList,
  },
  listNodeHttpServices: {
    method: 'GET',
    path: '/api/services/:nodeId/http',
    auth: 'session',
    params: ofNode,
    query: NodeServiceQuery,
    answer: HttpServiceList,
  },
  createHttpService: {
    method: 'POST',
    path: '/api/services/:nodeId/http',
    auth: 'session',
    params: ofNode,
    body: HttpServiceForm,
    answer: HttpService,
    status: 201,
  },
  getHttpService: {
    method: 'GET',
    path: '/api/services/:nodeId/http/:id',
    auth: 'session',
    params: serviceOfNode,
    answer: HttpService,
  },
  updateHttpService: {
    method: 'PATCH',
    path: '/api/services/:nodeId/http/:id',
    auth: 'session',
    params: serviceOfNode,
    body: HttpServiceForm,
    answer: HttpService,
  },
  enableHttpService: {
    method: 'PATCH',
    path: '/api/services/:nodeId/http/:id/enable',
    auth: 'session',
    params: serviceOfNode,
    body: nothing,
    answer: HttpService,
  },
  disableHttpService: {
    method: 'PATCH',
    path: '/api/services/:nodeId/http/:id/disable',
    auth: 'session',
    params: serviceOfNode,
    body: nothing,
    answer: HttpService,
  },
  deleteHttpService: {
    method: 'DELETE',
    path: '/api/services/:nodeId/http/:id',
    auth: 'session',
    params: serviceOfNode,
    answer: deleted,
  },

  streamLogs: { method: 'GET', path: '/api/logs/stream', auth: 'stream', query: LogStreamQuery },

  listEdges: { method: 'GET', path: '/api/edges', auth: 'session', answer: EdgeList },
  edgeState: {
    method: 'POST',
    path: '/api/edge/state',
    auth: 'edge',
    body: StateRequest,
    answer: StateAnswer,
  },
  edgeSocket: { method: 'GET', path: '/api/edge/socket', auth: 'edge' },

  agentConfig: { method: 'GET', path: '/api/agent/config', auth: 'node', answer: AgentConfig },
  registerKey: {
    method: 'PUT',
    path: '/api/agent/key',
    auth: 'node',
    body: RegisterKey,
    answer: AgentConfig,
  },
  agentSocket: { method: 'GET', path: '/api/agent/socket', auth: 'node' },
} as const satisfies Record<string, Endpoint>

export type Endpoints = typeof endpoints

/** The path of an endpoint with its `:names` filled in. */
export function pathOf(endpoint: Endpoint, params: Record<string, string | number> = {}): string {
  return endpoint.path.replace(/:([A-Za-z]+)/g, (_, key: string) =>
    encodeURIComponent(String(params[key] ?? '')),
  )
}
