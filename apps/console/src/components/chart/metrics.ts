import type { Figures, FiguresSpan } from '@postern/contract/figures'
import type { ServiceType } from '@postern/contract/services/services'
import type { Unit } from './scales.ts'

/** What a chart is of. */
export type Subject =
  | { kind: 'service'; type: ServiceType; id: number }
  | { kind: 'node' | 'edge'; id: number }
  | { kind: 'domain'; id: number; domain: string }
  | { kind: 'all' }

type Name = keyof Figures['series']

export interface Line {
  of: Name
  text: string
  /** The colour, and for the second line its dashes. */
  look: 'first' | 'second' | 'bad'
}

export interface Metric {
  value: MetricName
  text: string
  unit: Unit
  lines: readonly Line[]
  /** What nothing of it is called. */
  nothing: string
}

export const METRIC_NAMES = ['requests', 'bytes', 'errors', 'times'] as const
export type MetricName = (typeof METRIC_NAMES)[number]

const BYTES: Metric = {
  value: 'bytes',
  text: 'Bytes',
  unit: 'bytes',
  lines: [
    { of: 'sent', text: 'Sent', look: 'first' },
    { of: 'received', text: 'Received', look: 'second' },
  ],
  nothing: 'No traffic',
}
const ERRORS: Metric = {
  value: 'errors',
  text: 'Errors',
  unit: 'count',
  lines: [{ of: 'errors', text: 'Errors (5xx)', look: 'bad' }],
  nothing: 'No requests',
}
const TIMES: Metric = {
  value: 'times',
  text: 'Response Time',
  unit: 'ms',
  lines: [
    { of: 'p95', text: '95 % within', look: 'first' },
    { of: 'p50', text: 'Half within', look: 'second' },
  ],
  nothing: 'No answers',
}

function requestsOf(text: string, line: string): Metric {
  return {
    value: 'requests',
    text,
    unit: 'count',
    lines: [{ of: 'connections', text: line, look: 'first' }],
    nothing: `No ${line.toLowerCase()}`,
  }
}
const REQUESTS = requestsOf('Requests', 'Requests')
const BOTH = requestsOf('Requests', 'Requests and connections')
const CONNECTIONS = requestsOf('Connections', 'Connections')

/** What can be shown; services that are not HTTP have no errors and no times. */
export function metricsOf(subject: Subject): readonly Metric[] {
  if (subject.kind !== 'service') return [BOTH, BYTES, ERRORS, TIMES]
  return subject.type === 'http' ? [REQUESTS, BYTES, ERRORS, TIMES] : [CONNECTIONS, BYTES]
}

export const SPAN_OPTIONS = [
  { value: 'hour', text: 'Hour' },
  { value: 'day', text: 'Day' },
  { value: 'week', text: 'Week' },
  { value: 'month', text: 'Month' },
] as const satisfies readonly { value: FiguresSpan; text: string }[]

export const SPAN_WORDS: Readonly<Record<FiguresSpan, string>> = {
  hour: 'the last hour',
  day: 'the last 24 hours',
  week: 'the last 7 days',
  month: 'the last 30 days',
}

/** Whether there was nothing that the metric could measure. */
export function isNothing({ value }: Metric, { whole }: Figures): boolean {
  if (value === 'times') return whole.p50 === null
  return value === 'bytes' ? whole.sent + whole.received === 0 : whole.connections + whole.errors === 0
}
