import type { HaproxyOptions } from './options.ts'
import { COUNTERS } from './streams.ts'

/** What one source may begin within ten seconds. */
interface Rates {
  connections: number
  requests: number
  /** Requests that take Lua or the server: many times the work of others. */
  costly: number
}

/** In HAProxy's tables, one for the sources and one for their networks. */
export const [SOURCE, NETWORK] = ['src,ipmask(32,64)', 'src,ipmask(32,48)'] as const
export const PERIOD = '10s'
const LEAST_PER_SOURCE = 100
/** An IPv6 /48 may have so many times what a source has. */
const NETWORK_SHARE = 2
/** Requests above the rate that are still told so by a page, as a share of it. */
const TOLD_SHARE = 1.1

/**
 * All are so many times the connections that a source may have, so that one setting says how much that is. With 500, a
 * second may have 1,000 requests, and 100 new connections and 100 costly requests, on the average of ten.
 */
export function sourceRates({ connectionsPerSource }: HaproxyOptions): Rates {
  const many = Math.max(LEAST_PER_SOURCE, connectionsPerSource)
  return { connections: 2 * many, requests: 20 * many, costly: 2 * many }
}

/**
 * A full TLS handshake takes as much as ten requests, so whoever connects too often is refused before it. All ports count
 * together, in the tables of what each source holds.
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

/** Conditions of too many requests; those far above are not even told so. */
export function requestRates(options: HaproxyOptions): { over: string[]; farOver: string[] } {
  const { requests } = sourceRates(options)
  const over = (limit: number) => isOver('sc_http_req_rate', limit)
  return { over: over(requests), farOver: over(requests * TOLD_SHARE) }
}

/** Counts a costly request before its cost, and notes whether the source has had its share. */
export function renderCostly(options: HaproxyOptions, condition: string): string {
  const { requests, requestNetworks } = COUNTERS
  const over = isOver('sc_gpc0_rate', sourceRates(options).costly).map((each) => `${condition} ${each}`)
  return `  http-request sc-inc-gpc0(${requests}) if ${condition}
  http-request sc-inc-gpc0(${requestNetworks}) if ${condition}
  http-request set-var(txn.many) bool(true) if ${over.join(' or ')}`
}
