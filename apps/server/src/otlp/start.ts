import { hostname } from 'node:os'
import { COLLECTOR_HEADERS } from '@postern/contract/settings/monitoring-settings'
import { SettingsError } from '@postern/contract/settings/settings'
import type { ServerConfig } from '../config.ts'
import type { Context } from '../context.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import { measureTelemetry } from '../core/metrics/telemetry.ts'
import { readSecret } from '../secret-files.ts'
import { resourceOf } from './attributes.ts'
import { type Collector, createCollector } from './collector.ts'
import { createLogExporter, type LogExporter } from './logs.ts'
import { createMetricsExporter } from './metrics.ts'

/** What the collector of the settings is told. */
export interface Telemetry {
  /** Takes the lines of the log from the first one on. */
  logs: LogExporter
  /** Begins to send. @returns how to end it */
  start(context: Context, metrics: Metrics): () => Promise<void>
}

/**
 * @returns undefined without a collector
 * @throws SettingsError for a file without headers
 */
export function createTelemetry(config: ServerConfig): Telemetry | undefined {
  const { POSTERN_OTLP_ENDPOINT: endpoint } = config.settings
  if (endpoint === null) return undefined
  const headers = parseHeaders(readSecret(config.settings, 'POSTERN_OTLP_HEADERS'))
  const resource = resourceOf(config.version, config.publicHost, hostname())
  const logs = createLogExporter({ resource, random: Math.random })
  return {
    logs,
    start(context, metrics) {
      const { log, clock } = context
      const collector: Collector = createCollector({ endpoint, headers, log })
      const exporter = createMetricsExporter({ collector, resource, measure: metrics.measure, clock, log })
      logs.start(collector)
      context.edges.onJournal(logs.write)
      metrics.add(() => measureTelemetry({ metrics: exporter, logs }))
      return async () => {
        collector.hurry()
        await Promise.all([exporter.close(), logs.close()])
      }
    },
  }
}

/** @param text name=value, separated by commas or lines; values may be percent-encoded, as OpenTelemetry has them */
function parseHeaders(text: string | null): Record<string, string> {
  if (text === null) return {}
  const line = text.split('\n').filter(Boolean).join(',')
  if (!COLLECTOR_HEADERS.test(line))
    throw new SettingsError('POSTERN_OTLP_HEADERS_FILE must hold headers like authorization=Bearer abc')
  return Object.fromEntries(
    line.split(',').map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at).trim(), decode(pair.slice(at + 1).trim())]
    }),
  )
}

function decode(value: string): string {
  try {
    const text = decodeURIComponent(value)
    return /^[ -~]+$/.test(text) ? text : value
  } catch {
    // A percent sign of its own.
    return value
  }
}
