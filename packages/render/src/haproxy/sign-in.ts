import { SIGN_IN } from '@postern/contract/sign-in'
import { FLAGS } from './maps/routes.ts'
import { type HaproxyOptions, type HaproxyPaths, socketInside } from './options.ts'
import { renderCostly } from './rates.ts'

/** How long copies of the public keys are good; a new one is shown a day before it signs. */
const KEYS_SECONDS = 3600
/** The longest address that a visitor comes back to after sign-in; for a longer one it is the front page. */
const MAX_WANTED = 4096

/** The addresses of the flow at every domain with sign-in lead to the server, whatever else is published there. */
export function renderSignInPaths(paths: HaproxyPaths): string {
  const all = Object.values(SIGN_IN.paths).join(' ')
  return `  acl is_sign_in_path path -m str ${all}
  http-request set-var(txn.route) str(d),concat(,sess.site),map_str(${paths.signIn}) if is_sign_in_path`
}

/**
 * Who comes to a service that requires sign-in: `txn.member` is the entry of the list by which a visitor may come in,
 * or `-` where nobody has to sign in. A session counts only when its seal is right, the domain that has its entry is
 * this one, and its end is neither past nor further away than any session's: each rule that fails leaves a visitor who
 * has not signed in.
 */
export function renderSession(options: HaproxyOptions, paths: HaproxyPaths): string {
  const find = (key: string, variable: string) => `str(${key}),concat(,${variable}),map_str(${paths.signIn})`
  return `  acl is_guarded var(txn.flags) -m sub ${FLAGS.guarded}
  acl has_list var(txn.list) -m len gt 0
  acl is_sealed var(txn.sealed) -m int 1
  acl is_signed_in var(txn.member) -m int gt 0
  http-request set-var(txn.session) req.cook(${SIGN_IN.cookie}) if is_guarded { req.cook(${SIGN_IN.cookie}),length le ${SIGN_IN.maxSession} }
  acl has_visit var(txn.session) -m found
  # A look-up that finds nothing leaves a variable as it was: none may hold what a visitor said before. What is not
  # sealed is not parsed, either: a key is found by the whole first part of what it seals.
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
${renderCostly(options, 'is_guarded !is_signed_in has_list !is_odd')}
  http-request lua.find_bypass if is_guarded !is_signed_in has_list !is_odd !is_many
  http-request set-var(txn.member) var(txn.bypass) if { var(txn.bypass) -m found }`
}

/** Whoever verifies identities gets the keys also while the server is away. */
export function renderKeys(paths: HaproxyPaths): string {
  const type = 'content-type application/json'
  const headers = `hdr cache-control "public, max-age=${KEYS_SECONDS}" hdr access-control-allow-origin "*"`
  return `  acl is_keys path -m str ${SIGN_IN.paths.keys}
  acl has_keys var(txn.keys) -m found
  http-request set-var(txn.keys) str(j),map_str(${paths.signIn}),b64dec if is_keys METH_GET { var(txn.flags) -m sub ${FLAGS.console} }
  http-request return status 200 ${type} lf-string "%[var(txn.keys)]" ${headers} if has_keys`
}

/** After all other refusals: a page goes to the sign-in and comes back, a program is told so. */
export function renderSignIn(): string {
  const { paths, sessionSeconds } = SIGN_IN
  const go = (path: string, condition: string) =>
    `  http-request return status 302 hdr location "${path}?to=%[var(txn.wanted),url_enc]" hdr cache-control no-store if ${condition}`
  return `  # As a whole: a header of commas alone has thousands of values.
  acl accepts_pages req.fhdr(accept) -m sub -i text/html
  acl is_script req.fhdr_cnt(x-requested-with) gt 0
  acl is_script req.fhdr_cnt(upgrade) gt 0
  acl is_renewable var(txn.left) -m int lt ${sessionSeconds / 2}
  acl is_refused var(txn.why) -m str sign-in
  http-request set-var(txn.why) str(sign-in) if is_guarded !{ var(txn.member) -m found }
  http-request set-var(txn.wanted) str(/) if is_guarded
  http-request set-var(txn.wanted) pathq if is_guarded { pathq,length le ${MAX_WANTED} }
${go(paths.begin, 'is_refused METH_GET accepts_pages !is_script')}
  http-request return status 401 content-type application/json string '{"message":"Sign in first","code":"sign_in"}' hdr cache-control no-store if is_refused
${go(paths.renew, 'is_guarded is_signed_in is_renewable METH_GET accepts_pages !is_script { nbsrv(server_up) gt 0 }')}`
}

/** Behind the cuts, so that a visitor cannot say it. */
export function renderIdentity(): string {
  const { identityHeaders, identityToken } = SIGN_IN
  const say = (name: string, variable: string) =>
    `  http-request set-header ${name} %[var(${variable})] if is_guarded is_signed_in { var(${variable}) -m found }`
  return [...identityHeaders.map((name) => say(name, 'txn.email')), say(identityToken, 'txn.identity')].join(
    '\n',
  )
}

/** Sessions are renewed only while there is somebody to renew them. */
export function renderServerCheck(options: HaproxyOptions): string {
  return `backend server_up
  server server ${socketInside(options, options.serverSocket)} check inter 1s fall 1 rise 1
`
}
