import type { DialLane, HaproxyOptions } from './options.ts'
import { NETWORK, PERIOD, requestRates, SOURCE } from './rates.ts'

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

/** The console has a lane of its own, so that signing in never waits for a service. */
const LEAST_OF_CONSOLE = 32

/** Requests on their way to a service that are not sent twice: each takes three open files. */
export function laneBudget({ maxConnections }: HaproxyOptions, lane: DialLane): Budget {
  const ofConsole = Math.max(LEAST_OF_CONSOLE, Math.ceil(maxConnections / 16))
  const all = lane === 'console' ? ofConsole : Math.ceil(maxConnections / 4)
  const part = (of: number) => Math.ceil(all / of)
  return { all, source: part(4), network: part(2), crowded: { source: part(16), network: part(8) } }
}

/** The connections that a lane takes: above its budget they are told that there is no room. */
export function laneConnections(options: HaproxyOptions, lane: DialLane): number {
  return laneBudget(options, lane).all + TOLD_REQUESTS
}

/**
 * Counts a lane's connections, each of which is one request. As with the requests of HTTP/2 there is one counter for it:
 * the others say whose stream it is and whether its answer was lost.
 */
export function renderLaneBudget(options: HaproxyOptions, lane: DialLane): string {
  const { all, source, network, crowded } = laneBudget(options, lane)
  const isCrowded = `{ fe_conn gt ${Math.floor(all / 2)} }`
  const ofSource = (limit: number) => `{ ${SOURCE},table_conn_cur(${lane}_sources) gt ${halfOf(limit)} }`
  const ofNetwork = (limit: number) => `{ ${NETWORK},table_conn_cur(${lane}_networks) gt ${halfOf(limit)} }`
  const over = [
    ofSource(source),
    ofNetwork(network),
    `${isCrowded} ${ofSource(crowded.source)}`,
    `${isCrowded} ${ofNetwork(crowded.network)}`,
  ].join(' or ')
  return `  http-request track-sc0 ${SOURCE} table ${lane}_sources if { rand(2) 0 }
  http-request track-sc0 ${NETWORK} table ${lane}_networks
  http-request set-var(txn.many) bool(true) if ${over}
  tcp-request session set-var(sess.full) bool(true) if { fe_conn gt ${all} }
  acl is_many var(txn.many) -m found
  acl is_full var(sess.full) -m found`
}

/** What a table of two holds of a number; a single request is never too many. */
const halfOf = (limit: number) => Math.max(2, Math.ceil(limit / 2))

/** Open files of requests beyond those that HAProxy counts for their connections. */
export function requestFiles(options: HaproxyOptions): number {
  const own = requestBudget(options).all + consoleRequests(options) + 2 * boundRequests(options)
  // Each connection of a visitor counts for four files, and takes three.
  return Math.max(0, own - options.maxConnections)
}

const DIAL_LANES: readonly DialLane[] = ['once', 'grpc', 'console']

export function allLaneConnections(options: HaproxyOptions): number {
  return DIAL_LANES.reduce((sum, lane) => sum + laneConnections(options, lane), 0)
}

/**
 * Counts all requests for their rate, and those of HTTP/2 while they are under way: one connection carries a hundred of
 * them, and over HTTP/1.1 one. 2.6 counts a request in three tables at most, and one is left: half of them, by chance,
 * count for their source, and the other half for its network. So each table holds half.
 */
export function renderRequestBudget(options: HaproxyOptions): string {
  const { all, source, network, crowded } = requestBudget(options)
  const over = (limits: { source: number; network: number }, more = 0, condition = '') =>
    [
      `is_h2 ${condition}{ ${SOURCE},table_conn_cur(requests) gt ${Math.ceil(limits.source / 2) + more} }`,
      `is_h2 ${condition}{ ${NETWORK},table_conn_cur(request_networks) gt ${Math.ceil(limits.network / 2) + more} }`,
    ].join(' or ')
  const rates = requestRates(options)
  return `  http-request track-sc2 ${SOURCE} table requests if { rand(2) 0 }
  http-request track-sc2 ${NETWORK} table request_networks
  # Whoever does not heed the page loses the connection, with all requests on it: even a page takes memory.
  http-request reject if ${[over({ source, network }, TOLD_REQUESTS), ...rates.farOver].join(' or ')}
  http-request set-var(txn.open) be_conn(safe_https)
  http-request set-var(txn.open) be_conn(safe_http),add(txn.open)
  acl is_crowded var(txn.open) -m int ge ${Math.floor(all / 2)}
  acl is_full var(txn.open) -m int ge ${all}
  http-request set-var(txn.many) bool(true) if ${[over({ source, network }), over(crowded, 0, 'is_crowded '), ...rates.over].join(' or ')}
  acl is_many var(txn.many) -m found`
}

/**
 * When a source has to leave what is left of a room to others. Its connections count as well: over HTTP/1.1 they are all
 * that does.
 * @param isCrowded a condition: the request is for this room, and half of the room is taken
 */
function renderRoomBudget(all: number, isCrowded: string): string {
  const [source, network] = [Math.ceil(all / 4), Math.ceil(all / 2)]
  const over = [
    `{ ${SOURCE},table_conn_cur(requests) gt ${Math.ceil(source / 2)} }`,
    `{ ${NETWORK},table_conn_cur(request_networks) gt ${Math.ceil(network / 2)} }`,
    `{ ${SOURCE},table_conn_cur(sources) gt ${source} }`,
    `{ ${NETWORK},table_conn_cur(networks) gt ${network} }`,
  ]
  return over.map((each) => `  http-request set-var(txn.many) bool(true) if ${isCrowded} ${each}`).join('\n')
}

/** The console's room, and that of services where the connection is the sign-in, which any visitor can claim. */
export function renderRoomBudgets(options: HaproxyOptions, isConsole: string): string {
  const bound = boundRequests(options)
  const isHalf = (backend: string, all: number) => `{ be_conn(${backend}) ge ${Math.floor(all / 2)} }`
  const console = consoleRequests(options)
  return [
    renderRoomBudget(console, `${isConsole} ${isHalf('safe_console', console)}`),
    ...['bound_http', 'bound_https'].map((backend) =>
      renderRoomBudget(bound, `is_bound !${isConsole} ${isHalf(backend, bound)}`),
    ),
  ].join('\n')
}

export function renderBudgetTables(): string {
  const lanes = DIAL_LANES.flatMap((lane) => [`${lane}_sources`, `${lane}_networks`])
  const table = (store: string) => (name: string) =>
    `backend ${name}\n  stick-table type ipv6 size 100k store ${store}\n`
  return [
    ...['requests', 'request_networks'].map(table(`conn_cur,http_req_rate(${PERIOD}),gpc0_rate(${PERIOD})`)),
    ...lanes.map(table('conn_cur')),
  ].join('\n')
}
