import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { messageOf } from '@postern/host/errors'
import { AcmeError } from './errors.ts'

export interface AcmeAnswer {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

export interface AcmeRequest {
  method: 'GET' | 'HEAD' | 'POST'
  /** JSON, as `application/jose+json`. */
  body?: string
  accept?: string
}

/** Sends requests to an authority: only over TLS, with a time limit and a limit on the size of answers. */
export interface AcmeHttp {
  /** @throws AcmeError of type `unreachable` */
  send(url: string, request: AcmeRequest): Promise<AcmeAnswer>
  /** Also aborts the running requests. */
  close(): void
}

const TIMEOUT = 15_000
const MAX_ANSWER = 256 * 1024
const USER_AGENT = 'Postern'

/** @param caFile PEM of the roots to trust instead of the public authorities; null: those */
export function createAcmeHttp(caFile: string | null): AcmeHttp {
  let opened: Promise<Agent> | undefined
  const closing = new AbortController()
  const open = async () => {
    const ca = caFile === null ? undefined : await readFile(caFile)
    return new Agent({ keepAlive: true, maxSockets: 20, minVersion: 'TLSv1.2', ...(ca && { ca }) })
  }
  return {
    async send(url, what) {
      opened ??= open()
      try {
        return await exchange(await opened, url, { ...what, closing: closing.signal })
      } catch (error) {
        if (error instanceof AcmeError) throw error
        throw new AcmeError({ type: 'unreachable', detail: describe(error, url) }, error)
      }
    },
    close() {
      closing.abort()
      opened?.then((agent) => agent.destroy()).catch(() => undefined)
    },
  }
}

async function exchange(
  agent: Agent,
  url: string,
  { method, body, accept, closing }: AcmeRequest & { closing: AbortSignal },
): Promise<AcmeAnswer> {
  const headers = {
    'user-agent': USER_AGENT,
    ...(accept && { accept }),
    ...(body !== undefined && {
      'content-type': 'application/jose+json',
      'content-length': Buffer.byteLength(body),
    }),
  }
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT), closing])
  const outgoing = request(url, { agent, method, headers, signal })
  outgoing.end(body)
  // `once` rejects with the error of a request that gets no answer.
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_ANSWER) {
      outgoing.destroy()
      throw new AcmeError({ type: 'unreachable', detail: 'Its answer is too long' })
    }
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}

function describe(error: unknown, url: string): string {
  const { host } = new URL(url)
  if (error instanceof Error && error.name === 'AbortError')
    return `${host} did not answer within ${TIMEOUT / 1000} seconds`
  return `${host} could not be reached: ${messageOf(error)}`
}
