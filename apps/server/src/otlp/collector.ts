import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { messageOf } from '@postern/host/errors'
import type { Logger } from 'pino'

export type Signal = 'metrics' | 'logs'

/** `rejected`: of what was sent, the collector did not take so much; `away`: it may take the same later. */
export type Outcome = { kind: 'taken'; rejected: number } | { kind: 'away' } | { kind: 'refused' }

/** The way to a collector of OpenTelemetry, by OTLP over HTTP in JSON. It may be away for ever: nothing waits for it. */
export interface Collector {
  send(signal: Signal, body: object): Promise<Outcome>
  /** The server ends: what is not taken soon is not taken. */
  hurry(): void
}

interface Options {
  /** Without a slash at its end. */
  endpoint: string
  headers: Readonly<Record<string, string>>
  log: Pick<Logger, 'warn' | 'info'>
}

const TIMEOUT_MS = 10_000
/** Less than a starter waits for the server. */
const LAST_MS = 1000
const MAX_ANSWER = 64 * 1024
/** What the protocol calls worth another try. */
const LATER = [429, 502, 503, 504]

const compress = promisify(gzip)

export function createCollector({ endpoint, headers, log }: Options): Collector {
  const { host } = new URL(endpoint)
  const ending = new AbortController()
  const failing = new Map<Signal, string>()
  const note = (signal: Signal, problem: string | undefined) => {
    if (problem === failing.get(signal)) return
    if (problem === undefined) {
      failing.delete(signal)
      log.info(`the collector at ${host} takes ${signal} again`)
    } else {
      failing.set(signal, problem)
      log.warn(`the collector at ${host} does not take ${signal}: ${problem}`)
    }
  }
  return {
    async send(signal, body) {
      try {
        const answer = await fetch(`${endpoint}/v1/${signal}`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip' },
          body: await compress(JSON.stringify(body)),
          // A header that proves us is for this collector alone.
          redirect: 'error',
          signal: AbortSignal.any([ending.signal, AbortSignal.timeout(TIMEOUT_MS)]),
        })
        const text = await readBounded(answer)
        note(signal, answer.ok ? undefined : `it answered ${answer.status}`)
        if (answer.ok) return { kind: 'taken', rejected: rejectedIn(text) }
        return { kind: LATER.includes(answer.status) ? 'away' : 'refused' }
      } catch (error) {
        note(signal, reasonOf(error))
        return { kind: 'away' }
      }
    },
    hurry: () => void setTimeout(() => ending.abort(), LAST_MS),
  }
}

/** What `fetch` fails with says little; its cause does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return messageOf(cause) || 'it cannot be reached'
}

async function readBounded(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop ends the connection.
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    if (size > MAX_ANSWER) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Of an answer like `{"partialSuccess":{"rejectedDataPoints":"5"}}`. */
function rejectedIn(text: string): number {
  return Number(/"rejected(?:DataPoints|LogRecords)"\s*:\s*"?(\d{1,9})/.exec(text)?.[1] ?? 0)
}
