import type { SecureContext } from 'node:tls'
import { AgentConfig, type RegisterKey } from '@postern/contract/agent/agent'
import type { AgentReport } from '@postern/contract/agent/agent-report'
import { type Endpoint, nothing, pathOf } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { ErrorBody } from '@postern/contract/errors'
import {
  PublishAnswer,
  type PublishedService,
  type PublishRequest,
} from '@postern/contract/services/publishing'
import { Why } from '@postern/contract/why/why'
import { type HttpAnswer, networkReason, request } from '@postern/host/http'
import type * as z from 'zod/mini'
import type { Offer } from '../discovery/offer.ts'
import { type Published, toPublished } from '../discovery/published.ts'
import { AgentError } from '../errors.ts'
import { parseJson } from '../files.ts'
import { printable } from '../io.ts'
import { findTrustProblem } from './trust.ts'

export interface ServerAccess {
  url: URL
  /** Empty: none, for what is open to everybody. */
  token: string
  /** Not used for plain http, which is only for this machine. */
  trust: SecureContext
}

/** The agent's requests to the server. Each throws AgentError with the reason in words. */
export interface ServerClient {
  getConfig(): Promise<AgentConfig>
  registerKey(publicKey: string): Promise<AgentConfig>
  /** Publishes exactly these services of this source. */
  publish(source: string, services: readonly Offer[]): Promise<Published[]>
  /** Reports all that this agent sees now. */
  report(report: AgentReport): Promise<object>
  /** Where visitors of an address of this node's services stop. @param visitor an IP address; null: nobody's way */
  why(address: string, visitor: string | null): Promise<Why>
}

export function createServerClient(access: ServerAccess): ServerClient {
  const registration = (publicKey: string): RegisterKey => ({ publicKey })
  return {
    getConfig: () => call(access, endpoints.agentConfig, AgentConfig),
    registerKey: (publicKey) => call(access, endpoints.registerKey, AgentConfig, registration(publicKey)),
    publish: (source, services) => publishServices(access, source, services),
    report: (report) => call(access, endpoints.reportNode, nothing, report),
    why: (address, visitor) => call(access, endpoints.agentWhy, Why, { address, visitor }, WHY_TIMEOUT_MS),
  }
}

async function publishServices(
  access: ServerAccess,
  source: string,
  services: readonly Offer[],
): Promise<Published[]> {
  // The server checks the fields of each service.
  const wanted: PublishRequest = { source, services: services as PublishedService[] }
  return (await call(access, endpoints.publishServices, PublishAnswer, wanted)).services.map(toPublished)
}

async function call<T extends z.ZodMiniType>(
  access: ServerAccess,
  endpoint: Endpoint,
  schema: T,
  body?: object,
  timeoutMs = TIMEOUT_MS,
): Promise<z.output<T>> {
  const answer = await send(access, { method: endpoint.method, path: pathOf(endpoint), body, timeoutMs })
  // Every server has the node's configuration: a 404 means that the node is gone. Other calls may be missing on older
  // servers.
  if (answer.status === 404 && endpoint !== endpoints.agentConfig && endpoint !== endpoints.registerKey)
    throw new AgentError('server-answer', `${access.url.host} is too old for that. Update the server`)
  if (answer.status !== 200) throw refusal(access.url, answer)
  const data = parseJson(answer.body, schema)
  if (data !== undefined) return data
  throw new AgentError('server-answer', `${access.url.host} does not answer like a Postern server`)
}

const TIMEOUT_MS = 15_000
/** Ten seconds, and as much until it is its turn. */
const WHY_TIMEOUT_MS = 25_000

export interface ServerRequest {
  method: string
  /** With its query. */
  path: string
  body?: object | undefined
  timeoutMs?: number
  maxBytes?: number
}

/** One request, with the token if there is one. @throws AgentError when there is no answer; a refusal is one */
export async function send(
  access: ServerAccess,
  { method, path, body, timeoutMs = TIMEOUT_MS, maxBytes = 1024 * 1024 }: ServerRequest,
): Promise<HttpAnswer> {
  const { url, token, trust } = access
  try {
    return await request(new URL(path, url), {
      method,
      headers: {
        accept: 'application/json',
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      trust,
      timeoutMs,
      maxBytes,
    })
  } catch (error) {
    throw unreachable(url, error)
  }
}

/** Why a request got no answer, in words. */
export function unreachable(url: URL, error: unknown): AgentError {
  const untrusted = findTrustProblem(url, error)
  if (untrusted) return new AgentError('certificate', untrusted, { cause: error })
  const reason = networkReason(url.hostname, error)
  return new AgentError('server-unreachable', `Cannot reach the server: ${reason}`, { cause: error })
}

/** Only the server answers in JSON. A proxy's own 403 or 404 page means nothing about the token. */
function refusal(url: URL, answer: HttpAnswer): AgentError {
  const refusal = answer.type.includes('json') ? parseJson(answer.body, ErrorBody) : undefined
  if (!refusal)
    return new AgentError(
      'server-answer',
      `${url.host} answered ${answer.status}. Check that --url is a Postern server`,
    )
  const words = printable(refusal.message)
  if (refusal.code === 'may_not_publish') return new AgentError('server-answer', MAY_NOT_PUBLISH)
  if ([401, 403, 404].includes(answer.status))
    return new AgentError('token-refused', `${refusedToken(refusal, words)} ${NEW_TOKEN}`)
  return new AgentError('server-answer', `The server answered ${answer.status}: ${words}`)
}

const MAY_NOT_PUBLISH =
  'The console does not let this node publish services: edit the node and turn on Agent May Publish Services'
const NEW_TOKEN = "Add a token on the node's page in the console, and run postern connect with it."

function refusedToken({ code }: ErrorBody, words: string): string {
  if (code === 'token_revoked') return "This machine's token was revoked."
  if (code === 'token_expired') return "This machine's token has expired."
  return `The server rejected the token (${words}): it or its node was deleted, or it is mistyped.`
}
