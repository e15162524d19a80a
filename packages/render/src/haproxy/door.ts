import { isIpv4 } from '@postern/net/ip'
import { SERVICES_SHARE } from './budgets.ts'
import { FLAGS } from './maps/routes.ts'
import { type HaproxyOptions, type HaproxyPaths, type Lane, laneServer } from './options.ts'
import { renderConnectionRate } from './rates.ts'

/**
 * IPv4 and IPv6 apart: a source that is met as a mapped address would slip through IP lists.
 * @param ports one port, or a range like `32660-32760`
 */
export function renderBinds(options: HaproxyOptions, ports: number | string, rest: string): string {
  const binds = options.addresses.map((address) =>
    isIpv4(address) ? `${address}:${ports}` : `[${address}]:${ports} v6only`,
  )
  return binds.map((bind) => `  bind ${bind} ${rest}`.trimEnd()).join('\n')
}

/** Connections above the limit that are still told so by a page, and by a line in the log of the service. */
const TOLD = 20
/** An IPv6 visitor usually holds a whole /64, and can easily have a /48. */
const NETWORK_SHARE = 4
/** What each source's limits are divided by while more than half of all connections are taken. */
const CROWDED_SHARE = 10

/**
 * @param room the connections that this frontend takes
 * @param condition of sources that have networks; of one without, its own limit is the narrower one in any case
 */
export function renderSourceLimit(options: HaproxyOptions, room: number, condition = ''): string {
  const { connectionsPerSource } = options
  const network = connectionsPerSource * NETWORK_SHARE
  return `  tcp-request connection track-sc0 src,ipmask(32,64) table sources
${`  tcp-request connection track-sc1 src,ipmask(32,48) table networks ${condition}`.trimEnd()}
  tcp-request connection set-var(sess.over) str(over) if { sc0_conn_cur gt ${connectionsPerSource} } or { sc1_conn_cur gt ${network} }
  tcp-request connection reject if { sc0_conn_cur gt ${connectionsPerSource + TOLD} } or { sc1_conn_cur gt ${network + TOLD} }
${renderCrowdLimit(options, `{ fe_conn gt ${Math.floor(room / 2)} }`)}`
}

/** @param condition of connections of which most of the room is taken */
export function renderCrowdLimit({ connectionsPerSource }: HaproxyOptions, condition: string): string {
  const crowded = (limit: number) => Math.ceil(limit / CROWDED_SHARE)
  return `  tcp-request connection reject if ${condition} { sc0_conn_cur gt ${crowded(connectionsPerSource)} }
  tcp-request connection reject if ${condition} { sc1_conn_cur gt ${crowded(connectionsPerSource * NETWORK_SHARE)} }`
}

/**
 * The end of TLS. It hands a connection on only once the visitor has said something inside, so that silence costs
 * nothing behind it; in HTTP mode 2.6 gives a TLS hello as much time as a download.
 */
export function renderDoor(options: HaproxyOptions, paths: HaproxyPaths): string {
  const tls = `ssl crt ${paths.certificate(0)} crt-list ${paths.certificateList} alpn h2,http/1.1`
  const services = Math.floor(options.maxConnections * SERVICES_SHARE)
  const name = `ssl_fc_sni,lower,rtrim(.),concat(/)`
  return `frontend door
  mode tcp
${renderBinds(options, options.httpsPort, tls)}
  no log
  maxconn ${options.maxConnections}
  timeout client ${options.timeouts.head}s
${renderConnectionRate(options)}
${renderSourceLimit(options, options.maxConnections)}
  acl is_console ssl_fc_sni -m str -i ${options.publicHost}
  acl is_console ${name},map_beg(${paths.routes}),field(5,|) -m sub ${FLAGS.console}
  tcp-request content reject if { fe_conn gt ${services} } { ssl_fc_sni -m found } !is_console
  tcp-request inspect-delay ${options.timeouts.head}s
  tcp-request content accept if { req.len gt 0 }
  tcp-request content reject
  unique-id-format %[var(sess.over)]
  use_backend inside_h2 if { ssl_fc_alpn -m str h2 }
  default_backend inside_h1

${renderInside(options, 'h1')}
${renderInside(options, 'h2')}`
}

/** Whoever is silent too long is found behind it, where it is known what for. */
function renderInside(options: HaproxyOptions, lane: Lane): string {
  const longest = Math.max(options.timeouts.idle, options.tunnelTimeout) + 60
  return `backend inside_${lane}
  mode tcp
  timeout tunnel ${longest}s
  timeout server-fin ${longest}s
  server inside ${laneServer(options, lane)}
`
}
