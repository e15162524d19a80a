import { isIpv4 } from '@postern/net/ip'
import { SERVICES_SHARE } from './budgets.ts'
import { FLAGS, routeField } from './maps/routes.ts'
import { type HaproxyOptions, type HaproxyPaths, ownHosts } from './options.ts'
import { renderConnectionRate } from './rates.ts'

/**
 * IPv4 and IPv6 get separate binds: a mapped address as source would slip through IP lists.
 * @param ports one port, or a range like `32660-32760`
 */
export function renderBinds(options: HaproxyOptions, ports: number | string, rest: string): string {
  const binds = options.addresses.map((address) =>
    isIpv4(address) ? `${address}:${ports}` : `[${address}]:${ports} v6only`,
  )
  return binds.map((bind) => `  bind ${bind} ${rest}`.trimEnd()).join('\n')
}

/** Connections above the limit that still get a page, and a line in the service's log. */
const GRACE_CONNECTIONS = 20
/** An IPv6 visitor usually holds a whole /64, and can easily have a /48. */
const NETWORK_SHARE = 4
/** Divides each source's limits while more than half of all connections are taken. */
const CROWDED_SHARE = 10

/** @param room the connections that this frontend takes */
export function renderSourceLimit(options: HaproxyOptions, room: number): string {
  const { connectionsPerSource } = options
  const network = connectionsPerSource * NETWORK_SHARE
  return `  tcp-request connection track-sc0 src,ipmask(32,64) table sources
  tcp-request connection track-sc1 src,ipmask(32,48) table networks
${renderConnectionRate(options)}
  tcp-request connection set-var(sess.over) bool(true) if { sc0_conn_cur gt ${connectionsPerSource} } or { sc1_conn_cur gt ${network} }
  tcp-request connection reject if { sc0_conn_cur gt ${connectionsPerSource + GRACE_CONNECTIONS} } or { sc1_conn_cur gt ${network + GRACE_CONNECTIONS} }
${renderCrowdLimit(options, `{ fe_conn gt ${Math.floor(room / 2)} }`)}`
}

/** @param condition when most of the room is taken */
export function renderCrowdLimit({ connectionsPerSource }: HaproxyOptions, condition: string): string {
  const crowded = (limit: number) => Math.ceil(limit / CROWDED_SHARE)
  return `  tcp-request connection reject if ${condition} { sc0_conn_cur gt ${crowded(connectionsPerSource)} }
  tcp-request connection reject if ${condition} { sc1_conn_cur gt ${crowded(connectionsPerSource * NETWORK_SHARE)} }`
}

/**
 * Visitors of services leave room for the console, and for visitors who come by an IP address and so name no server.
 */
export function renderConsoleShare(options: HaproxyOptions, paths: HaproxyPaths): string {
  const services = Math.floor(options.maxConnections * SERVICES_SHARE)
  const name = 'ssl_fc_sni,lower,rtrim(.),concat(/)'
  return `  acl names_console ssl_fc_sni -m str -i ${ownHosts(options)}
  acl names_console ${name},map_beg(${paths.routes}),${routeField('flags')} -m sub ${FLAGS.console}
  tcp-request session reject if { fe_conn gt ${services} } { ssl_fc_sni -m found } !names_console`
}
