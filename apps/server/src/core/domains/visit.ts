import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { codeOf } from '@postern/host/errors'

/**
 * The outcome of one request. `answered`: with this status and the start of the body. `refused`: nothing listens
 * there. `silent`: no whole answer in time. `unreachable`: this machine has no way there. `broken`: it was not HTTP,
 * or ended early.
 */
export type Visited =
  | { kind: 'answered'; status: number; text: string }
  | { kind: 'refused' | 'silent' | 'unreachable' | 'broken' }

/** Requests a path of a host from one address, over plain HTTP. Part of the context, so that tests can replace it. */
export type Visit = (address: string, host: string, path: string) => Promise<Visited>

const TIMEOUT = 5000
/** Bytes of an answer that are read. */
const MAX_BODY = 512
const MAX_HEAD = 16_384

const REFUSED = new Set(['ECONNREFUSED'])
const SILENT = new Set(['ABORT_ERR', 'ETIMEDOUT'])
const UNREACHABLE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/**
 * Dials the address itself, so that the checked address is the one asked: it looks up no name again, follows no
 * redirect and uses no proxy of the environment.
 */
export function createVisit({ port = 80, timeout = TIMEOUT } = {}): Visit {
  return async (address, host, path) => {
    const signal = AbortSignal.timeout(timeout)
    const headers = { host, 'user-agent': 'Postern', connection: 'close' }
    const options = { host: address, port, path, headers, agent: false, signal, maxHeaderSize: MAX_HEAD }
    try {
      return await ask(options)
    } catch (error) {
      return { kind: signal.aborted ? 'silent' : kindOf(codeOf(error)) }
    }
  }
}

function kindOf(code: string): Exclude<Visited['kind'], 'answered'> {
  if (REFUSED.has(code)) return 'refused'
  if (SILENT.has(code)) return 'silent'
  return UNREACHABLE.has(code) ? 'unreachable' : 'broken'
}

function ask(options: RequestOptions): Promise<Visited> {
  return new Promise((resolve, reject) => {
    const sent = request(options, (answer) => {
      readStart(answer)
        .then((text) => resolve({ kind: 'answered', status: answer.statusCode ?? 0, text }))
        .catch(reject)
        .finally(() => sent.destroy())
    })
    sent.on('error', reject).end()
  })
}

async function readStart(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= MAX_BODY) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_BODY).toString('latin1')
}
