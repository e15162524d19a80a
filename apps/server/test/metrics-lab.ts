import { spawnSync } from 'node:child_process'
import { findFreePort } from '@postern/testkit/port'
import type { TestServer } from '@postern/testkit/server'
import { expect } from 'vitest'
import { createMetrics } from '../src/core/metrics/metrics.ts'
import { measureTelemetry } from '../src/core/metrics/telemetry.ts'
import { openMetrics } from '../src/metrics.ts'

export const METRICS_TOKEN = 'a-token-of-the-test-for-metrics-0123456789'

/** Where a test's server tells its metrics, and with what. */
export async function metricsSettings() {
  return {
    POSTERN_METRICS_ADDRESS: `127.0.0.1:${await findFreePort()}`,
    POSTERN_METRICS_TOKEN: METRICS_TOKEN,
  }
}

/** The metrics of a test's server, as the real one opens them. */
export async function openMetricsOf({ context }: TestServer): Promise<() => Promise<void>> {
  const metrics = createMetrics(context)
  const exporter = { sent: 0, dropped: 0 }
  metrics.add(() => measureTelemetry({ metrics: exporter, logs: exporter }))
  const close = await openMetrics(context, metrics)
  return async () => {
    await close()
    metrics.close()
  }
}

export async function ask(
  server: TestServer,
  path = '/metrics',
  { method = 'GET', token = METRICS_TOKEN as string | null } = {},
): Promise<Response> {
  const { port = 0 } = server.context.config.settings.POSTERN_METRICS_ADDRESS ?? {}
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  return await fetch(`http://127.0.0.1:${port}${path}`, { method, headers })
}

/** Line → its value, like `postern_service_up{service_id="2",…}`. */
export async function scrape(server: TestServer): Promise<ReadonlyMap<string, number>> {
  const answer = await ask(server)
  expect(answer.status).toBe(200)
  return parseMetrics(await answer.text())
}

export function parseMetrics(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}

/** @returns what Prometheus's own tool finds to say of it */
export function findFaults(text: string): string {
  const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  })
  return status === 0 && `${stdout}${stderr}` === '' ? '' : `${status} ${stdout}${stderr}`
}
