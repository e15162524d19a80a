import { type Family, labelsOf } from './family.ts'

/** How much of what was to be sent a collector has taken. */
interface Exporter {
  readonly sent: number
  readonly dropped: number
}

export function measureTelemetry(exporters: Readonly<Record<'metrics' | 'logs', Exporter>>): Family[] {
  const counter = (column: keyof Exporter, help: string): Family => ({
    name: `postern_otlp_${column}_total`,
    kind: 'counter',
    help,
    samples: Object.entries(exporters).map(([signal, each]) => [labelsOf({ signal }), each[column]]),
  })
  return [
    counter('sent', 'Data points and log lines that the collector has taken.'),
    counter('dropped', 'Data points and log lines that it has not taken.'),
  ]
}
