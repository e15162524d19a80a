import { setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Family, Sample } from '../core/metrics/family.ts'
import { attribute, nanosOf, type Resource, SCOPE } from './attributes.ts'
import type { Collector } from './collector.ts'

interface Options {
  collector: Collector
  resource: Resource
  measure(): AsyncIterable<Family>
  clock(): number
  log: Logger
}

/** Sends all metrics each minute. What a collector that is away misses is in what it gets next: counters go on. */
export interface MetricsExporter {
  /** Sends them now, unless that is under way. */
  run(): Promise<void>
  readonly sent: number
  readonly dropped: number
  close(): Promise<void>
}

const EVERY = 60_000
/** Half a MB of JSON. */
const POINTS_AT_ONCE = 2000

const UNITS: readonly (readonly [end: string, unit: string])[] = [
  ['_bytes', 'By'],
  ['_seconds', 's'],
  ['_ratio', '1'],
]

export function createMetricsExporter({
  collector,
  resource,
  measure,
  clock,
  log,
}: Options): MetricsExporter {
  let [sent, dropped] = [0, 0]
  let running: Promise<void> | undefined
  let isClosed = false

  async function send(metrics: object[], points: number): Promise<boolean> {
    const body = { resourceMetrics: [{ resource, scopeMetrics: [{ scope: SCOPE, metrics }] }] }
    const outcome = await collector.send('metrics', body)
    const rejected = outcome.kind === 'taken' ? outcome.rejected : points
    sent += points - rejected
    dropped += rejected
    return outcome.kind === 'taken'
  }

  async function sendAll(): Promise<void> {
    const time = nanosOf(clock())
    // One that did not take a part is not asked to take the others.
    let isTaken = true
    for await (const { metrics, points } of inParts(measure(), time)) {
      if (isClosed) return
      if (isTaken) isTaken = await send(metrics, points)
      else dropped += points
    }
  }

  const run = () => {
    running ??= sendAll()
      .catch((err: unknown) => log.error({ err }, 'metrics could not be sent'))
      .finally(() => {
        running = undefined
      })
    return running
  }
  const timer = setInterval(run, EVERY).unref()
  return {
    run,
    get sent() {
      return sent
    },
    get dropped() {
      return dropped
    },
    async close() {
      isClosed = true
      clearInterval(timer)
      await running
    },
  }
}

interface Part {
  metrics: object[]
  points: number
}

/** Many small families go together, and a large one in several parts. */
async function* inParts(families: AsyncIterable<Family>, time: string): AsyncGenerator<Part> {
  let part: Part = { metrics: [], points: 0 }
  for await (const family of families) {
    let points: object[] = []
    for (const sample of family.samples) {
      points.push(pointOf(family, sample, time))
      part.points++
      if (part.points < POINTS_AT_ONCE) continue
      part.metrics.push(metricOf(family, points))
      yield part
      points = []
      part = { metrics: [], points: 0 }
      await setImmediate()
    }
    if (points.length > 0) part.metrics.push(metricOf(family, points))
  }
  if (part.points > 0) yield part
}

function pointOf({ since }: Family, [labels, value]: Sample, timeUnixNano: string) {
  return {
    attributes: labels.pairs.map(([key, text]) => attribute(key, text)),
    ...(since !== undefined && { startTimeUnixNano: nanosOf(since) }),
    timeUnixNano,
    asDouble: value,
  }
}

const CUMULATIVE = 2

function metricOf({ name, kind, help }: Family, dataPoints: object[]) {
  const own = name.replace(/_total$/, '')
  const unit = UNITS.find(([end]) => own.endsWith(end))?.[1] ?? '1'
  const metric = { name, description: help, unit }
  return kind === 'counter'
    ? { ...metric, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } }
    : { ...metric, gauge: { dataPoints } }
}
