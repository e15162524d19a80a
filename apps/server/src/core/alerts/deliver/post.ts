import { once } from 'node:events'
import { type IncomingMessage, type RequestOptions, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { codeOf } from '@postern/host/errors'
import { findIp } from '@postern/net/ip'
import type { Context } from '../../../context.ts'
import { DeliveryError } from './delivery-error.ts'
import { findAddress } from './dial.ts'

/** One request that carries a message. */
export interface Post {
  url: string
  headers?: Readonly<Record<string, string>>
  /** JSON. */
  body: string
  inPrivateNetwork: boolean
}

const TIMEOUT_MS = 10_000
/** Read so that a connection ends well; nobody sees it. */
const MOST_ANSWER = 16_384
const MOST_WAIT_MS = 3_600_000

/**
 * Dials the checked address itself: no name is looked up again, no redirect is followed, and no proxy of the
 * environment is used.
 * @throws DeliveryError unless the answer is 2xx
 */
export async function post(
  context: Pick<Context, 'config' | 'network' | 'tunnel' | 'outside'>,
  { url, headers, body, inPrivateNetwork }: Post,
): Promise<void> {
  const { protocol, hostname, host, port, pathname, search } = new URL(url)
  const name = hostname.replace(/^\[|\]$/g, '')
  const isPlain = protocol === 'http:'
  const portNumber = Number(port || (isPlain ? 80 : 443))
  const to = { host: name, port: portNumber, inPrivateNetwork, isPlain, isMail: false }
  const address = await findAddress(context, to)
  const options: RequestOptions = {
    host: address,
    port: portNumber,
    path: pathname + search,
    method: 'POST',
    headers: {
      host,
      'user-agent': 'Postern',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
      ...headers,
    },
    agent: false,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }
  const tls = {
    ...(!findIp(name) && { servername: name }),
    ...(context.outside.ca !== undefined && { ca: context.outside.ca }),
    minVersion: 'TLSv1.2' as const,
  }
  const sent = isPlain ? requestPlain(options) : requestTls({ ...options, ...tls })
  try {
    const answer = await exchange(sent, body)
    if (answer.status < 200 || answer.status > 299) throw refusal(name, answer)
  } catch (error) {
    if (error instanceof DeliveryError) throw error
    throw new DeliveryError(explainFailure(name, codeOf(error)), { cause: error })
  } finally {
    sent.destroy()
  }
}

async function exchange(sent: ReturnType<typeof requestPlain>, body: string) {
  sent.end(body)
  // `once` rejects with the error of a request that gets no answer.
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_ANSWER) break
  }
  return { status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] }
}

function refusal(host: string, { status, retryAfter }: { status: number; retryAfter: string | undefined }) {
  const wait = Math.min(Math.ceil(Number(retryAfter ?? 0) * 1000), MOST_WAIT_MS)
  const isFinal = status >= 400 && status < 500 && !NOT_OF_THE_MESSAGE.has(status)
  return new DeliveryError(
    explainStatus(host, status),
    wait > 0 ? { retryAfter: wait, isFinal } : { isFinal },
  )
}

/** The address or the token is refused, whatever the message, or it may be taken later. */
const NOT_OF_THE_MESSAGE: ReadonlySet<number> = new Set([401, 404, 408, 410, 425, 429])

function explainStatus(host: string, status: number): string {
  if (status === 401 || status === 403)
    return `${host} refused the message (${status}). Check the address and the token.`
  if (status === 404 || status === 410)
    return `${host} knows no such address (${status}). It may have been deleted.`
  if (status === 429) return `${host} takes no more messages for now (429).`
  if (status >= 300 && status < 400) return `${host} points elsewhere (${status}), which is not followed.`
  return `${host} answered ${status}${status >= 500 ? '' : ', so it did not take the message'}.`
}

/** Of a connection that failed before a whole answer; `code` is that of the system or of TLS. */
export function explainFailure(host: string, code: string): string {
  if (code === 'ABORT_ERR' || code === 'ETIMEDOUT') return `${host} did not answer in time.`
  if (code === 'ECONNREFUSED') return `${host} refused the connection.`
  if (code === 'ENETUNREACH' || code === 'EHOSTUNREACH') return `This server has no way to ${host}.`
  if (/CERT|ALTNAME|SIGNATURE|ISSUER/.test(code))
    return `The certificate of ${host} is not valid for it (${code}).`
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) return `${host} does not speak TLS as expected.`
  return `The connection to ${host} failed${code ? ` (${code})` : ''}.`
}
