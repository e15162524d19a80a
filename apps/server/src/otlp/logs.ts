import { createBackoff } from '@postern/host/backoff'
import { type Attribute, attribute, nanosOf, type Resource, SCOPE } from './attributes.ts'
import type { Collector } from './collector.ts'

interface Options {
  resource: Resource
  random: () => number
}

/** Sends the lines of the server's log. What waits is bounded: of a collector that is away for long, the oldest go. */
export interface LogExporter {
  /** A line of JSON as pino writes it: what is secret in it is cut out already. */
  write(line: string): void
  /** Begins to send; what was written before waits. */
  start(collector: Collector): void
  readonly sent: number
  readonly dropped: number
  /** Sends what waits, if the collector takes it at once. */
  close(): Promise<void>
}

const MOST_LINES = 5000
const MOST_BYTES = 8 * 1024 * 1024
const LINES_AT_ONCE = 500
/** Lines that come together are sent together. */
const GATHER_MS = 1000
const RETRY = { first: 2000, most: 60_000 }

export function createLogExporter({ resource, random }: Options): LogExporter {
  let [sent, dropped, bytes] = [0, 0, 0]
  let waiting: string[] = []
  let collector: Collector | undefined
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<unknown> | undefined
  let isClosed = false
  const backoff = createBackoff({ ...RETRY, random })

  const take = (count: number) => {
    const lines = waiting.slice(0, count)
    waiting = waiting.slice(count)
    for (const line of lines) bytes -= line.length
    return lines
  }
  const dropOldest = () => {
    // Many at once: each costs as much as the list is long.
    while (waiting.length > MOST_LINES || bytes > MOST_BYTES) dropped += take(LINES_AT_ONCE).length
  }
  async function send(to: Collector): Promise<number> {
    const lines = take(LINES_AT_ONCE)
    const logRecords = lines.map(recordOf)
    const body = { resourceLogs: [{ resource, scopeLogs: [{ scope: SCOPE, logRecords }] }] }
    const outcome = await to.send('logs', body)
    if (outcome.kind === 'away') {
      waiting = [...lines, ...waiting]
      for (const line of lines) bytes += line.length
      dropOldest()
      return backoff.next()
    }
    backoff.reset()
    const rejected = outcome.kind === 'taken' ? outcome.rejected : lines.length
    sent += lines.length - rejected
    dropped += rejected
    return GATHER_MS
  }
  const plan = (wait: number) => {
    if (isClosed || timer || sending || !collector || waiting.length === 0) return
    const to = collector
    timer = setTimeout(() => {
      timer = undefined
      sending = send(to).then((next) => {
        sending = undefined
        plan(next)
      })
    }, wait).unref()
  }
  return {
    write(line) {
      waiting.push(line)
      bytes += line.length
      dropOldest()
      plan(GATHER_MS)
    },
    start(to) {
      collector = to
      plan(GATHER_MS)
    },
    get sent() {
      return sent
    },
    get dropped() {
      return dropped
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await sending
      if (collector && waiting.length > 0) await send(collector)
    },
  }
}

/** pino's levels and the protocol's. */
const SEVERITIES: readonly (readonly [level: number, number: number, text: string])[] = [
  [60, 21, 'FATAL'],
  [50, 17, 'ERROR'],
  [40, 13, 'WARN'],
  [30, 9, 'INFO'],
  [20, 5, 'DEBUG'],
  [0, 1, 'TRACE'],
]

function recordOf(line: string) {
  const { level = 30, time, msg, err, ...rest } = parse(line)
  const [, severityNumber, severityText] = SEVERITIES.find(([least]) => Number(level) >= least) ?? [
    0,
    9,
    'INFO',
  ]
  return {
    timeUnixNano: nanosOf(typeof time === 'number' ? time : 0),
    severityNumber,
    severityText,
    body: { stringValue: typeof msg === 'string' ? msg : '' },
    attributes: [
      ...Object.entries(rest).map(([key, value]) => attribute(key, value)),
      ...(err === undefined ? [] : exceptionOf(err)),
    ],
  }
}

function parse(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch {
    // Told as it is.
  }
  return { msg: line }
}

/** By the names that OpenTelemetry has for it. */
function exceptionOf(err: unknown): Attribute[] {
  if (typeof err !== 'object' || err === null) return [attribute('exception.message', err)]
  const { type, message, stack, ...rest } = err as Record<string, unknown> // of any other names
  const named = { type, message, stacktrace: stack }
  return [
    ...Object.entries(named).filter(([, value]) => typeof value === 'string'),
    ...Object.entries(rest),
  ].map(([key, value]) => attribute(`exception.${key}`, value))
}
