import { renderFailure } from './backends.ts'
import { SESSION_PATTERN } from './lua/session.ts'
import { FLAGS } from './maps/routes.ts'
import type { HaproxyOptions } from './options.ts'
import { BINDING_SCHEMES } from './requests.ts'

/** What crosses from a service to a visitor. */
export function renderAnswers(options: HaproxyOptions): string {
  return `${renderFailure(options)}
${renderBeside()}
  # A service must not put a session of its choice in the place of the console's.
  http-response lua.cut_session_answer if { res.fhdr(set-cookie) -m reg -i '${SESSION_PATTERN}' } !is_console
  http-response set-var(sess.bound) bool(true) if { res.hdr(www-authenticate) -m beg -i ${BINDING_SCHEMES} }
  http-response lua.log_upgrade if { status 101 }
  # HAProxy forgets the status of an upgrade that is ended through its socket.
  http-response set-var(txn.why) str(upgraded) if { status 101 }
`
}

/**
 * What a browser keeps for the whole host when one answer says it: reports to strangers, rules for later requests,
 * other servers, workers, cookies.
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
 * A service at a host of the console runs in an origin of its own, so that it cannot act as the console, and what it
 * answers ends with the answer.
 */
function renderBeside(): string {
  const isBeside = `{ var(txn.flags) -m sub ${FLAGS.beside} }`
  return `  http-response add-header Content-Security-Policy "${SANDBOX}" if ${isBeside}
  http-response del-header ^(${LASTING.join('|')})$ -m reg if ${isBeside}`
}
