import type { KeptRequest } from '@postern/contract/requests/kept'
import { isReason, type Reason } from '@postern/contract/requests/reasons'
import { ENDS, findPerson, findQuery, findTarget, findTime, plain, withoutQuery } from './kept-fields.ts'
import { type BackendSign, endedReason, type HaproxyLog, LazyLog, type ParsedLog, wordsOf } from './log.ts'
import { parseConnected, parseDisconnected, parseFailedHandshake } from './tcp-line.ts'
import { bareSource, formatDuration, formatSize, textOf } from './text.ts'

/** Takes the place of a reason once a connection was upgraded. */
const UPGRADED_WHY = 'upgraded'

/** HAProxy writes no number of more digits, and a longer one cannot be a time. */
const UPGRADED = /^(\d{1,15})\|(\d{1,15})\|([^|]*)\|(.*)$/
const ENDED_HEAD = /^(\d{1,15}|-)\|(\d{1,15}|-)\|(-?\d{1,15})\|(?:-(?=..\|))?(..)(?:[^|]{2})?\|([^|]*)\|/
const ENDED_REST =
  /^(\d{1,15})\|([^|]*)\|(\d{1,15})\|(\d{1,15})\|(\d{1,15})\|(-?\d{1,15})\|(-?\d{1,15})\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|(.*)$/

/**
 * `E|secret|id|counter|status|end state|error|time|source|bytes out|bytes in|ms|connect|response|target|node|why|person|METHOD path`
 * at the end of a request (*end* is `-`, or how the way to the service ended, which comes before HAProxy's own *state*;
 * `?query` may follow),
 * `U|secret|id|time|source|METHOD path` when a connection was upgraded; of TCP services `O|secret|id|time|source|port`
 * at the start and `T|secret|id|state|why|node|time|source|port|bytes in|bytes out|ms|connect|target` at the end of a connection,
 * and `F|secret|id|time|source|port|error` when a TLS handshake fails; all as the rendered configuration writes them.
 * Parses at once only what every line is needed for; the rest when somebody reads the line.
 * @returns undefined for anything else; it never throws.
 */
export function parseLogLine(line: string, secret: string): ParsedLog | undefined {
  const start = secret.length + 3
  if (!line.startsWith(`|${secret}|`, 1)) return undefined
  const rest = line.slice(start)
  return PARSERS[line[0] ?? '']?.(rest)
}

const PARSERS: Record<string, (line: string) => ParsedLog | undefined> = {
  E: parseEnded,
  U: parseUpgraded,
  O: parseConnected,
  T: parseDisconnected,
  F: parseFailedHandshake,
}

function parseUpgraded(line: string): ParsedLog | undefined {
  const [match, id, time, source, request] = UPGRADED.exec(line) ?? []
  if (match === undefined) return undefined
  const visit = { time, source, request }
  const text = () => textOf(visit, 'INFO', '101 websocket opened')
  return { counter: null, log: new LazyLog(Number(id), 'answered', text) }
}

function parseEnded(line: string): ParsedLog | undefined {
  const [head, id, counter, status, state = '', error = ''] = ENDED_HEAD.exec(line) ?? []
  if (head === undefined) return undefined
  const end = { code: Number(status), state, error }
  const log = id === '-' ? null : new EndedLog(Number(id), signOf(end), end, line.slice(head.length))
  return { counter: counter === '-' ? null : Number(counter), log }
}

/** The end of a request: of most lines there are. */
class EndedLog implements HaproxyLog {
  readonly service: number
  readonly sign: BackendSign | null
  readonly #end: End
  readonly #rest: string
  constructor(service: number, sign: BackendSign | null, end: End, rest: string) {
    this.service = service
    this.sign = sign
    this.#end = end
    this.#rest = rest
  }
  get text() {
    return endedText(this.#end, this.#rest)
  }
  get kept() {
    return keptEnd(this.service, this.#end, this.#rest)
  }
}

/** How a request ended: its status, HAProxy's two letters, and its number for an error of the connection. */
interface End {
  code: number
  state: string
  error: string
}

function endedText(end: End, rest: string): string {
  const [, time, source, bytes, , ms, , , , node, why = '', , asked = ''] = ENDED_REST.exec(rest) ?? []
  const code = codeOf(end, why)
  const reason = endReason(end, node, why)
  const words = code === 101 ? `websocket ${wordsOf(reason) ?? 'closed'}` : wordsOf(reason)
  const figures = `${code > 0 ? code : '-'} ${formatSize(Number(bytes))} ${formatDuration(Number(ms))}`
  const request = withoutQuery(asked)
  return textOf({ time, source, request }, levelOf(code, end.state), words ? `${figures} ${words}` : figures)
}

function keptEnd(service: number, end: End, rest: string): KeptRequest | undefined {
  const [
    match,
    time,
    source,
    sent,
    received,
    total,
    connect,
    response,
    target,
    node,
    why = '',
    person,
    asked = '',
  ] = ENDED_REST.exec(rest) ?? []
  if (match === undefined) return undefined
  const code = codeOf(end, why)
  const request = withoutQuery(asked)
  const gap = request.indexOf(' ')
  return {
    at: Number(time),
    type: 'http',
    service,
    source: bareSource(source),
    person: findPerson(person),
    // A connection that never became a request has neither.
    method: gap > 0 ? plain(request.slice(0, gap)) : null,
    path: gap > 0 ? plain(request.slice(gap + 1)) : null,
    query: findQuery(asked, request),
    status: code > 0 ? code : null,
    received: Number(received),
    sent: Number(sent),
    connect: findTime(connect),
    response: findTime(response),
    total: Number(total),
    target: findTarget(target),
    reason: endReason(end, node, why) ?? null,
    detail: null,
  }
}

function codeOf({ code }: End, why: string): number {
  return why === UPGRADED_WHY ? 101 : code
}

function endReason(end: End, node: string | undefined, why: string): Reason | undefined {
  const { state } = end
  const ending = node === 'down' && /^[KSs]/.test(state) ? 'tunnel' : endedReason(state, node)
  if (codeOf(end, why) === 101) return ending
  return isReason(why) ? why : (ending ?? (causeOf(end) === 'tls' ? 'tls' : ENDS[causeOf(end)]))
}

function causeOf({ code, state, error }: End): string {
  if (TLS_ERRORS.has(error) && code !== 101 && /^S[CH]$/.test(state)) return 'tls'
  return isUnanswered(state, code) ? 'SH' : state
}

/** A service that goes away during the request's body fails HAProxy in the same phase as one during its answer. */
function isUnanswered(state: string, status: number): boolean {
  return state === 'SD' && status <= 0
}

/** HAProxy's code for `SSL handshake failure`, and for an error right after it, such as a demand for a certificate. */
const TLS_ERRORS = new Set(['34', '43'])

/** The second letter is the phase in which it ended: up to H there was no head of an answer. */
function signOf(end: End): BackendSign | null {
  const { code, state } = end
  if (state === '--' && code > 0) return code === 400 ? 'odd' : 'answered'
  const cause = causeOf(end)
  if (cause === 'tls' || /^[Ssx]C$/.test(cause)) return 'failed'
  if (cause === 'SH' || cause === 'PH') return 'odd'
  return code > 0 && /^[CcSsPIRK][DL]$/.test(cause) ? 'answered' : null
}

/** The proxy's own failures are errors even when the answer's status had already been sent. */
function levelOf(status: number, state: string): 'INFO' | 'WARN' | 'ERROR' {
  if (status >= 500 || (status !== 101 && /^[SsPRI][DC]$/.test(state))) return 'ERROR'
  return status >= 400 ? 'WARN' : 'INFO'
}
