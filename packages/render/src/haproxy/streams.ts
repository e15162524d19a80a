import { COUNTS_TABLE } from './counts.ts'
import { routeField } from './maps/routes.ts'

/** Counters of a connection and its requests, by their tables. */
export const COUNTERS = {
  /** `sources` and `networks`, of a connection. */
  source: 0,
  network: 1,
  requests: 2,
  requestNetworks: 3,
  /** `rooms`, for requests that take more than usual. */
  room: 4,
  roomNetwork: 5,
  service: 6,
  stream: 7,
} as const

/** The first field of a line in the map of routes. */
const SERVICE = `var(txn.route),${routeField('service')}`
export const NODE = `var(txn.route),${routeField('node')}`

/** Formatting an address takes HAProxy as long as three checks, so it is done once for each connection. */
export function renderSource(): string {
  return '  tcp-request session set-var-fmt(sess.source) "%[src]"'
}

/**
 * Notes a stream's service and visitor, so that the edge can end the streams of a service.
 * @param condition for which requests
 * @param owned which of them end with their service
 */
export function renderStreamNote(condition = '', owned = condition, member = MEMBER_NOTE): string {
  const rules = [
    `set-var-fmt(txn.stream) %rt,%[var(sess.source)] ${condition}`,
    ...member,
    `track-sc${COUNTERS.stream} var(txn.stream) table streams ${condition}`,
    `sc-set-gpt0(${COUNTERS.stream}) ${SERVICE} ${owned}`,
  ]
  return rules.map((rule) => `  http-request ${rule}`.trimEnd()).join('\n')
}

/** Direct requests need no sign-in. */
const MEMBER_NOTE = [
  'set-var-fmt(txn.stream) %[var(txn.stream)],%[var(txn.member)] if { var(txn.member) -m found }',
]

/** The request and all its bytes count for its service, even where a page of ours answers. */
export function renderCount(condition = ''): string {
  return `  http-request track-sc${COUNTERS.service} ${SERVICE} table ${COUNTS_TABLE} ${condition}`.trimEnd()
}
