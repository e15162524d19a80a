import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { SecureContext } from 'node:tls'
import { codeOf, messageOf } from './errors.ts'
import { readToEnd } from './streams.ts'

export interface HttpRequest {
  method: string
  headers?: Record<string, string>
  body?: string
  /** A unix socket to use instead of the address. */
  socketPath?: string | undefined
  /** The roots to trust; absent for plain http. Use `'anyone'` only if the certificate is compared afterwards. */
  trust?: SecureContext | 'anyone'
  timeoutMs: number
  maxBytes: number
}

export interface HttpAnswer {
  status: number
  type: string
  /** In how many seconds to ask again; 0 where the answer does not say so. */
  retryAfter: number
  body: string
}

/** One request, without redirects, proxies or keepalive. @throws the socket's own error, or a RangeError */
export function request(url: URL, options: HttpRequest): Promise<HttpAnswer> {
  const { method, headers = {}, body, socketPath, trust, timeoutMs, maxBytes } = options
  const signal = AbortSignal.timeout(timeoutMs)
  const tls = trust === 'anyone' ? { rejectUnauthorized: false } : { secureContext: trust }
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(signal.aborted ? new TimeoutError(`no answer within ${timeoutMs / 1000} s`) : error)
    const common = { method, headers, signal, agent: false as const, autoSelectFamily: true }
    const onAnswer = (answer: IncomingMessage) => readAnswer(answer, maxBytes).then(resolve, fail)
    const outgoing =
      url.protocol === 'https:'
        ? requestHttps(url, { ...common, ...tls }, onAnswer)
        : requestHttp(url, { ...common, socketPath }, onAnswer)
    outgoing.on('error', fail)
    outgoing.end(body)
  })
}

async function readAnswer(answer: IncomingMessage, maxBytes: number): Promise<HttpAnswer> {
  const body = await readToEnd(answer, maxBytes, 'the answer')
  const { 'content-type': type = '', 'retry-after': after = '' } = answer.headers
  const retryAfter = /^\d{1,6}$/.test(after) ? Number(after) : 0
  return { status: answer.statusCode ?? 0, type, retryAfter, body }
}

class TimeoutError extends Error {
  readonly code = 'ETIMEDOUT'
}

/** Why a host is unreachable, in words. */
export function networkReason(host: string, error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOTFOUND':
      return `${host} does not exist in DNS`
    case 'EAI_AGAIN':
      return `${host} cannot be resolved: this machine's name server does not answer`
    case 'ECONNREFUSED':
      return `${host} refused the connection`
    case 'ETIMEDOUT':
      return `${host} does not answer`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `there is no route to ${host} from this machine`
    default:
      return messageOf(error)
  }
}
