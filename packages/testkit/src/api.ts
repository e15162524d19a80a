import { request } from 'node:http'
import type { Domain } from '@postern/contract/domains'
import type { Edge } from '@postern/contract/edge/edge'
import type { CreatedNode, Node, NodeFormInput } from '@postern/contract/nodes'
import type {
  HttpService,
  HttpServiceFormInput,
  Service,
  TcpService,
  TcpServiceFormInput,
} from '@postern/contract/services/services'
import { checkAnswer, checkEvents } from './contract-check.ts'
import { parseEvents, type ServerEvent } from './event-stream.ts'

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  json: unknown
}

/** The API over the server's unix socket, signed in. Typed calls throw on anything but success. */
export interface Api {
  token: string
  call(method: string, path: string, body?: unknown): Promise<Answer>
  createNode(form: NodeFormInput): Promise<CreatedNode>
  getNode(id: number): Promise<Node>
  createDomain(form: { domain: string }): Promise<Domain>
  publish(nodeId: number, form: HttpServiceFormInput): Promise<HttpService>
  publishPort(nodeId: number, form: TcpServiceFormInput): Promise<TcpService>
  getService<S extends Service>(service: S): Promise<S>
  setEnabled<S extends Service>(service: S, enabled: boolean): Promise<S>
  removeService(service: Service): Promise<void>
  listEdges(): Promise<Edge[]>
  /** Follows a stream of server-sent events until `close`; `events` grows. */
  stream(path: string): EventStream
}

export interface EventStream {
  events: ServerEvent[]
  close(): void
}

export async function signIn(socketPath: string, username: string, password: string): Promise<Api> {
  const login = await callApi(socketPath, '', 'POST', '/api/auth/login', { username, password })
  const { token } = expectSuccess(login) as { token: string }
  const call: Api['call'] = (method, path, body) => callApi(socketPath, token, method, path, body)
  // `callApi` checks every answer against the contract, so it has the contract's type.
  const get = async <T>(method: string, path: string, body?: unknown) =>
    expectSuccess(await call(method, path, body)) as T
  const pathOf = ({ nodeId, type, id }: Service) => `/api/services/${nodeId}/${type}/${id}`
  return {
    token,
    call,
    createNode: (form) => get('POST', '/api/nodes', form),
    getNode: (id) => get('GET', `/api/nodes/${id}`),
    createDomain: (form) => get('POST', '/api/domains', { ...form, skipValidation: true }),
    publish: (nodeId, form) => get('POST', `/api/services/${nodeId}/http`, { skipValidation: true, ...form }),
    publishPort: (nodeId, form) =>
      get('POST', `/api/services/${nodeId}/tcp`, { skipValidation: true, ...form }),
    getService: (service) => get('GET', pathOf(service)),
    setEnabled: (service, enabled) => get('PATCH', `${pathOf(service)}/${enabled ? 'enable' : 'disable'}`),
    removeService: async (service) => void (await get('DELETE', pathOf(service))),
    listEdges: () => get('GET', '/api/edges'),
    stream: (path) => follow(socketPath, token, path),
  }
}

/** True when the server's health check answers well. */
export async function isHealthy(api: Api): Promise<boolean> {
  return (await api.call('GET', '/api/health')).status === 200
}

function expectSuccess(answer: Answer): unknown {
  if (answer.status >= 300) throw new Error(`the API answered ${answer.status}: ${answer.text}`)
  return answer.json
}

export function callApi(socketPath: string, token: string, method: string, path: string, body?: unknown) {
  const payload = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(payload && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
  }
  return new Promise<Answer>((resolve, reject) => {
    const call = request({ socketPath, method, path, headers, timeout: 30_000 }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const type = response.headers['content-type']
        const status = response.statusCode ?? 0
        try {
          checkAnswer({ method, url: path, status, type, text })
          const json = type?.includes('json') ? JSON.parse(text) : undefined
          resolve({ status, headers: response.headers, text, json })
        } catch (error) {
          reject(error)
        }
      })
    })
    call.on('timeout', () => call.destroy(new Error('the API did not answer')))
    call.on('error', reject)
    call.end(payload)
  })
}

function follow(socketPath: string, token: string, path: string): EventStream {
  const events: EventStream['events'] = []
  const withToken = `${path}${path.includes('?') ? '&' : '?'}token=${token}`
  const call = request(
    { socketPath, path: withToken, headers: { accept: 'text/event-stream' } },
    (response) => {
      let rest = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const text = rest + chunk
        const fresh = parseEvents(text)
        checkEvents(path, fresh)
        events.push(...fresh)
        rest = text.split('\n\n').at(-1) ?? ''
      })
    },
  )
  // A stream that the test closed, or whose server was stopped on purpose, ends with an error.
  call.on('error', () => undefined)
  call.end()
  return { events, close: () => call.destroy() }
}
