import { renderFailure } from './backends.ts'
import { SESSION_PATTERN } from './lua/session.ts'
import { FLAGS } from './maps/routes.ts'
import type { HaproxyOptions } from './options.ts'
import { BINDING_SCHEMES } from './requests.ts'

/** Rules for what passes from a service to a visitor. */
export function renderAnswers(options: HaproxyOptions): string {
  return `${renderFailure(options)}
${renderBeside()}
${renderPrivate()}
${renderCookies()}
  # A service must not replace the console's session with one of its choice.
  http-response lua.cut_session_answer if { res.fhdr(set-cookie) -m reg -i '${SESSION_PATTERN}' } !is_console
  http-response set-var(sess.bound) bool(true) if { res.hdr(www-authenticate) -m beg -i ${BINDING_SCHEMES} }
  http-response lua.log_upgrade if { status 101 }
  # HAProxy forgets the status of an upgrade that is ended through its socket.
  http-response set-var(txn.why) str(upgraded) if { status 101 }
`
}

/** Headers that tell shared caches alone to do something else than `Cache-Control` says. */
const FOR_SHARED_CACHES = '(.+-)?cdn-cache-control|surrogate-control|edge-control|x-accel-expires'

/**
 * Many caches between visitors and this server (CDNs) keep a picture or a document without being told to, and would give
 * it to those who have not signed in.
 */
function renderPrivate(): string {
  const condition = 'is_guarded is_signed_in'
  return `  http-response del-header ^(${FOR_SHARED_CACHES})$ -m reg if ${condition}
  http-response add-header Cache-Control private if ${condition}`
}

/** An attribute of a cookie, as browsers read it. */
const SECURE = ';[ \\t]*secure[ \\t]*(?:[=;]|$)'

/**
 * Services hear plain HTTP, so many leave their cookies without `Secure`. Browsers would then send them, without TLS, to
 * every port of the host: to any TCP service, whoever's it is, and to whoever listens on the way. Visitors come with
 * TLS alone, so nothing is lost.
 */
function renderCookies(): string {
  return `  http-response replace-header Set-Cookie '(?i)^(?!.*${SECURE})(.*)$' '\\1; Secure' if !is_console`
}

/**
 * Headers with which one answer changes what a browser does at the whole host: reports to strangers, rules for later
 * requests, other servers, workers, cookies.
 */
const LASTING = [
  'nel',
  'report-to',
  'reporting-endpoints',
  'strict-transport-security',
  'public-key-pins(-report-only)?',
  'expect-ct',
  'alt-svc',
  'alternate-protocol',
  'service-worker-allowed',
  'clear-site-data',
  'accept-ch(-lifetime)?',
  'critical-ch',
  'origin-agent-cluster',
  'set-login',
  'use-as-dictionary',
  'speculation-rules',
  'sec(ure)?-session-[a-z-]+',
  'activate-storage-access',
  'set-cookie2?',
]

const SANDBOX = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts'

/**
 * A service at a host of the console runs in an origin of its own, so that it cannot act as the console, and its
 * answers have no lasting effect there.
 */
function renderBeside(): string {
  const isBeside = `{ var(txn.flags) -m sub ${FLAGS.beside} }`
  return `  http-response add-header Content-Security-Policy "${SANDBOX}" if ${isBeside}
  http-response del-header ^(${LASTING.join('|')})$ -m reg if ${isBeside}`
}
