import { isIpv4 } from '@postern/net/ip'
import type { HaproxyOptions } from './haproxy-config.ts'
import { type PageName, pageStatus, renderPageBody } from './haproxy-pages.ts'
import type { HaproxyPaths } from './haproxy-paths.ts'
import { FLAGS, OWN_HOST } from './haproxy-routes.ts'

/** Fields as apps/edge reads them; the last may hold any character. */
const LOG_FORMAT = 'E|%[var(txn.id)]|%[date(0,ms)]|%ci|%lc|%ST|%B|%Ta|%ts|%[var(txn.why)]|%[var(txn.line)]'

export function renderFrontends(options: HaproxyOptions, paths: HaproxyPaths): string {
  return [
    `frontend http
${renderBinds(options, options.httpPort, '')}
  no log
${renderSourceLimit(options)}
${renderChecks(paths)}
  http-request redirect code 308 location ${redirectTarget(options)}
`,
    `frontend https
${renderBinds(options, options.httpsPort, `ssl crt ${paths.certificate(0)} crt-list ${paths.certificateList} alpn h2,http/1.1`)}
  log-format "${LOG_FORMAT}"
  # For connections that never became a request: they count as well.
  error-log-format "${LOG_FORMAT}"
  http-request set-log-level silent
${renderSourceLimit(options)}
${renderChecks(paths)}
${renderRouting(options, paths)}
${renderRefusals(paths)}
${renderForwarding(options)}
${renderTargets()}
${renderAnswers()}`,
  ].join('\n')
}

/** IPv4 and IPv6 apart: a source that is met as a mapped address would slip through IP lists. */
function renderBinds(options: HaproxyOptions, port: number, rest: string): string {
  const binds = options.addresses.map((address) =>
    isIpv4(address) ? `${address}:${port}` : `[${address}]:${port} v6only`,
  )
  return binds.map((bind) => `  bind ${bind} ${rest}`.trimEnd()).join('\n')
}

function redirectTarget(options: HaproxyOptions): string {
  const port = options.httpsPort === 443 ? '' : `:${options.httpsPort}`
  return `https://%[var(txn.host)]${port}%[pathq]`
}

/** An IPv6 visitor usually holds a whole /64. */
function renderSourceLimit(options: HaproxyOptions): string {
  return `  tcp-request connection track-sc0 src,ipmask(32,64) table sources
  tcp-request connection reject if { sc0_conn_cur gt ${options.connectionsPerSource} }`
}

function page(paths: HaproxyPaths, name: PageName): string {
  return `http-request return status ${pageStatus(name)} ${renderPageBody(paths.page(name))}`
}

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'

/** One host and one path, each in its one spelling, before anything is decided by them. */
function renderChecks(paths: HaproxyPaths): string {
  const refuse = page(paths, 'bad-request')
  return `  acl is_name req.fhdr(host) -m reg -i '^(${LABEL}\\.)*${LABEL}\\.?(:[0-9]{1,5})?$'
  acl is_ipv6 req.fhdr(host) -m reg -i '^\\[[0-9a-f:]{2,39}(\\.[0-9]{1,3}){0,3}\\](:[0-9]{1,5})?$'
  acl is_origin_form url -m beg /
  acl is_asterisk url -m str '*'
  acl is_h2 fc_http_major 2
  acl is_connect method CONNECT
  acl has_hidden_slash path -m sub -i %2f %5c %00 '\\'
  acl has_fragment url -m sub '#'
  ${refuse} unless { req.fhdr_cnt(host) 1 }
  ${refuse} unless is_name or is_ipv6
  ${refuse} if is_connect or has_hidden_slash or has_fragment
  ${refuse} unless is_origin_form or is_h2 or is_asterisk METH_OPTIONS
  http-request set-var(txn.host) req.fhdr(host),host_only,lower,rtrim(.)
  # The query is not part of what is brought into one spelling.
  http-request set-var(txn.query) query
  http-request set-pathq %[path] unless is_asterisk
  http-request normalize-uri percent-decode-unreserved strict
  http-request normalize-uri path-merge-slashes
  http-request normalize-uri path-strip-dot
  http-request normalize-uri path-strip-dotdot full
  http-request set-var(txn.path) path
  http-request set-var(txn.path) str(/) if is_asterisk
  http-request set-pathq %[var(txn.path)]?%[var(txn.query)] if { var(txn.query) -m len gt 0 } !is_asterisk`
}

function renderRouting(options: HaproxyOptions, paths: HaproxyPaths): string {
  return `  acl is_address var(txn.host) -m reg '^([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[.*\\])$'
  acl is_own_host var(txn.host) -m str ${options.publicHost.toLowerCase()}
  http-request set-var(txn.site) var(txn.host)
  http-request set-var(txn.site) str(${OWN_HOST}) if is_address or is_own_host
  http-request set-var(txn.key) var(txn.site),concat(,txn.path,/)
  http-request set-var(txn.route) var(txn.key),map_beg(${paths.routes})
  ${page(paths, 'unknown')} unless { var(txn.route) -m found }
  http-request set-log-level info
  http-request set-var(txn.id) var(txn.route),field(1,|)
  http-request set-var(txn.node) var(txn.route),field(2,|)
  http-request set-var(txn.flags) var(txn.route),field(5,|)
  http-request set-var(txn.list) var(txn.route),field(6,|)
  http-request set-var(txn.line) method,concat(" ",txn.path)
  http-request set-var-fmt(txn.stream) %rt
  http-request track-sc1 var(txn.stream) table streams
  http-request sc-set-gpt0(1) var(txn.id) unless { var(txn.flags) -m sub ${FLAGS.agent} }`
}

function renderRefusals(paths: HaproxyPaths): string {
  const refusal = (why: string, name: PageName, condition: string) =>
    `  http-request set-var(txn.why) str(${why}) if ${condition}
  ${page(paths, name)} if { var(txn.why) -m str ${why} }`
  return [
    `  acl has_list var(txn.list) -m len gt 0
  acl is_allowed var(txn.verdict) -m str allow
  http-request set-var(txn.verdict) lua.ip_verdict if has_list`,
    refusal('blocked', 'forbidden', 'has_list !is_allowed'),
    refusal('disabled', 'disabled', `{ var(txn.flags) -m sub ${FLAGS.disabled} }`),
    refusal('tunnel', 'tunnel-down', `{ var(txn.node),map_str(${paths.nodes}) -m str down }`),
    refusal('unresolved', 'unresolved', `{ var(txn.flags) -m sub ${FLAGS.unreachable} }`),
  ].join('\n')
}

/** What a visitor says of its own origin is dropped in every spelling that a backend may read. */
function renderForwarding(options: HaproxyOptions): string {
  return `  acl is_console var(txn.flags) -m sub ${FLAGS.console}
  http-request del-header ^x[-_]forwarded([-_]|$) -m reg
  http-request del-header ^x[-_]real[-_]ip$ -m reg
  http-request del-header ^forwarded$ -m reg
  # Inside an HTTP/2 tunnel nobody would check the requests that follow.
  http-request del-header Upgrade if { req.fhdr(upgrade) -m sub -i h2c }
  http-request del-header HTTP2-Settings
  http-request set-header X-Forwarded-For %[src]
  http-request set-header X-Real-IP %[src]
  http-request set-header X-Forwarded-Proto https
  http-request set-header X-Forwarded-Host %[req.fhdr(host)]
  http-request set-header X-Forwarded-Port ${options.httpsPort}
  http-request lua.cut_token_cookie if !is_console { req.fhdr(cookie) -m sub token }
  http-request set-var(txn.query) var(txn.query),lua.cut_token if !is_console { var(txn.query) -m sub token }
  http-request set-pathq %[var(txn.path)] if !is_console !is_asterisk
  http-request set-pathq %[var(txn.path)]?%[var(txn.query)] if !is_console { var(txn.query) -m len gt 0 } !is_asterisk`
}

function renderTargets(): string {
  return `  http-request set-var(txn.sni) var(txn.host) unless is_address
  http-request set-dst var(txn.route),field(3,|) unless is_console
  http-request set-dst-port var(txn.route),field(4,|) unless is_console
  acl is_grpc req.fhdr(content-type) -m reg -i '^application/grpc([+;]|$)'
  acl is_safe method GET HEAD OPTIONS
  acl is_https var(txn.flags) -m sub ${FLAGS.https}
  use_backend console if is_console
  use_backend grpc_https if is_grpc is_https
  use_backend grpc_http if is_grpc
  use_backend safe_https if is_safe is_https
  use_backend safe_http if is_safe
  use_backend other_https if is_https
  default_backend other_http`
}

/** The console's session as browsers read it from `Set-Cookie`; they also know cookies without a name. */
const SESSION = '^[[:space:]]*(=[[:space:]]*)?token[[:space:]]*='
const FOR_MORE_NAMES = ';[[:space:]]*[dD][oO][mM][aA][iI][nN][[:space:]]*='

/**
 * A service at the console's own host runs in an origin of its own, so that it cannot act as the console; and none
 * can put another session in the place of the console's.
 */
function renderAnswers(): string {
  const sandbox = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts'
  return `  http-response add-header Content-Security-Policy "${sandbox}" if { var(txn.flags) -m sub ${FLAGS.sandbox} }
  http-response replace-header Set-Cookie '${SESSION}.*' '%[str()]' if { var(txn.flags) -m sub ${FLAGS.sandbox} }
  http-response replace-header Set-Cookie '${SESSION}.*${FOR_MORE_NAMES}.*' '%[str()]' if !is_console
  http-response del-header Clear-Site-Data if { var(txn.flags) -m sub ${FLAGS.sandbox} }
  http-response lua.log_upgrade if { status 101 }
`
}
