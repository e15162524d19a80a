import { connectEdgeClient } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { fresh, shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { describe, expect, it } from 'vitest'
import { startFakeCollector } from '../../test/fake-collector.ts'
import type { Family } from '../core/metrics/family.ts'
import { labelsOf } from '../core/metrics/family.ts'
import { createMetrics } from '../core/metrics/metrics.ts'
import { resourceOf } from './attributes.ts'
import { createCollector } from './collector.ts'
import { createMetricsExporter } from './metrics.ts'
import { createTelemetry } from './start.ts'

const server = shared(() => startTestServer())
const collector = fresh(() => startFakeCollector())

const exporterOf = (measure: () => AsyncIterable<Family>, endpoint = collector.endpoint) => {
  const { log, clock } = server.context
  const way = createCollector({ endpoint, headers: {}, log })
  const resource = resourceOf('0.1.0', 'postern.example.com', 'host')
  return { way, exporter: createMetricsExporter({ collector: way, resource, measure, clock, log }) }
}
const withCollector = () => {
  const { config } = server.context
  return { ...config, settings: { ...config.settings, POSTERN_OTLP_ENDPOINT: collector.endpoint } }
}
const never = () => {
  throw new Error('there is a collector')
}
const sentMetrics = () =>
  collector.taken.flatMap(
    ({ body }) => JSON.parse(JSON.stringify(body)).resourceMetrics[0].scopeMetrics[0].metrics,
  )

async function* many(): AsyncGenerator<Family> {
  const samples = Array.from({ length: 4500 }, (_, i) => [labelsOf({ id: i }), i] as const)
  yield { name: 'postern_many', kind: 'gauge', help: 'Many.', samples }
}

describe('metrics for a collector', () => {
  it('are the same as those for Prometheus, with their units and kinds', async () => {
    const metrics = createMetrics(server.context)
    server.context.totals.add([[1, [1, 20, 300]]])
    const { exporter } = exporterOf(metrics.measure)
    await exporter.run()
    const sent = new Map(sentMetrics().map((metric: { name: string }) => [metric.name, metric]))
    expect(sent.get('postern_service_sent_bytes_total')).toMatchObject({
      unit: 'By',
      description: expect.stringContaining('Bytes that went to visitors'),
      sum: {
        isMonotonic: true,
        aggregationTemporality: 2,
        dataPoints: [
          {
            asDouble: 300,
            startTimeUnixNano: `${server.context.totals.since}000000`,
            timeUnixNano: expect.stringMatching(/^\d{19}$/),
            attributes: expect.arrayContaining([{ key: 'service', value: { stringValue: 'Console' } }]),
          },
        ],
      },
    })
    expect(sent.get('postern_process_start_time_seconds')).toMatchObject({ unit: 's', gauge: {} })
    expect(exporter.dropped).toBe(0)
    expect(exporter.sent).toBeGreaterThan(30)
    await exporter.close()
    metrics.close()
  })

  it('come in parts, and all of them once', async () => {
    const { exporter } = exporterOf(many)
    await exporter.run()
    const points = sentMetrics().map((metric) =>
      metric.gauge.dataPoints.map((point: { asDouble: number }) => point.asDouble),
    )
    expect(points.map(({ length }) => length)).toEqual([2000, 2000, 500])
    expect(points.flat()).toEqual(Array.from({ length: 4500 }, (_, i) => i))
    await exporter.close()
  })

  it('are left out, counted and said once, while the collector is away', async () => {
    const { exporter } = exporterOf(many, 'http://127.0.0.1:1')
    await exporter.run()
    await exporter.run()
    expect([exporter.sent, exporter.dropped]).toEqual([0, 9000])
    expect(server.logged().match(/the collector at 127.0.0.1:1 does not take metrics/g)).toHaveLength(1)
    await exporter.close()
  })

  it('come with the log of the edge', async () => {
    const { logs, start } = createTelemetry(withCollector()) ?? never()
    const metrics = createMetrics(server.context)
    const stop = start(server.context, metrics)
    await server.listenOnSocket()
    const edge = await connectEdgeClient(server.context.config.paths)
    const line = JSON.stringify({ level: 40, time: 1000, name: 'edge', msg: 'the tunnel is not as wanted' })
    edge.send({ type: 'journal', lines: [`${line}\n`] })
    await until('the line', () => logs.sent === 1)
    const [{ path, body } = { path: '', body: {} }] = collector.taken.filter((each) =>
      each.path.includes('logs'),
    )
    expect([path, JSON.stringify(body)]).toEqual([
      '/v1/logs',
      expect.stringContaining('the tunnel is not as wanted'),
    ])
    expect(JSON.stringify(body)).toContain('{"key":"name","value":{"stringValue":"edge"}}')
    edge.close()
    await stop()
    metrics.close()
  })

  it('say what a collector takes a part of only', async () => {
    collector.feel({ status: 200, body: '{"partialSuccess":{"rejectedDataPoints":"7"}}' })
    const { exporter } = exporterOf(many)
    await exporter.run()
    expect([exporter.sent, exporter.dropped]).toEqual([4500 - 21, 21])
    await exporter.close()
  })

  it('hold up neither the server nor its end, when a collector says nothing', async () => {
    collector.feel('silent')
    const { way, exporter } = exporterOf(many)
    void exporter.run()
    await until('it to be asked', () => collector.asked() === 1)
    // Another round waits for none.
    void exporter.run()
    const client = await server.signIn()
    expect((await client.get('/api/nodes')).statusCode).toBe(200)
    const began = performance.now()
    way.hurry()
    await exporter.close()
    expect(performance.now() - began).toBeLessThan(1900)
    expect(collector.asked()).toBe(1)
  })
})
