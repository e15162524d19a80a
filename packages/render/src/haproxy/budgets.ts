import type { HaproxyOptions } from './options.ts'

/** What may be under way at the same time: in all, of one source (an IPv4 address, an IPv6 /64), and of its /48. */
export interface Budget {
  all: number
  source: number
  network: number
  /** The same while more than half of all is taken, so that nobody takes the other half alone. */
  crowded: { source: number; network: number }
}

/** Visitors of services get so much of the connections and the requests; the rest is kept for the console. */
export const SERVICES_SHARE = 0.8
/** Two browsers may each ask for a hundred files at once, also while most of the room is taken. */
const LEAST_PER_SOURCE = 400
/** Requests and bodies above the budget that are still told so by a page, before their connection is closed. */
export const TOLD_REQUESTS = 20

/** Requests that go to services without a lane: each takes one open file more than its connection. */
export function requestBudget({ maxConnections, connectionsPerSource }: HaproxyOptions): Budget {
  const all = Math.floor(maxConnections * SERVICES_SHARE)
  const source = Math.min(Math.max(LEAST_PER_SOURCE, connectionsPerSource), Math.ceil(all / 2))
  const network = Math.min(4 * source, Math.ceil((all * 3) / 4))
  return { all, source, network, crowded: { source: Math.ceil(source / 2), network: Math.ceil(network / 2) } }
}

/** Requests to the console, its streams among them, on top of those of services. */
export function consoleRequests({ maxConnections }: HaproxyOptions): number {
  return Math.ceil(maxConnections / 4)
}

/** Where the connection is the sign-in, each request holds one of its service too. */
export function boundRequests({ maxConnections }: HaproxyOptions): number {
  return Math.ceil(maxConnections / 16)
}

/** Open files of requests beyond those that HAProxy counts for their connections. */
export function requestFiles(options: HaproxyOptions): number {
  const own = requestBudget(options).all + consoleRequests(options) + 2 * boundRequests(options)
  // Each connection of a visitor counts for four files, and takes three.
  return Math.max(0, own - options.maxConnections)
}

/** In HAProxy's tables, one for the sources and one for their networks. */
const [SOURCE, NETWORK] = ['src,ipmask(32,64)', 'src,ipmask(32,48)']

/**
 * Counts the requests of HTTP/2, of which one connection carries a hundred; over HTTP/1.1 it carries one. 2.6 counts a
 * request in three tables at most, and one is left: half of them, by chance, count for their source, and the other half
 * for its network. So each table holds half of what is under way.
 */
export function renderRequestBudget(options: HaproxyOptions): string {
  const { all, source, network, crowded } = requestBudget(options)
  const over = (limits: { source: number; network: number }, more = 0, condition = '') =>
    [
      `is_h2 ${condition}{ ${SOURCE},table_conn_cur(requests) gt ${Math.ceil(limits.source / 2) + more} }`,
      `is_h2 ${condition}{ ${NETWORK},table_conn_cur(request_networks) gt ${Math.ceil(limits.network / 2) + more} }`,
    ].join(' or ')
  return `  http-request track-sc2 ${SOURCE} table requests if is_h2 { rand(2) 0 }
  http-request track-sc2 ${NETWORK} table request_networks if is_h2
  # Whoever does not heed the page loses the connection, with all requests on it: even a page takes memory.
  http-request reject if ${over({ source, network }, TOLD_REQUESTS)}
  http-request set-var(txn.open) be_conn(safe_https)
  http-request set-var(txn.open) be_conn(safe_http),add(txn.open)
  acl is_crowded var(txn.open) -m int ge ${Math.floor(all / 2)}
  acl is_full var(txn.open) -m int ge ${all}
  http-request set-var(txn.many) bool(true) if ${over({ source, network })} or ${over(crowded, 0, 'is_crowded ')}
  acl is_many var(txn.many) -m found`
}

export function renderBudgetTables(): string {
  return ['requests', 'request_networks']
    .map((name) => `backend ${name}\n  stick-table type ipv6 size 100k store conn_cur\n`)
    .join('\n')
}
