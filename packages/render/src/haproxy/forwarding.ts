import { SESSION_KEY_HEADER } from '@postern/contract/sign-in/auth'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import { SESSION_PATTERN } from './lua/session.ts'
import { FLAGS, routeField } from './maps/routes.ts'
import type { HaproxyOptions } from './options.ts'
import { renderCostly } from './rates.ts'

/** Programs also fold other characters into one, when they turn the names of headers into those of variables. */
const GAP = '[^a-z0-9]'

/**
 * Headers that a visitor must not set: who and where it is, how it asked, and who has signed in, under our names
 * and those of other proxies. `X-Auth-Token`, `X-Auth-Key` and the like stay: programs show them to an API.
 */
const FORGED = [
  'x-forwarded.*',
  'forwarded',
  'x-real-ip',
  'x-client-ip',
  'client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'proxy',
  'remote-.*',
  'x-auth-request-.*',
  'x-postern-.*',
  'x-webauth-.*',
]
/**
 * By these, programs read another path than the one that was decided by, or cut a beginning off it: a path that needs no
 * sign-in would lead to any other.
 */
const PATHS = [
  'x-original-(ur[il]|path)',
  'x-envoy-original-path',
  'x-rewrite-ur[il]',
  'x-request-uri',
  'x-matched-path',
  'x-traversal-path',
  'x-ingress-path',
  '(x-)?script-name',
  'path-info',
  'daphne-root-path',
]
/** Headers that are only for this proxy. */
const HOP_BY_HOP = ['keep-alive', 'proxy-connection', 'http2-settings']

/** What opens the console or its API, as programs send it. */
const OUR_BEARERS = Object.values(TOKEN_PREFIXES).map((prefix) => `'Bearer ${prefix}'`)

/** Matched from the start, each alternative in one way only: linear. */
const CUT = `^(${[...FORGED, ...PATHS, ...HOP_BY_HOP].map((name) => name.replaceAll('-', GAP)).join('|')})$`

/** Above these, cutting out a session takes Lua as long as several other requests. */
const [LONG_COOKIE, LONG_QUERY, MANY_COOKIES] = [4096, 1024, 20]

/** Goes before the check whether a source has asked too often. Signed-in visitors have one short cookie. */
export function renderCostlyCuts(options: HaproxyOptions): string {
  return `  acl has_long_cookies req.fhdr(cookie),length gt ${LONG_COOKIE}
  acl has_long_cookies req.fhdr_cnt(cookie) gt ${MANY_COOKIES}
${renderCostly(options, 'has_long_cookies has_session')}
${renderCostly(options, `{ query,length gt ${LONG_QUERY} } { query -m reg -i '${SESSION_PATTERN}' }`)}`
}

/** The kind of the service and of the request. */
export function renderKind(): string {
  return `  acl is_console var(txn.flags) -m sub ${FLAGS.console}
  acl is_https var(txn.flags) -m sub ${FLAGS.https}
  acl is_grpc req.fhdr(content-type) -m reg -i '^application/grpc([+;]|$)'`
}

/** Cuts what must not pass from the visitor to a service. */
export function renderCuts(): string {
  return `  # Only the server may read the second half of the console's sessions.
  http-request set-var(txn.half) req.fhdr(${SESSION_KEY_HEADER}) if is_console !is_plain
  http-request del-header ${CUT} -m reg unless is_plain
  http-request set-header ${SESSION_KEY_HEADER} %[var(txn.half)] if { var(txn.half) -m found }
  # A program that may use the API sends its token to every path of the console's host, also to those of services.
  http-request del-header Authorization if { var(txn.flags) -m sub ${FLAGS.beside} } { req.fhdr(authorization) -m beg -i ${OUR_BEARERS.join(' ')} }
${renderHopByHop()}
${renderDestination()}
  http-request lua.cut_session_cookie if !is_console { req.fhdr(cookie) -m reg -i '${SESSION_PATTERN}' }
  http-request set-var(txn.query) query,lua.cut_session if !is_console { query -m reg -i '${SESSION_PATTERN}' }
  http-request set-pathq %[path] if { var(txn.query) -m found }
  http-request set-pathq %[path]?%[var(txn.query)] if { var(txn.query) -m len gt 0 }
${renderStripped()}`
}

/**
 * Cuts the service's prefix off the path, after all rules that need the whole. Every reading of the path begins with
 * that prefix (0010). One slash is left behind it: in a service's redirect, two would begin a host.
 */
function renderStripped(): string {
  return `  http-request set-var(txn.prefix) var(txn.route),${routeField('prefix')}
  acl is_stripped var(txn.prefix) -m len gt 0
  http-request set-var-fmt(txn.rest) "%[var(txn.prefix)]|%[path]" if is_stripped
  http-request set-var(txn.rest) "var(txn.rest),regsub('^([^|]*)[|]\\\\1[/\\\\\\\\]*','/')" if is_stripped
  http-request set-path %[var(txn.rest)] if is_stripped
  http-request set-header X-Forwarded-Prefix %[var(txn.prefix)] if is_stripped`
}

/** Our own headers about the visitor, after all that the visitor sent. */
export function renderSaid({ httpsPort }: HaproxyOptions): string {
  return `  http-request add-header X-Forwarded-For %[var(sess.source)]
  http-request add-header X-Real-IP %[var(sess.source)]
  http-request add-header X-Forwarded-Proto https
  http-request add-header X-Forwarded-Host %[req.fhdr(host)]
  http-request add-header X-Forwarded-Port ${httpsPort}`
}

/** A name in `Connection` would make the next proxy drop that header, even one of ours. */
function renderHopByHop(): string {
  return `  acl asks_upgrade req.hdr(connection) -m str -i upgrade
  acl has_upgrade req.fhdr_cnt(upgrade) gt 0
  # Inside an HTTP/2 tunnel nobody would check the requests that follow.
  http-request del-header Upgrade if !is_plain { req.fhdr(upgrade) -m sub -i h2c } or !is_plain !asks_upgrade
  http-request del-header Connection unless is_plain
  http-request set-header Connection upgrade if !is_plain has_upgrade
  http-request del-header TE unless is_plain or is_grpc { req.hdr(te) -m str -i trailers }
  http-request set-header TE trailers if !is_plain is_grpc { req.fhdr_cnt(te) gt 0 }`
}

/** In WebDAV, MOVE and COPY have the whole address of their target, which services compare with their own. */
function renderDestination(): string {
  return `  acl has_destination req.fhdr(destination) -m beg -i https://
  http-request set-var(txn.visited) req.fhdr(host),lower if !is_plain has_destination
  acl stays_here req.fhdr(destination),field(3,/),lower,strcmp(txn.visited) eq 0
  http-request replace-header Destination (?i)^https:(.*)$ http:\\1 if !is_plain has_destination stays_here !is_https`
}
