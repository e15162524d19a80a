import { renderStreamNote } from './lanes.ts'
import { OWN_HOST } from './maps/routes.ts'
import type { HaproxyOptions, HaproxyPaths } from './options.ts'
import { renderRefusal, renderReturn } from './pages.ts'

/** Bytes of a request's head that pass. What `tune.bufsize` holds is more, so that the rest gets an answer too. */
const MAX_HEAD = 30_720
/** Each of up to 256 headers has four characters more in the head than HAProxy counts: `: ` and the end of the line. */
const QUITE_LARGE = MAX_HEAD - 2048
/** A name has up to 253 characters; a dot and a port may follow. */
const MAX_HOST = 260
/** Of a path. Longer than that of any route, and than a log shows. */
const [MAX_ROUTE_PATH, MAX_LOGGED_PATH, MAX_ODD_PATH] = [256, 1500, 8192]

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'

/**
 * By these, programs read one path in several ways: encoded characters that routes, slashes, dots and parameters are
 * made of, parameters, backslashes, doubled slashes and dot segments. Nothing in it repeats, so it is linear.
 */
const ODD = '%(00|2[5d-f]|[3-7])|[;\\\\]|//|/[.][.]?(/|$)'

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

/** One host in its one spelling, before anything is decided by it. */
export function renderHostChecks(paths: HaproxyPaths): string {
  const refuse = renderReturn(paths, 'bad-request')
  return `  acl is_name req.fhdr(host) -m reg -i '^(${LABEL}\\.)*${LABEL}\\.?(:[0-9]{1,5})?$'
  acl is_ipv6 req.fhdr(host) -m reg -i '^\\[[0-9a-f:]{2,39}(\\.[0-9]{1,3}){0,3}\\](:[0-9]{1,5})?$'
  ${refuse} unless { req.fhdr_cnt(host) 1 } { req.fhdr(host),length le ${MAX_HOST} }
  ${refuse} unless is_name or is_ipv6
  http-request set-var(txn.host) req.fhdr(host),host_only,lower,rtrim(.)`
}

/** The `acl` of requests that no service takes, whatever they ask for, and of those that need no closer look. */
export function renderMalformed(): string {
  return `  acl is_repeatable method GET HEAD OPTIONS
  acl has_plain_headers req.hdr_names -m reg -i '^(${PLAIN_HEADERS})(,(${PLAIN_HEADERS}))*$'
  http-request set-var(txn.plain) bool(true) if is_repeatable has_plain_headers
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
  # 2.6 counts a length modulo 2^64 and reads \`chunked,\` as chunked, but hands on what the visitor wrote.
  acl is_long req.fhdr(content-length) -m len gt 15
  acl is_unreadable method CONNECT
  acl is_unreadable url -m sub '#'
  acl is_unreadable req.hdrs -m reg '\\x00'`
}

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
 * The route by the path as it came. Where programs may read the path in another way, it has to lead to the same rules
 * in all of them. The service gets the visitor's own spelling.
 */
export function renderRouting(options: HaproxyOptions, paths: HaproxyPaths): string {
  return `  acl is_address var(txn.host) -m reg '^([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-f:.]*\\])$'
  acl is_own_host var(txn.host) -m str ${options.publicHost.toLowerCase()}
  acl is_bound var(sess.bound) -m bool
  acl has_body req.fhdr(content-length) -m int gt 0
  acl has_body req.fhdr(transfer-encoding) -m found
  acl is_odd path -m reg -i '${ODD}'
  acl is_short path,length le ${MAX_ODD_PATH}
  http-request set-var(txn.site) var(txn.host)
  http-request set-var(txn.site) str(${OWN_HOST}) if is_address or is_own_host
  http-request set-var(txn.path) str(/)
  http-request set-var(txn.path) path,bytes(0,${MAX_LOGGED_PATH}) if has_path
  http-request set-var(txn.prefix) var(txn.path),bytes(0,${MAX_ROUTE_PATH})
  http-request set-var(txn.key) var(txn.site),concat(,txn.prefix,/)
  http-request set-var(txn.route) var(txn.key),map_beg(${paths.routes})
  http-request lua.compare_spellings if is_odd is_short
  ${renderReturn(paths, 'unknown')} unless { var(txn.route) -m found }
  http-request set-log-level info
  http-request set-var(txn.id) var(txn.route),field(1,|)
  http-request set-var(txn.node) var(txn.route),field(2,|)
  http-request set-var(txn.flags) var(txn.route),field(5,|)
  http-request set-var(txn.list) var(txn.route),field(6,|)
  http-request set-var(txn.line) method,concat(" ",txn.path)
${renderRefusal(paths, 'request', 'bad-request', MALFORMED)}
  # Names, values and the address alone: a quick look that spares nearly all the exact one.
  acl is_long_head internal.htx.data gt ${QUITE_LARGE}
  http-request set-var(txn.length) url,length if is_long_head
${renderRefusal(paths, 'large', 'too-large', `is_long_head { req.hdrs,length,add(txn.length) gt ${MAX_HEAD} }`)}
${renderRefusal(paths, 'path', 'bad-request', 'is_odd !{ var(txn.spellings) -m str same }')}
${renderStreamNote('if is_plain or is_repeatable !has_body or is_bound')}`
}
