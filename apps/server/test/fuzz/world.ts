import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { addPerson, openSession } from '@postern/testkit/people'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import type { LightMyRequestResponse } from 'fastify'
import { CONFIRMED, makeApiToken } from '../programs-lab.ts'
import { type Case, type EndpointName, placeIn } from './cases.ts'

/** The records that requests are about; whatever goes is made anew. */
interface Records {
  node: number
  domain: number
  http: number
  tcp: number
  pat: number
  token: number
  channel: number
  rule: number
  builtIn: number
}

/** A server with one record of each kind, and those who ask. */
export interface World {
  server: TestServer
  records: Records
  /** Sends a case as one of both. @throws Error for an answer that is not as the contract says */
  send(tried: Case, as: 'session' | 'program'): Promise<LightMyRequestResponse>
  /** What the endpoint gets when nothing is wrong with it. */
  bodyOf(name: EndpointName): Record<string, unknown>
  get(url: string): Promise<LightMyRequestResponse>
  patch(url: string, body: unknown): Promise<LightMyRequestResponse>
  remove(url: string): Promise<LightMyRequestResponse>
  /** Makes the records that are gone, and takes back settings. */
  restore(): Promise<void>
  close(): Promise<void>
}

/** So much later is each request, so that a token's budget is never what answers. */
const STEP_MS = 150

export async function startWorld(): Promise<World> {
  const server = await startTestServer({
    now: Date.parse('2026-11-21T12:00:00Z'),
    // Nothing leaves this machine.
    world: {
      resolver: { resolve: async () => [] },
      outside: {
        lookup: async () => [],
        telegram: 'http://127.0.0.1:1',
        ca: undefined,
        isExempt: () => false,
      },
    },
  })
  const admin = await addPerson(server, 'second admin', 'admin')
  let session = admin.token
  const { token: program } = await makeApiToken(server.as(session), { role: 'admin' })
  const records: Records = {
    node: 0,
    domain: 0,
    http: 0,
    tcp: 0,
    pat: 0,
    token: 0,
    channel: 0,
    rule: 0,
    builtIn: 0,
  }
  const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
    server.call({
      method,
      url,
      headers: { authorization: `Bearer ${session}` },
      ...(method === 'GET' ? {} : { payload: payload ?? {} }),
    })
  const make = async (url: string, form: object): Promise<number> => {
    const answer = await ask('POST', url, form)
    if (answer.statusCode !== 201) throw new Error(`${url} was not made: ${answer.body}`)
    return answer.json<{ id: number }>().id
  }
  /** Of some kinds only the list can be read. */
  const isThere = async (url: string, id: number) => {
    const answer = await ask('GET', url)
    if (answer.statusCode !== 200) return false
    const found = answer.json<{ id: number; revoked?: boolean } | { id: number; revoked?: boolean }[]>()
    return [found].flat().some((each) => each.id === id && each.revoked !== true)
  }
  const restore = async () => {
    if ((await ask('GET', '/api/auth/me')).statusCode === 401)
      session = (await openSession(server.context, admin.userId)).token
    await ask('PATCH', '/api/settings', NO_SETTINGS)
    for (const [key, { at, make: form, under }] of recipes(records)) {
      if (records[key] !== 0 && (await isThere(at(records[key]), records[key]))) continue
      records[key] = await make(under, form)
    }
  }
  await restore()
  const rules = (await ask('GET', '/api/alerts/rules')).json<{ id: number; figure: string | null }[]>()
  records.builtIn = rules.find(({ figure }) => figure === null)?.id ?? 0
  const bodyOf = (name: EndpointName) => BODIES[name]?.(records) ?? {}
  return {
    server,
    records,
    bodyOf,
    send(tried, as) {
      server.now += STEP_MS
      const endpoint: Endpoint = endpoints[tried.endpoint]
      const token = as === 'program' && !endpoint.isSessionOnly ? program : session
      return sendCase(server, tried, token, endpoint, records, bodyOf(tried.endpoint))
    },
    get: (url) => ask('GET', url),
    patch: (url, body) => ask('PATCH', url, body as object),
    remove: (url) => ask('DELETE', url),
    restore,
    close: () => server.close(),
  }
}

function sendCase(
  server: TestServer,
  { spot, hostile }: Case,
  token: string,
  endpoint: Endpoint,
  records: Records,
  base: Record<string, unknown>,
): Promise<LightMyRequestResponse> {
  const { value } = hostile
  const [first = ''] = spot.path
  const params = {
    ...paramsOf(endpoint, records),
    ...(spot.place === 'params' && { [first]: String(value ?? '') }),
  }
  const path = endpoint.path.replace(/:(\w+)/g, (_, key: string) => encode(String(params[key] ?? '1')))
  const query = new URLSearchParams(QUERIES[endpoint.path])
  if (spot.place === 'query') {
    if (value === undefined) query.delete(first)
    else query.set(first, String(value))
  }
  const body = spot.place === 'body' ? placeIn(base, spot.path, value) : base
  return server.call({
    // A stream would never end.
    method: endpoint.auth === 'stream' ? 'HEAD' : endpoint.method,
    url: query.size === 0 ? path : `${path}?${query}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(endpoint.method !== 'GET' && { payload: JSON.stringify(body) }),
  })
}

/** Half a character has no encoding. The router answers longer ones itself, and then ends the connection. */
const encode = (text: string) => encodeURIComponent(text.replace(/[\ud800-\udfff]/g, '\ufffd').slice(0, 80))

const NO_SETTINGS = {
  POSTERN_PUBLIC_HOST: null,
  POSTERN_SECOND_FACTOR: null,
  POSTERN_OIDC_ISSUER: null,
  POSTERN_OIDC_CLIENT_ID: null,
  POSTERN_OIDC_CLIENT_SECRET: null,
}

const QUERIES: Readonly<Record<string, Record<string, string>>> = {
  '/api/find': { text: 'a' },
  '/api/logs/stream': { type: 'http', id: '1' },
  '/api/requests/export': { format: 'jsonl' },
  '/api/history/export': { format: 'jsonl' },
  ...Object.fromEntries(
    ['/api/figures', '/api/nodes/:id/figures', '/api/domains/:id/figures', '/api/edges/:id/figures'].map(
      (path) => [path, { span: 'day' }],
    ),
  ),
  '/api/services/:type/:id/figures': { span: 'day' },
  '/api/figures/services': { ids: '1' },
  '/api/figures/nodes': { ids: '1' },
  '/api/figures/domains': { ids: '1' },
}

/** The ids in an address, by what it is about. */
function paramsOf({ path, noun }: Endpoint, records: Records): Record<string, string | number> {
  const ids: Partial<Record<Endpoint['noun'], number>> = {
    Node: records.node,
    Domain: records.domain,
    Service: path.includes('/tcp/') ? records.tcp : records.http,
    Token: path.includes('/pats/') ? records.pat : records.token,
    Channel: records.channel,
    Rule: path.includes('/built-in-rules/') ? records.builtIn : records.rule,
    Person: 999,
  }
  return { nodeId: records.node, id: ids[noun] ?? 1, type: 'http' }
}

interface Recipe {
  /** Where it is read. */
  at(id: number): string
  /** Where it is made, and of what. */
  under: string
  make: object
}

const NODE = {
  name: 'site',
  isGateway: true,
  gatewayNetworks: [{ interface: 'eth0', subnet: '192.168.7.0/24' }],
  agentDomains: ['*.agents.example.com'],
  dns: '192.168.7.1',
}
const DOMAIN = {
  domain: 'own.example.com',
  ssl: 'self-signed',
  skipValidation: true,
  allowedEmails: ['a@example.com'],
}
const HTTP = {
  name: 'web',
  domain: 'own.example.com',
  pathLocation: '/web',
  backendHost: '192.168.7.9',
  backendPort: 8080,
  allowedIps: ['198.51.100.0/24'],
  blockedIps: ['198.51.100.7'],
}
const TCP = { name: 'ssh', domain: 'own.example.com', backendHost: '192.168.7.9', backendPort: 22 }
const CHANNEL = { kind: 'webhook', name: 'hook', url: 'https://hook.example.com/a', signingSecret: null }
const RULE = { name: 'busy', figure: 'requests', threshold: 10 }

function* recipes(records: Records): Generator<[keyof Records, Recipe]> {
  yield ['node', { at: (id) => `/api/nodes/${id}`, under: '/api/nodes', make: NODE }]
  yield ['domain', { at: (id) => `/api/domains/${id}`, under: '/api/domains', make: DOMAIN }]
  const services = `/api/services/${records.node}`
  yield ['http', { at: (id) => `${services}/http/${id}`, under: `${services}/http`, make: HTTP }]
  yield ['tcp', { at: (id) => `${services}/tcp/${id}`, under: `${services}/tcp`, make: TCP }]
  const channels = '/api/alerts/channels'
  yield [
    'channel',
    { at: (id) => `${channels}/${id}`, under: channels, make: { ...CHANNEL, signingSecret: SECRET } },
  ]
  yield ['rule', { at: (id) => `/api/alerts/rules/${id}`, under: '/api/alerts/rules', make: RULE }]
  const pats = `/api/nodes/${records.node}/pats`
  yield ['pat', { at: () => pats, under: pats, make: { name: 'agent' } }]
  yield ['token', { at: () => '/api/tokens', under: '/api/tokens', make: API_TOKEN }]
}

const API_TOKEN = { name: 'backup', role: 'viewer', ...CONFIRMED }

const SECRET = `whsec_${'A'.repeat(32)}`

const ofMany = (id: number, action: string) => ({
  action,
  records: [{ id, updated_at: '2020-01-01T00:00:00.000Z' }],
})

/** Bodies of the right form, which are refused all the same: there is no such password, factor or session. */
export const REFUSED = {
  login: () => ({ username: 'admin', password: 'wrong' }),
  endSessions: () => ({ email: 'a@example.com' }),
  testChannel: () => ({ channel: { ...CHANNEL, signingSecret: SECRET } }),
  loginByCode: () => ({ ticket: 'x', code: '123456' }),
  loginByPasskey: () => ({
    ticket: 'x',
    answer: {
      id: 'AAAA',
      rawId: 'AAAA',
      type: 'public-key',
      response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA', userHandle: 'AAAA' },
    },
  }),
  confirmAuthenticator: () => ({ ticket: 'x', code: '123456', password: 'wrong' }),
  addPasskey: () => ({
    ticket: 'x',
    name: 'key',
    passkey: {
      id: 'AAAA',
      rawId: 'AAAA',
      type: 'public-key',
      response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA', transports: ['usb'] },
    },
  }),
} satisfies Partial<Record<EndpointName, () => Record<string, unknown>>>

/** What is accepted: of each form, with something in every list. Whatever is not here is accepted without a body. */
export const BODIES: Partial<Record<EndpointName, (records: Records) => Record<string, unknown>>> = {
  createNode: () => ({
    ...NODE,
    name: 'new',
    gatewayNetworks: [{ interface: 'eth0', subnet: '192.168.8.0/24' }],
  }),
  updateNode: () => NODE,
  createDomain: () => ({ ...DOMAIN, domain: 'new.example.com' }),
  updateDomain: () => DOMAIN,
  createHttpService: () => ({ ...HTTP, name: 'new', pathLocation: '/new' }),
  updateHttpService: () => HTTP,
  createTcpService: () => ({ ...TCP, name: 'new' }),
  updateTcpService: () => TCP,
  createToken: () => ({ name: 'new', expireAt: '2027-01-01T00:00:00Z' }),
  createApiToken: ({ node, domain }) => ({
    name: 'new',
    role: 'editor',
    reach: { nodes: [node], domains: [domain] },
    expireAt: '2027-01-01T00:00:00Z',
    ...CONFIRMED,
  }),
  createChannel: () => ({ ...CHANNEL, name: 'new', signingSecret: SECRET }),
  updateChannel: () => CHANNEL,
  createFigureRule: () => ({ ...RULE, name: 'new' }),
  updateFigureRule: () => RULE,
  updateBuiltInRule: () => ({ enabled: true }),
  setQuietHours: () => ({ enabled: true, from: '22:00', to: '07:00', timeZone: 'UTC' }),
  updateSettings: () => ({ POSTERN_REQUESTS_DAYS: '7' }),
  muteNode: () => ({ until: '2027-01-01T00:00:00Z' }),
  muteService: () => ({ until: '2027-01-01T00:00:00Z' }),
  beginWhy: () => ({ address: 'https://own.example.com/web', visitor: '203.0.113.9' }),
  changeServices: ({ http }) => ({ ...ofMany(http, 'move'), to: { domain: 'own.example.com' } }),
  changeNodes: ({ node }) => ofMany(node, 'disable'),
  changeDomains: ({ domain }) => ofMany(domain, 'delete'),
  changeTokens: () => ofMany(999, 'revoke'),
  rotateToken: () => ({}),
  revokeToken: () => ({}),
  revokeApiToken: () => ({}),
  enableNode: () => ({}),
  disableService: () => ({}),
  ...REFUSED,
}
