import { renderLoggedQuery } from './log-format.ts'
import { SESSION_PATTERN } from './lua/session.ts'
import { FLAGS, OWN_HOST, routeField } from './maps/routes.ts'
import { type HaproxyOptions, type HaproxyPaths, ownHosts } from './options.ts'
import { renderRefusal, renderReturn } from './pages.ts'
import { renderCostly } from './rates.ts'
import { renderSession, renderSignInPaths } from './sign-in.ts'
import { NODE, renderCount, renderStreamNote } from './streams.ts'

/**
 * The largest head of a request that passes, in bytes. `tune.bufsize` holds more, so that larger ones get an answer
 * too.
 */
const MAX_HEAD = 30_720
/** Each of up to 256 headers has four characters that HAProxy does not count: `: ` and the end of the line. */
const QUITE_LARGE = MAX_HEAD - 2048
/** A name has up to 253 characters; a dot and a port may follow. */
const MAX_HOST = 260
/** Bytes of a path for the log: more than any route has. */
const MAX_LOGGED_PATH = 1500
/** Of a method, which a visitor may make up: a longer one would leave no room for the path. */
const MAX_LOGGED_METHOD = 40
/** The longest path that may be readable in several ways, in bytes: Lua needs up to 700 µs for it. */
const MAX_ODD_PATH = 1024

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'

/**
 * With these in it, programs read one path in several ways: encoded characters that form or end routes, slashes, dots
 * and parameters, encoded control characters, the escapes of IIS (`%u0061`), parameters, backslashes, doubled
 * slashes, and names that end with dots or blanks. Nothing in it repeats, so it is linear. HAProxy refuses control
 * characters that are not encoded.
 */
const ODD = '%([01]|2[35d-f]|[3-7]|u[0-9a-f])|[;\\\\]|//|([.]|%20)(/|$)'

/**
 * Usual headers that no rule here cuts, rewrites or decides by. A safe request with only these is *plain* and skips
 * the rules for all others. A request with any other header goes through every rule.
 */
const PLAIN_HEADERS = [
  'host',
  'user-agent',
  'accept(-[a-z-]+)?',
  'cookie',
  'referer',
  'origin',
  'authorization',
  'range',
  'cache-control',
  'pragma',
  'dnt',
  'priority',
  'if-[a-z-]+',
  'sec-[a-z-]+',
  'upgrade-insecure-requests',
].join('|')

/** Schemes whose sign-in is tied to the connection: the beginnings of their names. */
export const BINDING_SCHEMES = 'NTLM Nego Kerberos CredSSP'

/** Requires one host in its one spelling, before any rule decides by it. */
export const HOST = 'req.fhdr(host),host_only,lower,rtrim(.)'

/** @param condition when the host has to be checked */
export function renderHostChecks(paths: HaproxyPaths, condition = ''): string {
  const refuse = renderReturn(paths, 'bad-request')
  const either = (...reasons: string[]) =>
    reasons.map((reason) => `${condition} ${reason}`.trim()).join(' or ')
  return `  acl has_one_host req.fhdr_cnt(host) 1
  acl is_short_host req.fhdr(host),length le ${MAX_HOST}
  acl is_name req.fhdr(host) -m reg -i '^(${LABEL}\\.)*${LABEL}\\.?(:[0-9]{1,5})?$'
  acl is_ipv6 req.fhdr(host) -m reg -i '^\\[[0-9a-f:]{2,39}(\\.[0-9]{1,3}){0,3}\\](:[0-9]{1,5})?$'
  ${refuse} if ${either('!has_one_host', '!is_short_host', '!is_name !is_ipv6')}`
}

/** The `acl`s for requests that no service accepts, and for those that need no closer look. */
export function renderMalformed(): string {
  return `  # Only these share connections to a service: some answer HEAD with a body, which the next visitor would get.
  acl is_repeatable method GET OPTIONS
  # Over HTTP/2 a body may come that no header announces.
  acl is_whole internal.htx.has_eom
  acl has_plain_headers req.hdr_names -m reg -i '^(${PLAIN_HEADERS})(,(${PLAIN_HEADERS}))*$'
  acl is_plain var(txn.plain) -m bool
  acl is_asterisk url -m str '*'
  acl is_origin_form url -m beg /
  acl is_h2 fc_http_major 2
  acl is_web url -m beg -i http:// https://
  acl has_path path -m beg /
  acl is_http10 req.ver 1.0
  acl is_coded req.fhdr_cnt(transfer-encoding) gt 0
  acl is_chunked req.fhdr(transfer-encoding) -m str -i chunked
  acl takes_codings req.fhdr_cnt(te) gt 0
  # HAProxy may count a length modulo 2^64 and read \`chunked,\` as chunked, but hands on what the visitor wrote.
  acl is_long req.fhdr(content-length) -m len gt 15
  acl is_unreadable method CONNECT
  # A program that knows HTTP/0.9 answers with the bare body, which would be read as an answer of the visitor's choice.
  acl is_unreadable req.ver -m beg 0.
  acl is_unreadable url -m sub '#'
  # Some programs end an address at a byte that others take for a letter. Over HTTP/1.1 HAProxy itself refuses these.
  acl is_unreadable url -m reg '[\\x80-\\xff]'
  # Programs disagree on control characters in a header: some refuse it, others pass it on or may end its line there.
  acl is_unreadable req.hdrs -m reg '[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]'`
}

/** Goes before the first rule that asks whether a request is plain. */
export const NOTE_PLAIN =
  '  http-request set-var(txn.plain) bool(true) if is_repeatable is_whole has_plain_headers'

/** The condition of a malformed request, by the `acl`s of `renderMalformed`. */
export const MALFORMED = [
  'is_unreadable',
  '!is_plain is_long',
  '!is_plain is_coded !is_chunked',
  '!is_plain is_http10 is_coded',
  '!is_plain is_http10 takes_codings',
  '!is_origin_form !has_path !METH_OPTIONS',
  '!is_origin_form !is_asterisk !is_h2',
  '!is_origin_form !is_asterisk !is_web',
].join(' or ')

/**
 * Finds the route by the host and the path as they came. The result for a host is kept for the connection, since most
 * ask for one host only. It is valid until the first rule that may wait, when another request of the connection may
 * change it.
 */
export function renderLookup(options: HaproxyOptions, paths: HaproxyPaths): string {
  return `  http-request set-var(txn.new) bool(true) unless { req.fhdr_cnt(host) 1 } { req.fhdr(host),strcmp(sess.said) eq 0 }
  acl is_new var(txn.new) -m found
${renderHostChecks(paths, 'is_new')}
  acl is_address var(sess.host) -m reg '^([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-f:.]*\\])$'
  acl is_own_host var(sess.host) -m str ${ownHosts(options)}
  http-request unset-var(sess.said) if is_new
  http-request set-var(sess.host) ${HOST} if is_new
  http-request set-var(sess.site) var(sess.host) if is_new
  http-request set-var(sess.site) str(${OWN_HOST}) if is_new is_address or is_new is_own_host
  http-request set-var(sess.said) req.fhdr(host) if is_new
  http-request set-var(txn.path) path,bytes(0,${MAX_LOGGED_PATH})
  http-request set-var(txn.path) str(/) unless has_path
  http-request set-var(txn.line) method,bytes(0,${MAX_LOGGED_METHOD}),concat(" ",txn.path)
  http-request set-var(txn.route) var(sess.site),concat(,txn.path,/),map_beg(${paths.routes})
${renderSignInPaths(paths)}`
}

/**
 * A plain request with a plain path for a service that is open to everybody needs no other rule and goes at once. All
 * others go through every rule.
 */
export function renderDirect(options: HaproxyOptions, paths: HaproxyPaths): string {
  return `  acl is_open var(txn.route) -m end || |${FLAGS.https}|
  acl is_down ${NODE},map_str(${paths.nodes}) -m str down
  acl is_over var(sess.over) -m found
  # A visitor may send a ticket without being asked for it.
  http-request set-var(sess.bound) bool(true) if { req.fhdr(authorization) -m beg -i ${BINDING_SCHEMES} }
  acl is_bound var(sess.bound) -m bool
  acl is_odd path -m reg -i '${ODD}'
  # Only HTTP/2 has the host in the address as well.
  acl has_usual_form url -m beg /
  acl has_usual_form fc_http_major 2
  acl is_web_or_path url -m beg -i / http:// https://
  acl has_session req.fhdr(cookie) -m reg -i '${SESSION_PATTERN}'
  acl has_session query -m reg -i '${SESSION_PATTERN}'
  # Names, values and the address only: a quick check that spares nearly all requests the exact one.
  acl is_long_head internal.htx.data gt ${QUITE_LARGE}
  http-request set-var(txn.direct) bool(true) if is_open is_repeatable is_whole has_path has_usual_form is_web_or_path has_plain_headers !is_odd !is_unreadable !is_long_head !has_session !is_bound !is_over !is_many !is_full !is_down
  acl is_direct var(txn.direct) -m found
  http-request set-log-level info if is_direct
${renderCount('if is_direct')}
${renderStreamNote('if is_direct', 'if is_direct', [])}
${renderLoggedQuery(options, 'if is_direct')}  http-request allow if is_direct`
}

/** Where programs may read the path in other ways, all readings must lead to the same rules. */
export function renderRouting(options: HaproxyOptions, paths: HaproxyPaths): string {
  return `${NOTE_PLAIN}
  acl has_body req.fhdr(content-length) -m int gt 0
  acl has_body req.fhdr(transfer-encoding) -m found
  # What follows the head of a WebSocket is no body.
  http-request set-var(txn.more) bool(true) if !is_plain !is_whole !{ req.fhdr_cnt(upgrade) gt 0 }
  acl has_body var(txn.more) -m found
  acl is_short path,length le ${MAX_ODD_PATH}
  http-request set-var(txn.site) var(sess.site)
  http-request set-var(txn.host) var(sess.host)
${renderCostly(options, 'is_odd is_short')}
  http-request lua.compare_spellings if is_odd is_short !is_many
  ${renderReturn(paths, 'unknown')} unless { var(txn.route) -m found }
  # What stands for a console elsewhere is no service.
  http-request set-log-level info unless { var(txn.route) -m beg 0| }
${renderCount()}
  http-request set-var(txn.flags) var(txn.route),${routeField('flags')}
  http-request set-var(txn.list) var(txn.route),${routeField('list')}
${renderWorkerEnd()}
${renderRefusal(paths, 'request', 'bad-request', MALFORMED)}
  http-request set-var(txn.length) url,length if is_long_head
${renderRefusal(paths, 'large', 'too-large', `is_long_head { req.hdrs,length,add(txn.length) gt ${MAX_HEAD} }`)}
${renderRefusal(paths, 'path', 'bad-request', 'is_odd !is_many !{ var(txn.spellings) -m str same }')}
${renderGoal(options, paths)}
${renderSession(options, paths)}
${renderStreamNote('', `unless { var(txn.flags) -m sub ${FLAGS.agent} }`)}`
}

/**
 * In WebDAV, MOVE and COPY name a second path, which must lead to the same route in every reading. Its host does not
 * count: some programs never look at it.
 */
function renderGoal(options: HaproxyOptions, paths: HaproxyPaths): string {
  return `  acl is_moving method,lower -m str copy move
  acl has_goals req.fhdr_cnt(destination) gt 1
  acl has_goal var(txn.goal) -m found
  acl is_odd_goal var(txn.goal) -m reg -i '${ODD}'
  acl is_odd_goal var(txn.goal) -m reg '^[^/]|[?#\\x00-\\x20\\x7f-\\xff]'
  acl is_short_goal var(txn.goal),length le ${MAX_ODD_PATH}
  http-request set-var(txn.goal) "req.fhdr(destination),regsub('^[a-z][a-z0-9+.-]*://[^/?#\\\\\\\\]+','',i)" if !is_plain is_moving
  http-request set-var(txn.reached) var(txn.site),concat(,txn.goal,/),map_beg(${paths.routes}) if has_goal !is_odd_goal
  http-request set-var(txn.aim) str(same) if has_goal !is_odd_goal { var(txn.reached),strcmp(txn.route) eq 0 }
${renderCostly(options, 'has_goal is_odd_goal is_short_goal')}
  http-request lua.compare_goal if has_goal is_odd_goal is_short_goal !is_many
${renderRefusal(paths, 'path', 'bad-request', 'has_goal has_goals or has_goal !is_many !{ var(txn.aim) -m str same }')}`
}

/**
 * Nothing at a host of the console has a service worker. A service that was alone at the name before may have left one,
 * and only the request by which the browser looks for a newer one comes past it.
 */
function renderWorkerEnd(): string {
  const answer = `content-type text/plain string "No service worker is here" hdr cache-control no-store`
  const atConsole = [FLAGS.console, FLAGS.beside].map((flag) => `{ var(txn.flags) -m sub ${flag} }`)
  return `  acl is_worker req.fhdr(service-worker) -m str -i script
  http-request return status 404 ${answer} hdr clear-site-data '"cache", "storage"' if is_worker ${atConsole.join(' or is_worker ')}`
}
