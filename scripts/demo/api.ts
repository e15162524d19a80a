import { setTimeout as sleep } from 'node:timers/promises'
import { type Endpoint, pathOf } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type {
  HttpService,
  HttpServiceFormInput,
  Service,
  TcpService,
  TcpServiceFormInput,
} from '@postern/contract/services/services'
import { Login } from '@postern/contract/sign-in/auth'

/** The API of the demonstration's installation, as the console uses it. */
export interface Api {
  getConfig(): Promise<{ publicUrl: string; caFingerprint: string }>
  /** The root certificate of the installation, as PEM. */
  getAuthority(): Promise<string>
  createNode(name: string): Promise<{ id: number; token: string }>
  publish(nodeId: number, form: HttpServiceFormInput): Promise<HttpService>
  publishPort(nodeId: number, form: TcpServiceFormInput): Promise<TcpService>
  untilLive(service: Service): Promise<void>
}

export async function signIn(origin: string, username: string, password: string): Promise<Api> {
  const login = await call(origin, '', endpoints.login, {}, { username, password })
  const { token } = Login.parse(login)
  const ask = (endpoint: Endpoint, params = {}, body?: unknown) => call(origin, token, endpoint, params, body)
  return {
    getConfig: async () => endpoints.config.answer.parse(await ask(endpoints.config)),
    async getAuthority() {
      const response = await fetch(`${origin}/install/ca.crt`, { signal: AbortSignal.timeout(10_000) })
      return response.text()
    },
    createNode: async (name) =>
      endpoints.createNode.answer.parse(await ask(endpoints.createNode, {}, { name })),
    publish: async (nodeId, form) =>
      endpoints.createHttpService.answer.parse(await ask(endpoints.createHttpService, { nodeId }, form)),
    publishPort: async (nodeId, form) =>
      endpoints.createTcpService.answer.parse(await ask(endpoints.createTcpService, { nodeId }, form)),
    async untilLive({ nodeId, type, id, name }) {
      const deadline = performance.now() + 60_000
      for (;;) {
        const service = await ask(endpoints.getService, { nodeId, type, id })
        const { state } = endpoints.getService.answer.parse(service)
        if (state.phase === 'live') return
        if (performance.now() > deadline)
          throw new Error(`${name} is not live: ${state.problem ?? state.phase}`)
        await sleep(50)
      }
    },
  }
}

async function call(
  origin: string,
  token: string,
  endpoint: Endpoint,
  params: Record<string, string | number>,
  body?: unknown,
): Promise<unknown> {
  const { method } = endpoint
  const path = pathOf(endpoint, params)
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}
