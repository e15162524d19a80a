/**
 * What a line says of the service's backend: it gave an answer; it took no connection; or it did what one does that
 * speaks another language than it is spoken to.
 */
export type BackendSign = 'answered' | 'failed' | 'odd'

/** One line of a service's live log. */
export interface HaproxyLog {
  service: number
  /** Put into words when it is read: nobody reads most lines. */
  readonly text: string
  /** Null: the backend was not asked, or has not said anything. */
  sign: BackendSign | null
}

export interface ParsedLog {
  /** HAProxy's own count of the lines it wrote; null for lines that it does not count. */
  counter: number | null
  /** Null for what belongs to no service. */
  log: HaproxyLog | null
}

export const BLOCKED = 'the IP list of the service does not allow this address'

/** What kept the proxy from giving the service's answer, by our own reason or HAProxy's two letters. */
export const REASONS: Readonly<Record<string, string>> = {
  request: 'the request is malformed',
  large: 'the headers of the request are larger than 30 kB',
  path: 'the path can be read in more than one way',
  'sign-in': 'the visitor has to sign in',
  blocked: BLOCKED,
  disabled: 'the service is disabled',
  tunnel: 'the tunnel to the node is down',
  source: 'too many connections from this visitor',
  requests: 'too many requests at once from this visitor',
  full: 'the server has no room left',
  name: 'the visitor asked for another name than the domain of the service',
  unresolved: 'the address of the service cannot be used',
  tls: 'TLS to the service could not be started',
  SC: 'the service refused the connection',
  sC: 'the connection to the service timed out',
  xC: 'the service refused the connection, or TLS to it could not be started',
  SH: 'the service closed the connection without an answer',
  sH: 'the service did not answer in time',
  SD: 'the service broke off its answer',
  sD: 'the service stopped in the middle of its answer',
  PH: 'the answer of the service is not valid HTTP, or its headers are larger than 30 kB',
  PR: 'the request is not valid HTTP',
  RC: 'the proxy has no resources for a connection',
  IR: 'the proxy failed',
  IC: 'the proxy failed',
  IH: 'the proxy failed',
  ID: 'the proxy failed',
  CC: 'the visitor left',
  CR: 'the visitor left',
  CH: 'the visitor left',
  CD: 'the visitor left',
  cR: 'the visitor did not send the request in time',
  cH: 'the visitor did not send the request in time',
  cD: 'the visitor was silent for too long',
}

/** What stands in the place of a reason once a connection was upgraded. */
const UPGRADED_WHY = 'upgraded'

/** No number of more digits is HAProxy's, and none that is longer can be a time. */
const UPGRADED = /^(\d{1,15})\|(\d{1,15})\|([^|]*)\|(.*)$/
const ENDED_HEAD = /^(\d{1,15}|-)\|(\d{1,15}|-)\|(-?\d{1,15})\|(?:-(?=..\|))?(..)(?:[^|]{2})?\|([^|]*)\|/
const ENDED_REST = /^(\d{1,15})\|([^|]*)\|(\d{1,15})\|(\d{1,15})\|([^|]*)\|([^|]*)\|(.*)$/

const CONNECTED = /^(\d{1,15})\|(\d{1,15})\|([^|]*)\|(\d{1,5})$/
const DISCONNECTED =
  /^(\d{1,15})\|(..)\|([^|]*)\|([^|]*)\|(\d{1,15})\|([^|]*)\|(\d{1,5})\|(\d{1,15})\|(\d{1,15})\|(\d{1,15})$/

const FAILED_HANDSHAKE = /^(\d{1,15})\|(\d{1,15})\|([^|]*)\|(\d{1,5})\|([^|]*)$/

/**
 * `E|secret|id|counter|status|end state|error|time|source|bytes|ms|node|why|METHOD path` at the end of a request (*end*
 * is `-`, or how the way to the service ended, which comes before HAProxy's own *state*),
 * `U|secret|id|time|source|METHOD path` when a connection was upgraded; of TCP services `O|secret|id|time|source|port`
 * at the start and `T|secret|id|state|why|node|time|source|port|bytes in|bytes out|ms` at the end of a connection,
 * and `F|secret|id|time|source|port|error` when a TLS handshake fails; all as the rendered configuration writes them.
 * What everybody must know of a line comes first; the rest is looked at when somebody reads the line.
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
  const log =
    id === '-' ? null : new LazyLog(Number(id), signOf(end), () => endedText(end, line.slice(head.length)))
  return { counter: counter === '-' ? null : Number(counter), log }
}

function parseConnected(line: string): ParsedLog | undefined {
  const [match, id, time, source, port] = CONNECTED.exec(line) ?? []
  if (match === undefined) return undefined
  const visit = { time, source, request: `tcp ${port}` }
  return { counter: null, log: new LazyLog(Number(id), null, () => textOf(visit, 'INFO', 'opened')) }
}

function parseDisconnected(line: string): ParsedLog | undefined {
  const [match, id, state = '', why = '', node, ...rest] = DISCONNECTED.exec(line) ?? []
  if (match === undefined) return undefined
  const text = () => disconnectedText(state, why, node, rest)
  const sign = /^[Ss]C$/.test(state) ? 'failed' : /^(--|[CcSs]D)$/.test(state) ? 'answered' : null
  return { counter: null, log: new LazyLog(Number(id), sign, text) }
}

function parseFailedHandshake(line: string): ParsedLog | undefined {
  const [match, id, time, source, port, error = ''] = FAILED_HANDSHAKE.exec(line) ?? []
  if (match === undefined) return undefined
  // Like `error:0A00009C:SSL routines::http request`, or `-` when the visitor just went away.
  const why = error
    .split(':')
    .at(-1)
    ?.replace(/[^\w ./-]/g, '?')
    .slice(0, 100)
  const reason =
    error === '-' ? 'the visitor left during the TLS handshake' : `the TLS handshake failed: ${why}`
  const visit = { time, source, request: `tcp ${port}` }
  return {
    counter: null,
    log: new LazyLog(Number(id), null, () => textOf(visit, 'WARN', `refused ${reason}`)),
  }
}

function disconnectedText(state: string, why: string, node: string | undefined, rest: string[]): string {
  const [time, source, port, bytesIn, bytesOut, ms] = rest
  const visit = { time, source, request: `tcp ${port}` }
  if (REASONS[why] !== undefined) return textOf(visit, 'WARN', `refused ${REASONS[why]}`)
  if (/^[sSPRI]C$/.test(state)) return textOf(visit, 'ERROR', `failed ${REASONS[state]}`)
  const moved = `${formatSize(Number(bytesIn))} in ${formatSize(Number(bytesOut))} out`
  const ending = state.startsWith('K') && node === 'down' ? REASONS.tunnel : endedReason(state)
  const figures = `closed ${moved} ${formatDuration(Number(ms))}`
  return textOf(visit, 'INFO', ending ? `${figures} ${ending}` : figures)
}

/** Nobody reads most lines. */
class LazyLog implements HaproxyLog {
  readonly service: number
  readonly sign: BackendSign | null
  readonly #read: () => string
  constructor(service: number, sign: BackendSign | null, read: () => string) {
    this.service = service
    this.sign = sign
    this.#read = read
  }
  get text() {
    return this.#read()
  }
}

/** How a request ended: its status, HAProxy's two letters, and its number for an error of the connection. */
interface End {
  code: number
  state: string
  error: string
}

function endedText(end: End, rest: string): string {
  const [, time, source, bytes, ms, node, why = '', request] = ENDED_REST.exec(rest) ?? []
  const { state } = end
  const code = why === UPGRADED_WHY ? 101 : end.code
  const ending = node === 'down' && /^[KSs]/.test(state) ? REASONS.tunnel : endedReason(state)
  const reason = code === 101 ? endOfUpgrade(ending) : (REASONS[why] ?? ending ?? REASONS[causeOf(end)])
  const figures = `${code > 0 ? code : '-'} ${formatSize(Number(bytes))} ${formatDuration(Number(ms))}`
  return textOf({ time, source, request }, levelOf(code, state), reason ? `${figures} ${reason}` : figures)
}

function causeOf({ code, state, error }: End): string {
  if (TLS_ERRORS.has(error) && code !== 101 && /^S[CH]$/.test(state)) return 'tls'
  return isUnanswered(state, code) ? 'SH' : state
}

/** A service that goes away inside the request's body fails HAProxy in the same phase as one inside its answer. */
function isUnanswered(state: string, status: number): boolean {
  return state === 'SD' && status <= 0
}

/** What HAProxy calls `SSL handshake failure`, and an error right after it, like the wish for a certificate. */
const TLS_ERRORS = new Set(['34', '43'])

/** The second letter is where it ended: up to H there was no head of an answer. */
function signOf(end: End): BackendSign | null {
  const { code, state } = end
  if (state === '--' && code > 0) return code === 400 ? 'odd' : 'answered'
  const cause = causeOf(end)
  if (cause === 'tls' || /^[Ssx]C$/.test(cause)) return 'failed'
  if (cause === 'SH' || cause === 'PH') return 'odd'
  return code > 0 && /^[CcSsPIRK][DL]$/.test(cause) ? 'answered' : null
}

function endOfUpgrade(ending: string | undefined): string {
  return `websocket ${ending ?? 'closed'}`
}

/** HAProxy marks what was ended through its socket with a K; only the edge does that. */
function endedReason(state: string): string | undefined {
  return state.startsWith('K') ? 'ended because the service no longer admits this visitor' : undefined
}

/** The proxy's own failures are errors also when the status of the answer had been sent before. */
function levelOf(status: number, state: string): 'INFO' | 'WARN' | 'ERROR' {
  if (status >= 500 || (status !== 101 && /^[SsPRI][DC]$/.test(state))) return 'ERROR'
  return status >= 400 ? 'WARN' : 'INFO'
}

interface Visit {
  time: string | undefined
  source: string | undefined
  request: string | undefined
}

export function textOf({ time, source, request = '' }: Visit, level: string, rest: string): string {
  const at = new Date(Number(time ?? 0)).toISOString()
  const asked = request.replace(/"/g, '%22').replace(/[^\x20-\x7e]/g, '?')
  return `[${level}] ${at} ${bareSource(source)} "${asked.slice(0, 1500)}" ${rest}`
}

/** Where one end has an IPv4 address and the other an IPv6 one, HAProxy writes both as IPv6. */
function bareSource(source = ''): string {
  return source.replace(/^::ffff:(?=[\d.]+$)/, '')
}

export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes}B`
  const units = ['KB', 'MB', 'GB', 'TB']
  let value = bytes / 1000
  let unit = 0
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${value.toFixed(1)}${units[unit]}`
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms}ms`
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${(ms / 1000).toFixed(1)}s`
  const minutes = Math.floor(seconds / 60)
  const two = (value: number) => String(value).padStart(2, '0')
  return minutes < 60
    ? `${minutes}m${two(seconds % 60)}s`
    : `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`
}
