import { SIGN_IN } from '@postern/contract/sign-in/sign-in'
import { FLAGS } from './maps/routes.ts'
import type { HaproxyOptions, HaproxyPaths } from './options.ts'
import { renderCostly } from './rates.ts'
import { SERVER_UP } from './server.ts'

/** How long copies of the public keys stay valid; a new key is published a day before it signs. */
const KEYS_SECONDS = 3600
/** The longest address to which a visitor returns after sign-in; from a longer one, to the front page. */
const MAX_WANTED = 4096

/** The addresses of the flow at every domain with sign-in lead to the server, whatever else is published there. */
export function renderSignInPaths(paths: HaproxyPaths): string {
  const all = Object.values(SIGN_IN.paths).join(' ')
  return `  acl is_sign_in_path path -m str ${all}
  http-request set-var(txn.route) str(d),concat(,sess.site),map_str(${paths.signIn}) if is_sign_in_path`
}

/**
 * Who visits a service that requires sign-in: `txn.member` is the list's entry that admits the visitor, or `-` on
 * paths that need no sign-in. A session counts only if its seal is right, its entry belongs to this domain, and its
 * end is neither past nor further away than any session's: if a rule fails, the visitor is not signed in.
 */
export function renderSession(options: HaproxyOptions, paths: HaproxyPaths): string {
  const find = (key: string, variable: string) => `str(${key}),concat(,${variable}),map_str(${paths.signIn})`
  return `  acl is_guarded var(txn.flags) -m sub ${FLAGS.guarded}
  acl has_list var(txn.list) -m len gt 0
  acl is_sealed var(txn.sealed) -m int 1
  acl is_signed_in var(txn.member) -m int gt 0
  # Not by \`req.cook\`: it ends a cookie at a comma too, and takes what quotes hold for one. Pages of sibling domains can set
  # both, and so could hide a session or bring one of their own.
  http-request set-var(txn.session) "req.fhdr(cookie),regsub('^(.*;)? *${SIGN_IN.cookie}=([^;]*).*','\\\\2')" if is_guarded { req.fhdr(cookie) -m reg '(^|;) *${SIGN_IN.cookie}=' }
  http-request unset-var(txn.session) if { var(txn.session),length gt ${SIGN_IN.maxSession} }
${renderForeign()}
  http-request unset-var(txn.session) if is_foreign
  acl has_visit var(txn.session) -m found
  # A look-up that finds nothing leaves a variable as it was, so none may hold a visitor's value before it. Nothing
  # unsealed is parsed, either: a key is found by the whole first part of the session.
  http-request set-var(txn.sealer) var(txn.session),field(1,.) if has_visit
  http-request set-var(txn.key) ${find('k', 'txn.sealer')} if has_visit
  http-request set-var(txn.sealed) var(txn.session),jwt_verify(HS256,txn.key) if has_visit
  http-request set-var(txn.entry) var(txn.session),jwt_payload_query('$.member') if is_sealed
  http-request set-var(txn.home) ${find('m', 'txn.entry')} if is_sealed
  http-request set-var(txn.now) date if is_sealed
  http-request set-var(txn.left) var(txn.session),jwt_payload_query('$.exp','int'),sub(txn.now) if is_sealed
  http-request set-var(txn.member) var(txn.entry) if is_sealed { var(txn.home),strcmp(txn.host) eq 0 } { var(txn.left) -m int gt 0 } { var(txn.left) -m int le ${SIGN_IN.sessionSeconds + 60} }
  http-request set-var(txn.email) var(txn.session),jwt_payload_query('$.email') if is_signed_in
  http-request set-var(txn.identity) var(txn.session),jwt_payload_query('$.identity') if is_signed_in
${renderCostly(options, 'is_guarded !is_signed_in has_list !is_odd !is_odd_goal')}
  http-request lua.find_bypass if is_guarded !is_signed_in has_list !is_odd !is_odd_goal !is_many
  http-request set-var(txn.member) var(txn.bypass) if { var(txn.bypass) -m found }`
}

/**
 * A browser sends the session along when a page of a sibling domain opens a WebSocket or sends a form: to cookies they
 * are one site. Browsers say where a request comes from by `Sec-Fetch-Site`, older ones by `Origin` only, and programs by
 * neither.
 */
function renderForeign(): string {
  return `  acl is_reading method GET HEAD OPTIONS
  acl says_site req.fhdr_cnt(sec-fetch-site) gt 0
  acl says_origin req.fhdr_cnt(origin) gt 0
  acl is_foreign var(txn.origin) -m found
  http-request set-var(txn.origin) req.fhdr(origin),lower,regsub(^https://,),regsub(:[0-9]*$,) if is_guarded !says_site says_origin
  http-request unset-var(txn.origin) if is_foreign { var(txn.origin),strcmp(txn.host) eq 0 }
  http-request set-var(txn.origin) req.fhdr(sec-fetch-site) if is_guarded { req.fhdr(sec-fetch-site) -m str -i same-site cross-site }
  http-request unset-var(txn.origin) if is_foreign is_reading !{ req.fhdr_cnt(upgrade) gt 0 }`
}

/** Services get the keys for verifying identities even while the server is down. */
export function renderKeys(paths: HaproxyPaths): string {
  const type = 'content-type application/json'
  const headers = `hdr cache-control "public, max-age=${KEYS_SECONDS}" hdr access-control-allow-origin "*"`
  return `  acl is_keys path -m str ${SIGN_IN.paths.keys}
  acl has_keys var(txn.keys) -m found
  http-request set-var(txn.keys) str(j),map_str(${paths.signIn}),b64dec if is_keys METH_GET { var(txn.flags) -m sub ${FLAGS.console} }
  http-request return status 200 ${type} lf-string "%[var(txn.keys)]" ${headers} if has_keys`
}

/** After all other refusals: a page goes to the sign-in and comes back, a program gets a 401. */
export function renderSignIn(): string {
  const { paths, sessionSeconds } = SIGN_IN
  const go = (path: string, condition: string) =>
    `  http-request return status 302 hdr location "${path}?to=%[var(txn.wanted),url_enc]" hdr cache-control no-store if ${condition}`
  return `  # As a whole: a header of nothing but commas has thousands of values.
  acl accepts_pages req.fhdr(accept) -m sub -i text/html
  acl is_script req.fhdr_cnt(x-requested-with) gt 0
  acl is_script req.fhdr_cnt(upgrade) gt 0
  acl is_renewable var(txn.left) -m int lt ${sessionSeconds / 2}
  acl is_refused var(txn.why) -m str sign-in
  http-request set-var(txn.why) str(sign-in) if is_guarded !{ var(txn.member) -m found }
  http-request set-var(txn.why) str(origin) if is_refused is_foreign
  http-request return status 403 content-type application/json string '{"message":"A page of another site sent this","code":"origin"}' hdr cache-control no-store if { var(txn.why) -m str origin }
  http-request set-var(txn.wanted) str(/) if is_guarded
  http-request set-var(txn.wanted) pathq if is_guarded { pathq,length le ${MAX_WANTED} }
${go(paths.begin, 'is_refused METH_GET accepts_pages !is_script')}
  http-request return status 401 content-type application/json string '{"message":"Sign in first","code":"sign_in"}' hdr cache-control no-store if is_refused
${go(paths.renew, `is_guarded is_signed_in is_renewable METH_GET accepts_pages !is_script { nbsrv(${SERVER_UP}) gt 0 }`)}`
}

/** After the cuts, so that a visitor cannot set these headers. */
export function renderIdentity(): string {
  const { identityHeaders, identityToken } = SIGN_IN
  const say = (name: string, variable: string) =>
    `  http-request set-header ${name} %[var(${variable})] if is_guarded is_signed_in { var(${variable}) -m found }`
  return [...identityHeaders.map((name) => say(name, 'txn.email')), say(identityToken, 'txn.identity')].join(
    '\n',
  )
}
