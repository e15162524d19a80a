import { single } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import { isPrivate } from '@postern/net/special'
import * as z from 'zod/mini'
import { file, matching, optional, read } from './setting-values.ts'

/** The settings of who watches the installation: Prometheus, which asks, and a collector of OpenTelemetry, which is told. */

/** What a program shows that asks for metrics. */
export const METRICS_TOKEN = /^[!-~]{32,512}$/
/** As those of OpenTelemetry's own settings: name=value, separated by commas. */
export const COLLECTOR_HEADERS = /^[\w-]{1,100}=[ -+\--~]{1,2000}(,\s*[\w-]{1,100}=[ -+\--~]{1,2000}){0,19}$/

/** @returns undefined unless it is an address of a private network, of the machine itself, or all of them, and a port. */
function findMetricsAddress(value: string): { host: string; port: number } | undefined {
  const [, v6, v4, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(value) ?? []
  const [host, port] = [v6 ?? v4 ?? '', Number(digits)]
  const ip = findIp(host)
  if (!ip || (ip.family === 6) !== (v6 !== undefined) || port < 1 || port > 65_535) return undefined
  return isPrivate(single(ip)) ? { host, port } : undefined
}
const metricsAddress = read(
  (value) => findMetricsAddress(value) !== undefined,
  'must be a private address and a port, like 127.0.0.1:9464, [::1]:9464 or 0.0.0.0:9464',
  (value) => findMetricsAddress(value) ?? { host: '', port: 0 },
)
const metricsToken = matching(
  METRICS_TOKEN,
  'must have 32 to 512 characters, and no blanks: openssl rand -hex 32 makes one',
)

const isCollector = (value: string) => {
  const url = URL.parse(value)
  const isPlain = url?.search === '' && url.hash === '' && url.username === ''
  return isPlain && /^https?:$/.test(url.protocol) && value.length <= 500
}
const collector = read(
  isCollector,
  'must be the http or https address of a collector, like http://127.0.0.1:4318',
  (value) => value.replace(/\/+$/, ''),
)
const headers = matching(
  COLLECTOR_HEADERS,
  'must be headers like authorization=Bearer abc, separated by commas',
)

export const MONITORING_SETTINGS = {
  POSTERN_METRICS_ADDRESS: optional(metricsAddress),
  POSTERN_METRICS_TOKEN: optional(metricsToken),
  POSTERN_METRICS_TOKEN_FILE: optional(file),
  POSTERN_OTLP_ENDPOINT: optional(collector),
  POSTERN_OTLP_HEADERS: optional(headers),
  POSTERN_OTLP_HEADERS_FILE: optional(file),
}

const Monitoring = z.object(MONITORING_SETTINGS)

/** Why these settings do not go together. Nobody reads metrics without a token, so an address without one is a mistake. */
export function findMonitoringFault(settings: z.output<typeof Monitoring>): string | undefined {
  const { POSTERN_METRICS_ADDRESS: address, POSTERN_OTLP_ENDPOINT: endpoint } = settings
  const { POSTERN_METRICS_TOKEN: token, POSTERN_METRICS_TOKEN_FILE: tokenFile } = settings
  const { POSTERN_OTLP_HEADERS: given, POSTERN_OTLP_HEADERS_FILE: headersFile } = settings
  if (token !== null && tokenFile !== null)
    return 'Set POSTERN_METRICS_TOKEN or POSTERN_METRICS_TOKEN_FILE, not both'
  if ((address === null) !== ((token ?? tokenFile) === null))
    return 'POSTERN_METRICS_ADDRESS and POSTERN_METRICS_TOKEN belong together: set both or none'
  if (given !== null && headersFile !== null)
    return 'Set POSTERN_OTLP_HEADERS or POSTERN_OTLP_HEADERS_FILE, not both'
  if ((given ?? headersFile) !== null && endpoint === null)
    return 'POSTERN_OTLP_HEADERS needs POSTERN_OTLP_ENDPOINT: set both or none'
  return undefined
}
