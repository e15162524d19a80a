import { setTimeout as sleep } from 'node:timers/promises'
import { type Endpoint, pathOf } from '@postern/contract/endpoint'
import { endpoints } from '@postern/contract/endpoints'
import type { HttpService, HttpServiceFormInput } from '@postern/contract/services'

/** The API of the demonstration's installation, as the console uses it. */
export interface Api {
  getConfig(): Promise<{ publicUrl: string; caFingerprint: string }>
  createNode(name: string): Promise<{ id: number; token: string }>
  publish(nodeId: number, form: HttpServiceFormInput): Promise<HttpService>
  untilLive(service: HttpService): Promise<void>
}

export async function signIn(origin: string, username: string, password: string): Promise<Api> {
  const login = await call(origin, '', endpoints.login, {}, { username, password })
  const { token } = endpoints.login.answer.parse(login)
  const ask = (endpoint: Endpoint, params = {}, body?: unknown) => call(origin, token, endpoint, params, body)
  return {
    getConfig: async () => endpoints.config.answer.parse(await ask(endpoints.config)),
    createNode: async (name) =>
      endpoints.createNode.answer.parse(await ask(endpoints.createNode, {}, { name })),
    publish: async (nodeId, form) =>
      endpoints.createHttpService.answer.parse(await ask(endpoints.createHttpService, { nodeId }, form)),
    async untilLive({ nodeId, id, name }) {
      const deadline = performance.now() + 60_000
      for (;;) {
        const service = await ask(endpoints.getService, { nodeId, type: 'http', id })
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
