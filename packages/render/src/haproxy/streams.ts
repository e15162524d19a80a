import { COUNTS_TABLE } from './counts.ts'
import { routeField } from './maps/routes.ts'

/** Counters of a connection and its requests, by the table that each is entered in. */
export const COUNTERS = {
  /** `sources` and `networks`, of a connection. */
  source: 0,
  network: 1,
  requests: 2,
  requestNetworks: 3,
  /** `rooms`, for what takes more than a usual request. */
  room: 4,
  roomNetwork: 5,
  service: 6,
  stream: 7,
} as const

/** What a line of the map of routes begins with. */
const SERVICE = `var(txn.route),${routeField('service')}`
export const NODE = `var(txn.route),${routeField('node')}`

/** Writing an address takes HAProxy as long as three checks, so it is done once for each connection. */
export function renderSource(): string {
  return '  tcp-request session set-var-fmt(sess.source) "%[src]"'
}

/**
 * Notes whose stream this is and who is behind it, so that the edge can end the streams of a service.
 * @param condition of which requests
 * @param owned which of them are ended with their service
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

/** Nobody signs in to what a direct request asks for. */
const MEMBER_NOTE = [
  'set-var-fmt(txn.stream) %[var(txn.stream)],%[var(txn.member)] if { var(txn.member) -m found }',
]

/** The request and all its bytes count for its service, also where a page of ours answers. */
export function renderCount(condition = ''): string {
  return `  http-request track-sc${COUNTERS.service} ${SERVICE} table ${COUNTS_TABLE} ${condition}`.trimEnd()
}
