import type { HaproxyOptions } from './options.ts'
import { COUNTERS } from './streams.ts'

/** How much one source may begin within ten seconds. */
interface Rates {
  connections: number
  requests: number
  /** Requests that need Lua or the server: many times the work of others. */
  costly: number
}

/** In HAProxy's tables, one for the sources and one for their networks. */
export const [SOURCE, NETWORK] = ['src,ipmask(32,64)', 'src,ipmask(32,48)'] as const
export const PERIOD = '10s'
const LEAST_PER_SOURCE = 100
/** An IPv6 /48 may have so many times as much as a source. */
const NETWORK_SHARE = 2
/** Requests above the rate that still get a page, as a share of it. */
const GRACE_SHARE = 1.1

/**
 * All are multiples of the connections that a source may have, so that one setting determines them. With 500, a
 * source may have 1,000 requests, 100 new connections and 100 costly requests a second, averaged over ten.
 */
export function sourceRates({ connectionsPerSource }: HaproxyOptions): Rates {
  const many = Math.max(LEAST_PER_SOURCE, connectionsPerSource)
  return { connections: 2 * many, requests: 20 * many, costly: 2 * many }
}

/**
 * A full TLS handshake costs as much as ten requests, so a source that connects too often is refused before it. All
 * ports count together, in the tables of the sources' connections.
 */
export function renderConnectionRate(options: HaproxyOptions): string {
  const { connections } = sourceRates(options)
  const over = [`{ sc0_conn_rate gt ${connections} }`, `{ sc1_conn_rate gt ${connections * NETWORK_SHARE} }`]
  return `  tcp-request connection reject if ${over.join(' or ')}`
}

/** Conditions on the counters of a request's source and its network. */
function isOver(figure: string, limit: number): string[] {
  const { requests, requestNetworks } = COUNTERS
  return [
    `{ ${figure}(${requests}) gt ${limit} }`,
    `{ ${figure}(${requestNetworks}) gt ${limit * NETWORK_SHARE} }`,
  ]
}

/** Conditions for too many requests; far above the rate there is not even a page. */
export function requestRates(options: HaproxyOptions): { over: string[]; farOver: string[] } {
  const { requests } = sourceRates(options)
  const over = (limit: number) => isOver('sc_http_req_rate', limit)
  return { over: over(requests), farOver: over(requests * GRACE_SHARE) }
}

/** Counts a costly request before the work, and notes whether the source has used up its share. */
export function renderCostly(options: HaproxyOptions, condition: string): string {
  const { requests, requestNetworks } = COUNTERS
  const over = isOver('sc_gpc0_rate', sourceRates(options).costly).map((each) => `${condition} ${each}`)
  return `  http-request sc-inc-gpc0(${requests}) if ${condition}
  http-request sc-inc-gpc0(${requestNetworks}) if ${condition}
  http-request set-var(txn.many) bool(true) if ${over.join(' or ')}`
}
