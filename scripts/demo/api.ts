import { setTimeout as sleep } from 'node:timers/promises'
import { pathOf } from '@postern/contract/endpoint'
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
  const login = await call(origin, '', 'POST', endpoints.login.path, { username, password })
  const { token } = endpoints.login.answer.parse(login)
  const get = (path: string) => call(origin, token, 'GET', path)
  const post = (path: string, body: unknown) => call(origin, token, 'POST', path, body)
  return {
    getConfig: async () => endpoints.config.answer.parse(await get(endpoints.config.path)),
    createNode: async (name) =>
      endpoints.createNode.answer.parse(await post(endpoints.createNode.path, { name })),
    async publish(nodeId, form) {
      const path = pathOf(endpoints.createHttpService, { nodeId })
      return endpoints.createHttpService.answer.parse(await post(path, form))
    },
    async untilLive({ nodeId, id, name }) {
      const path = pathOf(endpoints.getService, { nodeId, type: 'http', id })
      const deadline = performance.now() + 15_000
      for (;;) {
        const { state } = endpoints.getService.answer.parse(await get(path))
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
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
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
