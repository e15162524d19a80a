import { isDeepStrictEqual } from 'node:util'
import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { ErrorBody } from '@postern/contract/errors'
import type * as z from 'zod/mini'

/** A server's answer to one request. `type` is its content type. */
export interface Said {
  method: string
  /** With or without the query. */
  url: string
  status: number
  type: string | undefined
  text: string
}

/**
 * Checks an answer against the contract, including that it has no unknown key.
 * @throws Error that names the request and the difference
 */
export function checkAnswer({ method, url, status, type, text }: Said): void {
  if (!type?.startsWith('application/json') || method === 'HEAD' || isBuilt(url)) return
  const request = `${method} ${pathOf(url)} (${status})`
  const body: unknown = JSON.parse(text)
  if (status >= 400) {
    checkError(request, body)
    return
  }
  const endpoint = findEndpoint(method, url)
  if (!endpoint?.answer) throw new Error(`${request} answers in JSON, of which the contract knows nothing`)
  if (status !== (endpoint.status ?? 200)) throw new Error(`${request} is not the status of the contract`)
  checkOneOf(request, [endpoint.answer, endpoint.answerToNode], body)
}

/** A file of the documentation, which the build made. */
const isBuilt = (url: string) => url.startsWith('/docs/') || url.startsWith('/api/openapi.json')

/** The same for events of a stream. */
export function checkEvents(url: string, events: readonly { event: string; data: string }[]): void {
  const schemas = findEndpoint('GET', url)?.events
  for (const { event, data } of events)
    checkOneOf(`${event} of ${pathOf(url)}`, [schemas?.[event]], JSON.parse(data))
}

function checkError(request: string, body: unknown): void {
  // A code that the contract does not know is not in what the schema gives back either.
  checkOneOf(request, [ErrorBody], body)
  if (ErrorBody.parse(body).code === undefined) throw new Error(`${request} has no code`)
}

function checkOneOf(what: string, schemas: readonly (z.ZodMiniType | undefined)[], value: unknown): void {
  const parsed = schemas.flatMap((schema) => schema?.safeParse(value) ?? [])
  // A key that the schema does not know is not in what it gives back.
  if (parsed.some((result) => result.success && isDeepStrictEqual(result.data, value))) return
  const issues = parsed.flatMap((result) => result.error?.issues ?? [])
  const why = issues.length > 0 ? JSON.stringify(issues) : 'it has something that the contract does not know'
  throw new Error(`${what} is not as the contract says: ${why}\n${JSON.stringify(value).slice(0, 2000)}`)
}

const ENDPOINTS: readonly Endpoint[] = Object.values(endpoints)

function findEndpoint(method: string, url: string): Endpoint | undefined {
  const parts = pathOf(url).split('/')
  const found = ENDPOINTS.filter((endpoint) => endpoint.method === method && matches(endpoint, parts))
  // Like the server: a literal path takes precedence over one with a parameter.
  return found.sort((a, b) => a.path.split(':').length - b.path.split(':').length)[0]
}

function matches(endpoint: Endpoint, parts: readonly string[]): boolean {
  const wanted = endpoint.path.split('/')
  return (
    wanted.length === parts.length && wanted.every((part, at) => part.startsWith(':') || part === parts[at])
  )
}

function pathOf(url: string): string {
  return new URL(url, 'http://server').pathname
}
