/** One line of a service's live log. */
export interface HaproxyLog {
  service: number
  text: string
}

export interface ParsedLog {
  /** HAProxy's own count of the lines it wrote; null for lines that it does not count. */
  counter: number | null
  /** Null for what belongs to no service. */
  log: HaproxyLog | null
}

/** What kept the proxy from giving the service's answer, by our own reason or HAProxy's two letters. */
const REASONS: Record<string, string> = {
  blocked: 'the IP list of the service does not allow this address',
  disabled: 'the service is disabled',
  tunnel: 'the tunnel to the node is down',
  unresolved: 'the address of the service cannot be used',
  SC: 'the service refused the connection',
  sC: 'the connection to the service timed out',
  SH: 'the service closed the connection without an answer',
  sH: 'the service did not answer in time',
  SD: 'the service broke off its answer',
  sD: 'the service stopped in the middle of its answer',
  PH: 'the answer of the service is not valid HTTP',
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

/**
 * `E|id|time|source|counter|status|bytes|ms|state|why|METHOD path` at the end of a request,
 * `U|id|time|source|METHOD path` when a connection was upgraded, both as the rendered configuration writes them.
 * @returns undefined for anything else.
 */
export function parseLogLine(line: string): ParsedLog | undefined {
  const upgraded = /^U\|(\d+)\|(\d+)\|([^|]*)\|(.*)$/.exec(line)
  if (upgraded) {
    const [, id, time, source, request] = upgraded
    return format({ id, time, source, request, level: 'INFO', rest: '101 websocket opened', counter: null })
  }
  const ended = /^E\|(\d+)\|(\d+)\|([^|]*)\|(\d+)\|(-?\d+)\|(\d+)\|(\d+)\|(..)\|([^|]*)\|(.*)$/.exec(line)
  if (!ended) {
    const nobodys = /^E\|-\|(?:[^|]*\|){2}(\d+)\|/.exec(line)
    return nobodys ? { counter: Number(nobodys[1]), log: null } : undefined
  }
  const [, id, time, source, counter, status, bytes, ms, state = '', why = '', request] = ended
  const code = Number(status)
  const reason = code === 101 ? endOfUpgrade(state) : (REASONS[why] ?? REASONS[state] ?? endedReason(state))
  const level = levelOf(code, state)
  const figures = `${code > 0 ? code : '-'} ${formatSize(Number(bytes))} ${formatDuration(Number(ms))}`
  const rest = reason ? `${figures} ${reason}` : figures
  return format({ id, time, source, request, level, rest, counter: Number(counter) })
}

function endOfUpgrade(state: string): string {
  return `websocket ${endedReason(state) ?? 'closed'}`
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
  rest: string
  counter: number | null
}

function format(parts: Parts): ParsedLog {
  const time = new Date(Number(parts.time)).toISOString()
  const request = (parts.request ?? '').replace(/"/g, '%22').replace(/[^\x20-\x7e]/g, '?')
  const text = `[${parts.level}] ${time} ${parts.source} "${request.slice(0, 1500)}" ${parts.rest}`
  return { counter: parts.counter, log: { service: Number(parts.id), text } }
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
