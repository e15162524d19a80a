import { SESSION_PATTERN } from './lua/session.ts'
import { FLAGS, OWN_HOST, routeField } from './maps/routes.ts'
import type { HaproxyOptions, HaproxyPaths } from './options.ts'
import { renderRefusal, renderReturn } from './pages.ts'
import { renderCostly } from './rates.ts'
import { renderSession, renderSignInPaths } from './sign-in.ts'
import { NODE, renderCount, renderStreamNote } from './streams.ts'

/** Bytes of a request's head that pass. What `tune.bufsize` holds is more, so that the rest gets an answer too. */
const MAX_HEAD = 30_720
/** Each of up to 256 headers has four characters more in the head than HAProxy counts: `: ` and the end of the line. */
const QUITE_LARGE = MAX_HEAD - 2048
/** A name has up to 253 characters; a dot and a port may follow. */
const MAX_HOST = 260
/** Bytes of a path: more than any route has. */
const MAX_LOGGED_PATH = 1500
/** Bytes of a path that can be read in several ways, which takes Lua up to 700 µs for so many. */
const MAX_ODD_PATH = 1024

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'

/**
 * By these, programs read one path in several ways: encoded characters that routes, slashes, dots and parameters are
 * made of or end at, encoded control characters, the escapes of IIS (`%u0061`), parameters, backslashes, doubled slashes,
 * and names that end with dots or blanks. Nothing in it repeats, so it is linear. HAProxy refuses control characters that
 * are not encoded.
 */
const ODD = '%([01]|2[35d-f]|[3-7]|u[0-9a-f])|[;\\\\]|//|([.]|%20)(/|$)'

/**
 * Headers that no rule here cuts, rewrites or decides by, as browsers and programs send them. A safe request with these
 * alone is *plain*: the rules for all others are skipped. What is not named goes through every rule.
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

/** How a visitor signs in whose connection is the sign-in: the beginnings of the schemes' names. */
export const BINDING_SCHEMES = 'NTLM Nego Kerberos CredSSP'

/** One host in its one spelling, before anything is decided by it. */
export const HOST = 'req.fhdr(host),host_only,lower,rtrim(.)'

/** @param condition when the host has to be looked at */
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

/** The `acl` of requests that no service takes, whatever they ask for, and of those that need no closer look. */
export function renderMalformed(): string {
  return `  acl is_repeatable method GET HEAD OPTIONS
  # Of HTTP/2 a body may come that no header tells of.
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
  acl is_unreadable url -m sub '#'
  acl is_unreadable req.hdrs -m reg '\\x00'`
}

/** Before the first rule that asks whether a request is plain. */
export const NOTE_PLAIN =
  '  http-request set-var(txn.plain) bool(true) if is_repeatable is_whole has_plain_headers'

/** When a request is malformed, in the words of `renderMalformed`. */
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
 * The route by the host and by the path as it came. What a host means is kept for the connection, since most ask for
 * one only. It is good until the first rule that may wait, while another request of the connection comes by.
 */
export function renderLookup(options: HaproxyOptions, paths: HaproxyPaths): string {
  return `  http-request set-var(txn.new) bool(true) unless { req.fhdr_cnt(host) 1 } { req.fhdr(host),strcmp(sess.said) eq 0 }
  acl is_new var(txn.new) -m found
${renderHostChecks(paths, 'is_new')}
  acl is_address var(sess.host) -m reg '^([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-f:.]*\\])$'
  acl is_own_host var(sess.host) -m str ${options.publicHost.toLowerCase()}
  http-request unset-var(sess.said) if is_new
  http-request set-var(sess.host) ${HOST} if is_new
  http-request set-var(sess.site) var(sess.host) if is_new
  http-request set-var(sess.site) str(${OWN_HOST}) if is_new is_address or is_new is_own_host
  http-request set-var(sess.said) req.fhdr(host) if is_new
  http-request set-var(txn.path) path,bytes(0,${MAX_LOGGED_PATH})
  http-request set-var(txn.path) str(/) unless has_path
  http-request set-var(txn.line) method,concat(" ",txn.path)
  http-request set-var(txn.route) var(sess.site),concat(,txn.path,/),map_beg(${paths.routes})
${renderSignInPaths(paths)}`
}

/**
 * A plain request with a plain path for a service that is open to everybody goes at once. It needs no other rule, and
 * what may need one goes through all of them.
 */
export function renderDirect(paths: HaproxyPaths): string {
  return `  acl is_open var(txn.route) -m end || |${FLAGS.https}|
  acl is_down ${NODE},map_str(${paths.nodes}) -m str down
  acl is_over var(sess.over) -m found
  # Whoever has a ticket need not be asked for it first.
  http-request set-var(sess.bound) bool(true) if { req.fhdr(authorization) -m beg -i ${BINDING_SCHEMES} }
  acl is_bound var(sess.bound) -m bool
  acl is_odd path -m reg -i '${ODD}'
  # Only HTTP/2 names the host in its address as well.
  acl has_usual_form url -m beg /
  acl has_usual_form fc_http_major 2
  acl is_web_or_path url -m beg -i / http:// https://
  acl has_session req.fhdr(cookie) -m reg -i '${SESSION_PATTERN}'
  acl has_session query -m reg -i '${SESSION_PATTERN}'
  # Names, values and the address alone: a quick look that spares nearly all the exact one.
  acl is_long_head internal.htx.data gt ${QUITE_LARGE}
  http-request set-var(txn.direct) bool(true) if is_open is_repeatable is_whole has_path has_usual_form is_web_or_path has_plain_headers !is_odd !is_unreadable !is_long_head !has_session !is_bound !is_over !is_many !is_full !is_down
  acl is_direct var(txn.direct) -m found
  http-request set-log-level info if is_direct
${renderCount('if is_direct')}
${renderStreamNote('if is_direct', 'if is_direct', [])}
  http-request allow if is_direct`
}

/** Where programs may read the path in another way, it has to lead to the same rules in all of them. */
export function renderRouting(options: HaproxyOptions, paths: HaproxyPaths): string {
  return `${NOTE_PLAIN}
  acl has_body req.fhdr(content-length) -m int gt 0
  acl has_body req.fhdr(transfer-encoding) -m found
  # What follows the head of a WebSocket is none.
  http-request set-var(txn.more) bool(true) if !is_plain !is_whole !{ req.fhdr_cnt(upgrade) gt 0 }
  acl has_body var(txn.more) -m found
  acl is_short path,length le ${MAX_ODD_PATH}
  http-request set-var(txn.site) var(sess.site)
  http-request set-var(txn.host) var(sess.host)
${renderCostly(options, 'is_odd is_short')}
  http-request lua.compare_spellings if is_odd is_short !is_many
  ${renderReturn(paths, 'unknown')} unless { var(txn.route) -m found }
  http-request set-log-level info
${renderCount()}
  http-request set-var(txn.flags) var(txn.route),${routeField('flags')}
  http-request set-var(txn.list) var(txn.route),${routeField('list')}
${renderRefusal(paths, 'request', 'bad-request', MALFORMED)}
  http-request set-var(txn.length) url,length if is_long_head
${renderRefusal(paths, 'large', 'too-large', `is_long_head { req.hdrs,length,add(txn.length) gt ${MAX_HEAD} }`)}
${renderRefusal(paths, 'path', 'bad-request', 'is_odd !is_many !{ var(txn.spellings) -m str same }')}
${renderSession(options, paths)}
${renderStreamNote('', `unless { var(txn.flags) -m sub ${FLAGS.agent} }`)}`
}
