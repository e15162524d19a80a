import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { SecureContext } from 'node:tls'
import { codeOf, messageOf } from '../errors.ts'

export interface HttpRequest {
  method: string
  headers?: Record<string, string>
  body?: string
  /** Whom to trust; absent for plain http. `'anyone'` is only for a certificate that is compared afterwards. */
  trust?: SecureContext | 'anyone'
  timeoutMs: number
  maxBytes: number
}

export interface HttpAnswer {
  status: number
  type: string
  body: string
}

/** One request without redirects, proxies or kept connections. @throws the socket's own error, or a RangeError. */
export function request(url: URL, options: HttpRequest): Promise<HttpAnswer> {
  const { method, headers = {}, body, trust, timeoutMs, maxBytes } = options
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
        : requestHttp(url, common, onAnswer)
    outgoing.on('error', fail)
    outgoing.end(body)
  })
}

async function readAnswer(answer: IncomingMessage, maxBytes: number): Promise<HttpAnswer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    size += chunk.length
    if (size > maxBytes) throw new RangeError('the answer is too long')
    chunks.push(chunk)
  }
  return {
    status: answer.statusCode ?? 0,
    type: answer.headers['content-type'] ?? '',
    body: Buffer.concat(chunks).toString('utf8'),
  }
}

export class TimeoutError extends Error {
  readonly code = 'ETIMEDOUT'
}

/** Why the network could not reach a host, in words. */
export function networkReason(host: string, error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOTFOUND':
      return `the name ${host} does not exist`
    case 'EAI_AGAIN':
      return `the name ${host} cannot be resolved: the name server of this machine does not answer`
    case 'ECONNREFUSED':
      return `${host} refuses the connection`
    case 'ETIMEDOUT':
      return `${host} does not answer`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `there is no way to ${host} from here`
    default:
      return messageOf(error)
  }
}
