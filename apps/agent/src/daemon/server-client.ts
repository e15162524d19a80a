import type { SecureContext } from 'node:tls'
import { AgentConfig, type RegisterKey } from '@postern/contract/agent'
import type { AgentReport } from '@postern/contract/agent-report'
import { type Endpoint, nothing, pathOf } from '@postern/contract/endpoint'
import { endpoints } from '@postern/contract/endpoints'
import { ErrorBody } from '@postern/contract/errors'
import { PublishAnswer, type PublishedService, type PublishRequest } from '@postern/contract/publishing'
import type * as z from 'zod/mini'
import type { Offer } from '../discovery/offer.ts'
import { type Published, toPublished } from '../discovery/published.ts'
import { AgentError } from '../errors.ts'
import { parseJson } from '../files.ts'
import { printable } from '../io.ts'
import { type HttpAnswer, networkReason, request } from './http.ts'
import { findTrustProblem } from './trust.ts'

export interface ServerAccess {
  url: URL
  token: string
  /** Not used for plain http, which reaches this machine only. */
  trust: SecureContext
}

/** The agent's requests to the server. Each throws AgentError with the reason in words. */
export interface ServerClient {
  getConfig(): Promise<AgentConfig>
  registerKey(publicKey: string): Promise<AgentConfig>
  /** Publishes exactly these services of this source. */
  publish(source: string, services: readonly Offer[]): Promise<Published[]>
  /** All that this agent sees now. */
  report(report: AgentReport): Promise<object>
}

export function createServerClient(access: ServerAccess): ServerClient {
  const registration = (publicKey: string): RegisterKey => ({ publicKey })
  return {
    getConfig: () => call(access, endpoints.agentConfig, AgentConfig),
    registerKey: (publicKey) => call(access, endpoints.registerKey, AgentConfig, registration(publicKey)),
    publish: (source, services) => publishServices(access, source, services),
    report: (report) => call(access, endpoints.reportNode, nothing, report),
  }
}

async function publishServices(
  access: ServerAccess,
  source: string,
  services: readonly Offer[],
): Promise<Published[]> {
  // Which fields go with which type, the server judges, service by service.
  const wanted: PublishRequest = { source, services: services as PublishedService[] }
  return (await call(access, endpoints.publishServices, PublishAnswer, wanted)).services.map(toPublished)
}

async function call<T extends z.ZodMiniType>(
  access: ServerAccess,
  endpoint: Endpoint,
  schema: T,
  body?: object,
): Promise<z.output<T>> {
  const answer = await send(access, endpoint, body)
  // The node's own configuration is always there: who finds none has no node. Other calls are of newer servers.
  if (answer.status === 404 && endpoint !== endpoints.agentConfig && endpoint !== endpoints.registerKey)
    throw new AgentError('server-answer', `${access.url.host} is too old for that. Update the server`)
  if (answer.status !== 200) throw refusal(access.url, answer)
  const data = parseJson(answer.body, schema)
  if (data !== undefined) return data
  throw new AgentError('server-answer', `${access.url.host} does not answer like a Postern server`)
}

async function send(access: ServerAccess, endpoint: Endpoint, body?: object): Promise<HttpAnswer> {
  const { url, token, trust } = access
  try {
    return await request(new URL(pathOf(endpoint), url), {
      method: endpoint.method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      trust,
      timeoutMs: 15_000,
      maxBytes: 1024 * 1024,
    })
  } catch (error) {
    const untrusted = findTrustProblem(url, error)
    if (untrusted) throw new AgentError('certificate', untrusted, { cause: error })
    const reason = networkReason(url.hostname, error)
    throw new AgentError('server-unreachable', `Cannot reach the server: ${reason}`, { cause: error })
  }
}

/** Only the server answers in JSON. A proxy's own 403 or 404 page says nothing about the token. */
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
