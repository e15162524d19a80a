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

/** What kept the proxy from giving the service's answer, by our own reason or HAProxy's two letters. */
const REASONS: Record<string, string> = {
  request: 'the request is malformed',
  large: 'the head of the request is larger than 30 kB',
  path: 'the path can be read in more than one way',
  blocked: 'the IP list of the service does not allow this address',
  disabled: 'the service is disabled',
  tunnel: 'the tunnel to the node is down',
  source: 'too many connections from the address of this visitor',
  unresolved: 'the address of the service cannot be used',
  tls: 'TLS to the service could not be started',
  SC: 'the service refused the connection',
  sC: 'the connection to the service timed out',
  SH: 'the service closed the connection without an answer',
  sH: 'the service did not answer in time',
  SD: 'the service broke off its answer',
  sD: 'the service stopped in the middle of its answer',
  PH: 'the answer of the service is not valid HTTP, or its head is larger than 30 kB',
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

/** No number of more digits is HAProxy's, and none that is longer can be a time. */
const UPGRADED = /^(\d{1,15})\|(\d{1,15})\|([^|]*)\|(.*)$/
const ENDED =
  /^(\d{1,15})\|(\d{1,15})\|([^|]*)\|(\d{1,15}|-)\|(-?\d{1,15})\|(\d{1,15})\|(\d{1,15})\|(..)\|([^|]*)\|([^|]*)\|([^|]*)\|(.*)$/
const NOBODYS = /^-\|(?:[^|]*\|){2}(\d{1,15})\|/

/**
 * `E|secret|id|time|source|counter|status|bytes|ms|state|error|node|why|METHOD path` at the end of a request,
 * `U|secret|id|time|source|METHOD path` when a connection was upgraded, both as the rendered configuration writes them.
 * @returns undefined for anything else; it never throws.
 */
export function parseLogLine(line: string, secret: string): ParsedLog | undefined {
  const start = secret.length + 3
  if (line.slice(1, start) !== `|${secret}|`) return undefined
  const rest = line.slice(start)
  if (line.startsWith('U')) return parseUpgraded(rest)
  return line.startsWith('E') ? parseEnded(rest) : undefined
}

function parseUpgraded(line: string): ParsedLog | undefined {
  const [match, id, time, source, request] = UPGRADED.exec(line) ?? []
  if (match === undefined) return undefined
  const parts = {
    id,
    time,
    source,
    request,
    level: 'INFO',
    rest: () => '101 websocket opened',
    counter: null,
  }
  return format(parts, 'answered')
}

function parseEnded(line: string): ParsedLog | undefined {
  const ended = ENDED.exec(line)
  if (!ended) {
    const nobodys = NOBODYS.exec(line)
    return nobodys ? { counter: Number(nobodys[1]), log: null } : undefined
  }
  const [, id, time, source, counter, status, bytes, ms, state = '', error = '', node, why = '', request] =
    ended
  const code = Number(status)
  const isTls = TLS_ERRORS.has(error) && code !== 101
  const cause = isTls && /^S[CH]$/.test(state) ? 'tls' : isUnanswered(state, code) ? 'SH' : state
  const ending = state.startsWith('K') && node === 'down' ? REASONS.tunnel : endedReason(state)
  const level = levelOf(code, state)
  const rest = () => {
    const reason = code === 101 ? endOfUpgrade(ending) : (REASONS[why] ?? REASONS[cause] ?? ending)
    const figures = `${code > 0 ? code : '-'} ${formatSize(Number(bytes))} ${formatDuration(Number(ms))}`
    return reason ? `${figures} ${reason}` : figures
  }
  return format(
    { id, time, source, request, level, rest, counter: counter === '-' ? null : Number(counter) },
    signOf(cause, code),
  )
}

/** A service that goes away inside the request's body fails HAProxy in the same phase as one inside its answer. */
function isUnanswered(state: string, status: number): boolean {
  return state === 'SD' && status <= 0
}

/** What HAProxy calls `SSL handshake failure`, and an error right after it, like the wish for a certificate. */
const TLS_ERRORS = new Set(['34', '43'])

/** The second letter is where it ended: up to H there was no head of an answer. */
function signOf(cause: string, status: number): BackendSign | null {
  if (cause === 'SC' || cause === 'sC' || cause === 'tls') return 'failed'
  if (cause === 'SH' || cause === 'PH' || (cause === '--' && status === 400)) return 'odd'
  return status > 0 && /^(--|[CcSsPIRK][DL])$/.test(cause) ? 'answered' : null
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

interface Parts {
  id: string | undefined
  time: string | undefined
  source: string | undefined
  request: string | undefined
  level: string
  rest: () => string
  counter: number | null
}

function format(parts: Parts, sign: BackendSign | null): ParsedLog {
  const log = {
    service: Number(parts.id),
    get text() {
      return textOf(parts)
    },
    sign,
  }
  return { counter: parts.counter, log }
}

function textOf({ time, source, request = '', level, rest }: Parts): string {
  const at = new Date(Number(time)).toISOString()
  const asked = request.replace(/"/g, '%22').replace(/[^\x20-\x7e]/g, '?')
  return `[${level}] ${at} ${bareSource(source)} "${asked.slice(0, 1500)}" ${rest()}`
}

/** Where one end has an IPv4 address and the other an IPv6 one, HAProxy writes both as IPv6. */
function bareSource(source = ''): string {
  return source.replace(/^::ffff:(?=[\d.]+$)/, '')
}

function formatSize(bytes: number): string {
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

function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms}ms`
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${(ms / 1000).toFixed(1)}s`
  const minutes = Math.floor(seconds / 60)
  const two = (value: number) => String(value).padStart(2, '0')
  return minutes < 60
    ? `${minutes}m${two(seconds % 60)}s`
    : `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`
}
