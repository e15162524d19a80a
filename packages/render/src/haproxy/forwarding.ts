import { SESSION_KEY_HEADER } from '@postern/contract/auth'
import { SESSION_PATTERN } from './lua/session.ts'
import { FLAGS, routeField } from './maps/routes.ts'
import type { HaproxyOptions } from './options.ts'
import { renderCostly } from './rates.ts'

/** Programs fold other characters into one too, when they make names of variables out of those of headers. */
const GAP = '[^a-z0-9]'

/**
 * What a visitor may not say: who and where it is, what it asked for, and who has signed in, by our names and by those of
 * other proxies. `X-Auth-Token`, `X-Auth-Key` and the like are what programs show to an API.
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
  'x-original-url',
  'x-rewrite-url',
  'proxy',
  'remote-.*',
  'x-auth-request-.*',
  'x-postern-.*',
  'x-webauth-.*',
]
/** What is between a visitor and this proxy alone. */
const HOP_BY_HOP = ['keep-alive', 'proxy-connection', 'http2-settings']

/** Matched from the start, each alternative by one way only: linear. */
const CUT = `^(${[...FORGED, ...HOP_BY_HOP].map((name) => name.replaceAll('-', GAP)).join('|')})$`

/** Cutting a session out of so much takes Lua as long as several other requests do. */
const [LONG_COOKIE, LONG_QUERY, MANY_COOKIES] = [4096, 1024, 20]

/** Before it is known whether a source has asked too often. Signed-in visitors have one short cookie. */
export function renderCostlyCuts(options: HaproxyOptions): string {
  return `  acl has_long_cookies req.fhdr(cookie),length gt ${LONG_COOKIE}
  acl has_long_cookies req.fhdr_cnt(cookie) gt ${MANY_COOKIES}
${renderCostly(options, 'has_long_cookies has_session')}
${renderCostly(options, `{ query,length gt ${LONG_QUERY} } { query -m reg -i '${SESSION_PATTERN}' }`)}`
}

/** What kind of service and of request it is. */
export function renderKind(): string {
  return `  acl is_console var(txn.flags) -m sub ${FLAGS.console}
  acl is_https var(txn.flags) -m sub ${FLAGS.https}
  acl is_grpc req.fhdr(content-type) -m reg -i '^application/grpc([+;]|$)'`
}

/** What does not cross to a service of what the visitor sent. */
export function renderCuts(): string {
  return `  # The second half of the console's sessions is the server's to read, and nobody else's.
  http-request set-var(txn.half) req.fhdr(${SESSION_KEY_HEADER}) if is_console !is_plain
  http-request del-header ${CUT} -m reg unless is_plain
  http-request set-header ${SESSION_KEY_HEADER} %[var(txn.half)] if { var(txn.half) -m found }
${renderHopByHop()}
${renderDestination()}
  http-request lua.cut_session_cookie if !is_console { req.fhdr(cookie) -m reg -i '${SESSION_PATTERN}' }
  http-request set-var(txn.query) query,lua.cut_session if !is_console { query -m reg -i '${SESSION_PATTERN}' }
  http-request set-pathq %[path] if { var(txn.query) -m found }
  http-request set-pathq %[path]?%[var(txn.query)] if { var(txn.query) -m len gt 0 }
${renderStripped()}`
}

/**
 * A path without its service's prefix, behind all that is decided by the whole. Every reading of it begins with that
 * prefix (0010). Of slashes behind it one is left: two would be the beginning of a host, where a service redirects.
 */
function renderStripped(): string {
  return `  http-request set-var(txn.prefix) var(txn.route),${routeField('prefix')}
  acl is_stripped var(txn.prefix) -m len gt 0
  http-request set-var-fmt(txn.rest) "%[var(txn.prefix)]|%[path]" if is_stripped
  http-request set-var(txn.rest) "var(txn.rest),regsub('^([^|]*)[|]\\\\1[/\\\\\\\\]*','/')" if is_stripped
  http-request set-path %[var(txn.rest)] if is_stripped
  http-request set-header X-Forwarded-Prefix %[var(txn.prefix)] if is_stripped`
}

/** What we say of the visitor, behind all that the visitor sent. */
export function renderSaid({ httpsPort }: HaproxyOptions): string {
  return `  http-request add-header X-Forwarded-For %[var(sess.source)]
  http-request add-header X-Real-IP %[var(sess.source)]
  http-request add-header X-Forwarded-Proto https
  http-request add-header X-Forwarded-Host %[req.fhdr(host)]
  http-request add-header X-Forwarded-Port ${httpsPort}`
}

/** A name in `Connection` would make the next proxy drop that header, also one of ours. */
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

/** WebDAV names the target of MOVE and COPY by its whole address, which services compare with their own. */
function renderDestination(): string {
  return `  acl has_destination req.fhdr(destination) -m beg -i https://
  http-request set-var(txn.visited) req.fhdr(host),lower if !is_plain has_destination
  acl stays_here req.fhdr(destination),field(3,/),lower,strcmp(txn.visited) eq 0
  http-request replace-header Destination (?i)^https:(.*)$ http:\\1 if !is_plain has_destination stays_here !is_https`
}
