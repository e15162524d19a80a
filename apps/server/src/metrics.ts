import { METRICS_TOKEN } from '@postern/contract/settings/monitoring-settings'
import { SettingsError } from '@postern/contract/settings/settings'
import type { Context } from './context.ts'
import type { Metrics } from './core/metrics/metrics.ts'
import { createMetricsServer } from './http/metrics.ts'
import { openPort } from './listen.ts'
import { readSecret } from './secret-files.ts'

/**
 * Tells metrics to Prometheus where the settings say so.
 * @returns how to end it
 * @throws SettingsError for a file without a token
 */
export async function openMetrics(context: Context, metrics: Metrics): Promise<() => Promise<void>> {
  const { config, log, edges } = context
  const { POSTERN_METRICS_ADDRESS: address } = config.settings
  const token = readSecret(config.settings, 'POSTERN_METRICS_TOKEN')
  if (address === null || token === null) return async () => undefined
  if (!METRICS_TOKEN.test(token))
    throw new SettingsError('POSTERN_METRICS_TOKEN_FILE must hold 32 to 512 characters, and no blanks')
  const server = createMetricsServer({ metrics, token, log })
  const close = await openPort(server, {
    ...address,
    setting: 'POSTERN_METRICS_ADDRESS',
    onChange(problem) {
      if (problem !== null) log.error(`${problem}. Until then nobody reads the metrics`)
      edges.tellOwn('metrics', problem)
    },
  })
  return async () => {
    server.closeAllConnections()
    await close()
  }
}
