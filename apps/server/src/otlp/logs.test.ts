import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { startFakeCollector } from '../../test/fake-collector.ts'
import { createLog } from '../context.ts'
import { resourceOf } from './attributes.ts'
import { createCollector } from './collector.ts'
import { createLogExporter, type LogExporter } from './logs.ts'

const silent = pino({ level: 'silent' })
let logs: LogExporter
const collector = fresh(() => startFakeCollector())
beforeEach(async () => {
  logs = createLogExporter({ resource: resourceOf('0.1.0', 'postern.example.com', 'host'), random: () => 1 })
})

const way = (headers = {}) => createCollector({ endpoint: collector.endpoint, headers, log: silent })
const records = () =>
  collector.taken.flatMap(
    ({ body }) => JSON.parse(JSON.stringify(body)).resourceLogs[0].scopeLogs[0].logRecords,
  )
const line = (msg: string, more: object = {}) =>
  logs.write(JSON.stringify({ level: 30, time: 1000, msg, ...more }))

type Found = { body: { stringValue: string }; timeUnixNano: string }

describe('the log', () => {
  it('is sent from its first line on, in the words of the protocol, and without secrets', async () => {
    const log = createLog('info', logs)
    log.warn({ count: 2, isNew: true, deep: { a: 1 }, authorization: 'Bearer pts_secret' }, 'look')
    logs.start(way({ authorization: 'Bearer collector' }))
    log.error({ err: new TypeError('broken') }, 'failed')
    await until('both', () => records().length === 2)
    const [first, second] = records()
    expect(first).toMatchObject({ severityNumber: 13, severityText: 'WARN', body: { stringValue: 'look' } })
    expect(first.timeUnixNano).toMatch(/^\d{19}$/)
    expect(first.attributes).toEqual([
      { key: 'count', value: { doubleValue: 2 } },
      { key: 'isNew', value: { boolValue: true } },
      { key: 'deep', value: { stringValue: '{"a":1}' } },
      { key: 'authorization', value: { stringValue: '[Redacted]' } },
    ])
    expect(second.attributes.map(({ key }: { key: string }) => key)).toEqual([
      'exception.type',
      'exception.message',
      'exception.stacktrace',
    ])
    const [{ path, headers } = { path: '', headers: {} }] = collector.taken
    expect([path, headers.authorization, headers['content-type']]).toEqual([
      '/v1/logs',
      'Bearer collector',
      'application/json',
    ])
    await logs.close()
  })

  it('is sent whatever a line is', async () => {
    for (const text of ['null', 'not JSON', '{"time":"x","level":[],"msg":5,"err":"text"}']) logs.write(text)
    logs.start(way())
    await until('all', () => records().length === 3)
    expect(records().map(({ body, timeUnixNano }: Found) => [body.stringValue, timeUnixNano])).toEqual([
      ['null', '0'],
      ['not JSON', '0'],
      ['', '0'],
    ])
    await logs.close()
  })

  it('waits for a collector that is away, and comes when it is back, each line once', async () => {
    collector.feel({ status: 503 })
    logs.start(way())
    line('one')
    await until('a try', () => collector.asked() > 0)
    line('two')
    collector.feel({ status: 200 })
    await until('both', () => logs.sent === 2)
    expect([records().length, logs.dropped]).toEqual([2, 0])
    await logs.close()
  })

  it('is bounded while nobody takes it: the oldest lines go, and are counted', async () => {
    logs.start(createCollector({ endpoint: 'http://127.0.0.1:1', headers: {}, log: silent }))
    const began = performance.now()
    for (let i = 0; i < 100_000; i++) line(`line ${i}`)
    expect(performance.now() - began).toBeLessThan(5000)
    expect(logs.dropped).toBeGreaterThanOrEqual(95_000)
    for (let i = 0; i < 40; i++) line('x'.repeat(1e6))
    expect(logs.dropped).toBeGreaterThanOrEqual(100_000)
    await logs.close()
  })

  it('loses what a collector refuses for good, and goes on', async () => {
    collector.feel({ status: 400 })
    logs.start(way())
    line('bad')
    await until('the refusal', () => logs.dropped === 1)
    collector.feel({ status: 200, body: '{"partialSuccess":{"rejectedLogRecords":"1"}}' })
    line('good')
    line('not taken')
    await until('the other', () => logs.sent === 1)
    expect(logs.dropped).toBe(2)
    await logs.close()
  })

  it('does not hold up the end of a server', async () => {
    collector.feel('silent')
    const to = way()
    logs.start(to)
    line('one')
    await until('it to be asked', () => collector.asked() > 0)
    const began = performance.now()
    to.hurry()
    await logs.close()
    expect(performance.now() - began).toBeLessThan(1900)
  })
})
