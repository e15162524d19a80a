import type { HaproxyOptions } from './options.ts'
import { NETWORK, PERIOD, requestRates, SOURCE } from './rates.ts'
import { COUNTERS } from './streams.ts'

/**
 * How much may be under way at the same time: in all, from one source (an IPv4 address, an IPv6 /64), and from its
 * /48.
 */
interface Budget {
  all: number
  source: number
  network: number
  /** The same while more than half of all is taken, so that no single source takes the other half. */
  crowded: { source: number; network: number }
}

/** The share of connections and requests for visitors of services; the rest is kept for the console. */
export const SERVICES_SHARE = 0.8
/** Two browsers may each ask for a hundred files at once, even while most of the room is taken. */
const LEAST_PER_SOURCE = 400
/** Requests above the budget that still get a page; beyond these, the connection is closed. */
const GRACE_REQUESTS = 20
/** Room for signing in that no service can take, however small the installation is. */
const LEAST_OF_CONSOLE = 32

const part = (all: number, of: number) => Math.ceil(all / of)

/** Requests to services that may be sent again: nearly all requests. */
function requestBudget({ maxConnections, connectionsPerSource }: HaproxyOptions): Budget {
  const all = Math.floor(maxConnections * SERVICES_SHARE)
  const source = Math.min(Math.max(LEAST_PER_SOURCE, connectionsPerSource), part(all, 2))
  const network = Math.min(4 * source, Math.ceil((all * 3) / 4))
  return { all, source, network, crowded: { source: part(source, 2), network: part(network, 2) } }
}

/**
 * All other requests are in one of these rooms, so that no kind takes the place of another. Only requests of the room
 * use its `backends`.
 */
const ROOMS = {
  /** Requests that are sent only once: with a body, or with a method that changes something. */
  once: { share: 4, backends: ['once_http', 'once_https'] },
  grpc: { share: 4, backends: ['grpc_http', 'grpc_https'] },
  /** Requests whose sign-in is tied to the connection, which any visitor can claim. */
  bound: { share: 8, backends: ['bound_http', 'bound_https'] },
  console: { share: 4, least: LEAST_OF_CONSOLE, backends: ['safe_console'] },
  /** Signing in, and everything that changes something. */
  console_once: { share: 16, least: LEAST_OF_CONSOLE, backends: ['once_console'] },
} as const
type RoomName = keyof typeof ROOMS

// The keys of a literal.
const roomNames = Object.keys(ROOMS) as RoomName[]

function roomBudget({ maxConnections }: HaproxyOptions, name: RoomName): Budget {
  const { share, least } = { least: 1, ...ROOMS[name] }
  const all = Math.max(least, part(maxConnections, share))
  return {
    all,
    source: part(all, 4),
    network: part(all, 2),
    crowded: { source: part(all, 16), network: part(all, 8) },
  }
}

/** A condition, for `use_backend` and rules behind `renderRooms`. */
export const isIn = (name: RoomName) => `{ var(txn.room) -m str ${name} }`

/** Open files of requests to services and to the server: one each. */
export function requestFiles(options: HaproxyOptions): number {
  const rooms = roomNames.map((name) => roomBudget(options, name).all)
  return rooms.reduce((sum, all) => sum + all, requestBudget(options).all)
}

const current = (counter: number) => `sc_conn_cur(${counter})`

/** Every request counts for its source and its network, for as long as it is under way. */
export function renderRequestBudget(options: HaproxyOptions): string {
  const { all, source, network, crowded } = requestBudget(options)
  const { requests, requestNetworks } = COUNTERS
  const over = (limits: { source: number; network: number }, more = 0, condition = '') => [
    `${condition}{ ${current(requests)} gt ${limits.source + more} }`,
    `${condition}{ ${current(requestNetworks)} gt ${limits.network + more} }`,
  ]
  const rates = requestRates(options)
  return `  http-request track-sc${requests} ${SOURCE} table requests
  http-request track-sc${requestNetworks} ${NETWORK} table request_networks
  # A visitor who ignores the page loses the connection, with all requests on it: even a page takes memory.
  http-request reject if ${[...over({ source, network }, GRACE_REQUESTS), ...rates.farOver].join(' or ')}
${renderOpen(['upgrade_http', 'upgrade_https', 'safe_http', 'safe_https'])}
  acl is_crowded var(txn.open) -m int ge ${Math.floor(all / 2)}
  acl is_full var(txn.open) -m int ge ${all}
  http-request set-var(txn.many) bool(true) if ${[...over({ source, network }), ...over(crowded, 0, 'is_crowded '), ...rates.over].join(' or ')}
  acl is_many var(txn.many) -m found`
}

/** How many requests are under way to these backends. */
function renderOpen(backends: readonly string[], condition = ''): string {
  return backends
    .map((name, index) => `be_conn(${name})${index > 0 ? ',add(txn.open)' : ''}`)
    .map((sum) => `  http-request set-var(txn.open) ${sum} ${condition}`.trimEnd())
    .join('\n')
}

/** Which room a request is in, and whether its source has used up its share of it. */
export function renderRooms(options: HaproxyOptions): string {
  const { room, roomNetwork } = COUNTERS
  return `  http-request set-var(txn.once) bool(true) if !is_plain !is_repeatable or !is_plain has_body
  acl is_once var(txn.once) -m found
  http-request set-var(txn.room) str(once) if is_once
  http-request set-var(txn.room) str(bound) if is_bound
  http-request set-var(txn.room) str(grpc) if !is_plain is_grpc
  http-request set-var(txn.room) str(console) if is_console
  http-request set-var(txn.room) str(console_once) if is_console is_once
  acl has_room var(txn.room) -m found
  http-request set-var-fmt(txn.place) "%[var(txn.room)] %[${SOURCE}]" if has_room
  http-request set-var-fmt(txn.area) "%[var(txn.room)] %[${NETWORK}]" if has_room
  http-request track-sc${room} var(txn.place) table rooms if has_room
  http-request track-sc${roomNetwork} var(txn.area) table areas if has_room
${roomNames.map((name) => renderRoom(options, name)).join('\n')}`
}

function renderRoom(options: HaproxyOptions, name: RoomName): string {
  const { all, source, network, crowded } = roomBudget(options, name)
  const isCrowded = `{ var(txn.open) -m int ge ${Math.floor(all / 2)} }`
  const { room, roomNetwork } = COUNTERS
  const over = [
    `{ ${current(room)} gt ${source} }`,
    `{ ${current(roomNetwork)} gt ${network} }`,
    `${isCrowded} { ${current(room)} gt ${crowded.source} }`,
    `${isCrowded} { ${current(roomNetwork)} gt ${crowded.network} }`,
  ]
  const isHere = isIn(name)
  return `${renderOpen(ROOMS[name].backends, `if ${isHere}`)}
${over.map((each) => `  http-request set-var(txn.many) bool(true) if ${isHere} ${each}`).join('\n')}
  http-request set-var(txn.full) bool(true) if ${isHere} { var(txn.open) -m int ge ${all} }`
}

/** When there is no room for a request. */
export const NO_ROOM = '!has_room is_full or { var(txn.full) -m found }'

/** What is under way keeps its entry for as long; the others are only rates of a few seconds. */
const FORGOTTEN = '1m'

export function renderBudgetTables(): string {
  const table = (name: string, type: string, store: string) =>
    `backend ${name}\n  stick-table type ${type} size 100k expire ${FORGOTTEN} store ${store}\n`
  const rates = `conn_cur,http_req_rate(${PERIOD}),gpc0_rate(${PERIOD})`
  return [
    ...['sources', 'networks'].map((name) => table(name, 'ipv6', `conn_cur,conn_rate(${PERIOD})`)),
    ...['requests', 'request_networks'].map((name) => table(name, 'ipv6', rates)),
    ...['rooms', 'areas'].map((name) => table(name, 'string len 60', 'conn_cur')),
  ].join('\n')
}
