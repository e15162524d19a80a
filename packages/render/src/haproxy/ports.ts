import { renderBinds, renderCrowdLimit, renderSourceLimit } from './connections.ts'
import { COUNTS_TABLE } from './counts.ts'
import { FLAGS, routeField } from './maps/routes.ts'
import {
  type HaproxyOptions,
  type HaproxyPaths,
  laneBind,
  laneServer,
  ownHosts,
  type PortSpan,
} from './options.ts'
import { COUNTERS } from './streams.ts'

/** The ports of a range except some, as spans. */
export function spansWithout({ from, to }: PortSpan, taken: ReadonlySet<number>): PortSpan[] {
  const spans: PortSpan[] = []
  let start = from
  for (let port = from; port <= to + 1; port++) {
    if (port <= to && !taken.has(port)) continue
    if (port > start) spans.push({ from: start, to: port - 1 })
    start = port + 1
  }
  return spans
}

/**
 * TCP services. The whole range is bound once, and the visitor's port is looked up like the address of an HTTP
 * service. Where TLS ends here, the connection takes a lane to a frontend that has the certificates, or to its bind
 * that has only the installation's own. Browsers send a host's cookies to all of its ports, so before it gets a
 * certificate, a hello must name the service's own domain or, where it has none, the installation's address or
 * nothing.
 */
export function renderPorts(options: HaproxyOptions, paths: HaproxyPaths): string {
  const { ports, portConnections, tlsPortConnections } = options
  if (ports.length === 0) return ''
  const binds = ports.map(({ from, to }) => renderBinds(options, from === to ? from : `${from}-${to}`, ''))
  const own = `ssl crt ${paths.certificate(0)}`
  return `frontend ports
  mode tcp
${binds.join('\n')}
  maxconn ${portConnections}
${renderLogged(options, paths, options.tunnelTimeout)}
${renderSourceLimit(options, portConnections)}
  tcp-request connection reject if { var(sess.over) -m found }
${renderLookup(paths, 'connection')}
  tcp-request connection silent-drop unless { var(sess.route) -m found }
  acl ends_tls var(sess.route),${routeField('flags')} -m sub ${FLAGS.tls}
  acl has_list var(sess.route),${routeField('list')} -m len gt 0
  acl is_refused var(txn.why) -m found
${renderCrowdLimit(options, `ends_tls { fe_conn(ports_inside) gt ${Math.floor(tlsPortConnections / 2)} }`)}
${renderHello(options)}
${renderNames()}
  tcp-request content set-var(txn.list) var(sess.route),${routeField('list')}
  tcp-request content set-var(txn.verdict) lua.ip_verdict if has_list
  tcp-request content set-var(txn.why) str(name) if ends_tls has_hello !is_meant
  tcp-request content set-var(txn.why) str(unresolved) if { var(sess.route),${routeField('flags')} -m sub ${FLAGS.unreachable} }
  tcp-request content set-var(txn.why) str(tunnel) if { var(txn.node),map_str(${paths.nodes}) -m str down }
  tcp-request content set-var(txn.why) str(disabled) if { var(sess.route),${routeField('flags')} -m sub ${FLAGS.disabled} }
  tcp-request content set-var(txn.why) str(blocked) if has_list !{ var(txn.verdict) -m str allow }
  tcp-request content reject if is_refused
  # Which service each open connection belongs to, so that ending a service ends its connections and no others.
  tcp-request content set-var-fmt(txn.stream) %fp-%cp,%ci
  tcp-request content track-sc${COUNTERS.stream} var(txn.stream) table streams
  tcp-request content sc-set-gpt0(${COUNTERS.stream}) var(txn.id)
  # Connections that are handed on are logged there.
  tcp-request content set-log-level silent if ends_tls
  tcp-request content track-sc${COUNTERS.service} var(txn.id) table ${COUNTS_TABLE} unless ends_tls
  tcp-request content lua.log_open unless ends_tls
${renderTarget('unless ends_tls')}
  use_backend inside_port if ends_tls has_domain
  use_backend inside_own if ends_tls
  default_backend port

frontend ports_inside
  mode tcp
  bind ${laneBind(options, 'port')} accept-proxy ${own} crt-list ${paths.certificateList}
  bind ${laneBind(options, 'own')} accept-proxy ${own}
  maxconn ${tlsPortConnections}
${renderLogged(options, paths, options.timeouts.head)}
${renderFailedHandshake(options, paths)}
${renderLookup(paths, 'session')}
  tcp-request session reject unless { var(sess.route) -m found }
${renderNames()}
${renderMeant(options)}
  tcp-request content track-sc${COUNTERS.service} var(txn.id) table ${COUNTS_TABLE}
  tcp-request content lua.log_open
${renderTarget()}
  default_backend port

backend port
  mode tcp
${renderPatience(options)}
  server target 0.0.0.0:0

${renderInside(options, 'port')}
${renderInside(options, 'own')}`
}

function renderInside(options: HaproxyOptions, lane: 'port' | 'own'): string {
  return `backend inside_${lane}
  mode tcp
${renderPatience(options)}
  server inside ${laneServer(options, lane)} send-proxy-v2
`
}

/**
 * The name that a visitor asks for. All rules run again when more of a hello arrives, so these come before those that
 * count. A connection without a hello goes on, and fails where the reason is known.
 */
function renderHello(options: HaproxyOptions): string {
  return `  tcp-request inspect-delay ${options.timeouts.head}s
  acl has_hello req.ssl_hello_type 1
${renderNamed(options, 'req.ssl_sni', 'if ends_tls has_hello')}`
}

/**
 * @param sni the fetch that reads the name
 * @param condition when there is one
 */
function renderNamed(options: HaproxyOptions, sni: string, condition: string): string {
  return `  acl has_domain var(sess.route),${routeField('domain')} -m len gt 0
  acl names_any var(txn.named) -m len gt 0
  acl names_own var(txn.named) -m reg '^[0-9.]+$|:'
  acl names_own var(txn.named) -m str ${ownHosts(options)}
  acl is_meant var(txn.named),strcmp(txn.domain) eq 0
  acl is_meant var(txn.meant) -m bool
  tcp-request content set-var(txn.domain) var(sess.route),${routeField('domain')} ${condition}
  tcp-request content set-var(txn.named) ${sni},lower,rtrim(.) ${condition}
  tcp-request content set-var(txn.meant) bool(true) if !has_domain !names_any or !has_domain names_own`
}

/**
 * Checked again after the handshake: HAProxy finds no name in a hello that was cut into records on the way, but
 * OpenSSL does.
 */
function renderMeant(options: HaproxyOptions): string {
  return `${renderNamed(options, 'ssl_fc_sni', 'if { ssl_fc }')}
  tcp-request content set-var(txn.why) str(name) if { ssl_fc } !is_meant
  tcp-request content reject if { var(txn.why) -m found }`
}

/** An idle connection lives as long as an idle WebSocket, even after one side has finished. */
function renderPatience({ tunnelTimeout }: HaproxyOptions): string {
  return `  timeout server ${tunnelTimeout}s
  timeout server-fin ${tunnelTimeout}s
  timeout tunnel ${tunnelTimeout}s`
}

/** No rule has run when a handshake fails, so its line looks the service up by itself. */
function renderFailedHandshake({ logSecret }: HaproxyOptions, paths: HaproxyPaths): string {
  const id = `%[dst_port,regsub(^,:),concat(/),map_beg(${paths.routes}),${routeField('service')}]`
  return `  error-log-format "F|${logSecret}|${id}|%[date(0,ms)]|%ci|%[dst_port]|%[ssl_fc_err_str]"`
}

/**
 * Fields as apps/edge reads them. A service behind TLS is logged only after the handshake.
 * @param hello seconds of silence until a connection is handed on; from then on that of the backend counts
 */
function renderLogged(
  { logSecret, tunnelTimeout }: HaproxyOptions,
  paths: HaproxyPaths,
  hello: number,
): string {
  const end = `%[var(txn.id)]|%ts|%[var(txn.why)]|%[var(txn.node),map_str(${paths.nodes})]`
  return `  # Also for connections without data, such as those that are refused at once.
  no option dontlognull
  log-format "T|${logSecret}|${end}|%[date(0,ms)]|%ci|%[var(sess.port)]|%U|%B|%Tt|%Tc|%si:%sp"
  timeout client ${hello}s
  timeout client-fin ${tunnelTimeout}s`
}

/** @param stage behind a lane the port is known once the PROXY header has been read */
function renderLookup(paths: HaproxyPaths, stage: 'connection' | 'session'): string {
  return `  tcp-request ${stage} set-var(sess.port) dst_port
  tcp-request ${stage} set-var(sess.route) str(:),concat(,sess.port,/),map_beg(${paths.routes})`
}

function renderNames(): string {
  return `  tcp-request content set-var(txn.id) var(sess.route),${routeField('service')}
  tcp-request content set-var(txn.node) var(sess.route),${routeField('node')}`
}

function renderTarget(condition = ''): string {
  const rules = [
    `set-dst var(sess.route),${routeField('address')}`,
    `set-dst-port var(sess.route),${routeField('port')}`,
  ]
  return rules.map((rule) => `  tcp-request content ${rule} ${condition}`.trimEnd()).join('\n')
}
