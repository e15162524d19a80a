import { setTimeout as pause } from 'node:timers/promises'
import { type Endpoint, pathOf } from '@postern/contract/endpoints/endpoint'
import { ErrorBody } from '@postern/contract/errors'
import type { Page } from '@postern/contract/lists'
import type { HttpAnswer } from '@postern/host/http'
import { createTrust } from '@postern/host/trust'
import type * as z from 'zod/mini'
import type { Call } from '../cli/command.ts'
import { type ServerAccess, type ServerRequest, send } from '../daemon/server-client.ts'
import { AgentError } from '../errors.ts'
import { parseJson } from '../files.ts'
import { printable } from '../io.ts'
import { findServer, type Server } from './servers.ts'

type Answered = Endpoint & { answer: z.ZodMiniType }
type Listed = Endpoint & { answer: z.ZodMiniType<Page<unknown> | unknown[]> }
type RowOf<E extends Listed> = Extract<z.output<E['answer']>, unknown[]>[number]

export interface Input {
  params?: Record<string, string | number>
  query?: Record<string, string | number | undefined>
  body?: object
  /** Asks once, for so long; otherwise it waits as usual, and asks again where the server wants that. */
  timeoutMs?: number
}

/** The API as a person, or as the person whose token a program has. Each throws AgentError with the reason in words. */
export interface Api {
  access: ServerAccess
  call<E extends Answered>(endpoint: E, input?: Input): Promise<z.output<E['answer']>>
  /** All rows of a list, page by page. */
  list<E extends Listed>(endpoint: E, input?: Input): Promise<RowOf<E>[]>
}

export async function openApi(call: Call, serverName: string | undefined): Promise<Api> {
  return createApi(await findServer(call, serverName))
}

export function createApi({ url, token, ca }: Server): Api {
  const access = { url: new URL(url), token, trust: createTrust(ca) }
  const api: Api = {
    access,
    call: async (endpoint, input = {}) => {
      const { body, timeoutMs } = input
      const request = {
        method: endpoint.method,
        path: addressOf(endpoint, input),
        body,
        maxBytes: MOST_BYTES,
      }
      const answer =
        timeoutMs === undefined
          ? await sendPatiently(access, request)
          : await send(access, { ...request, timeoutMs })
      if (answer.status >= 300) throw refusal(access.url, answer)
      const data = parseJson(answer.body, endpoint.answer)
      if (data !== undefined) return data as never
      throw new AgentError('server-answer', `${access.url.host} does not answer like a Postern server`)
    },
    async list(endpoint, input = {}) {
      const rows: unknown[] = []
      for (let page = 1; page <= MOST_PAGES; page++) {
        const query = { ...input.query, limit: PAGE, page }
        // With a limit the answer is a page.
        const { data, total } = (await api.call(endpoint, { ...input, query })) as Page<unknown>
        rows.push(...data)
        if (data.length === 0 || rows.length >= total) break
      }
      return rows as never
    },
  }
  return api
}

/** A token may ask only so often; what says so did nothing. */
async function sendPatiently(access: ServerAccess, request: ServerRequest): Promise<HttpAnswer> {
  for (let tries = 1; ; tries++) {
    const answer = await send(access, request)
    const { status, retryAfter } = answer
    if (status !== 429 || retryAfter === 0 || retryAfter > MOST_PATIENCE || tries === MOST_TRIES)
      return answer
    await pause(retryAfter * 1000)
  }
}

/** In seconds. */
const MOST_PATIENCE = 60
const MOST_TRIES = 10
const MOST_BYTES = 16 * 1024 * 1024
const PAGE = 100
const MOST_PAGES = 10_000

export function addressOf(endpoint: Endpoint, { params, query = {} }: Input): string {
  const given = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)]],
  )
  const text = new URLSearchParams(given).toString()
  return `${pathOf(endpoint, params)}${text === '' ? '' : `?${text}`}`
}

/** Only the server answers in JSON. */
export function refusal(url: URL, { status, type, body }: HttpAnswer): AgentError {
  const refused = type.includes('json') ? parseJson(body, ErrorBody) : undefined
  if (!refused)
    return new AgentError(
      'server-answer',
      `${url.host} answered ${status}. Check that it is a Postern server`,
    )
  const words = printable(refused.message)
  const fields = (refused.errors ?? []).map(({ field, message }) => `\n  ${field}: ${printable(message)}`)
  const text = `${words}${fields.join('')}`
  if (status === 401)
    return new AgentError(
      'token-refused',
      `${url.host} does not know the token any more (${words}). Sign in again: postern login ${url.origin}`,
    )
  if (status === 403) return new AgentError('not-allowed', `${url.host} does not allow this: ${text}`)
  if (status === 404) return new AgentError('not-found', `${url.host} says: ${text}`)
  if (status === 409 || status === 422) return new AgentError('refused', `${url.host} refused it: ${text}`)
  return new AgentError('server-answer', `The server answered ${status}: ${text}`)
}
