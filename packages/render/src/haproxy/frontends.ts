import { renderAnswers } from './answers.ts'
import { boundRequests, consoleRequests, renderRequestBudget, renderRoomBudgets } from './budgets.ts'
import { renderBinds, renderSourceLimit } from './door.ts'
import { renderCuts } from './forwarding.ts'
import { renderSource, UNIQUE_ID } from './lanes.ts'
import { logFormat } from './log-format.ts'
import { renderLostNote } from './lost.ts'
import { FLAGS } from './maps/routes.ts'
import { type HaproxyOptions, type HaproxyPaths, laneBind } from './options.ts'
import { type PageName, renderRefusal, renderReturn } from './pages.ts'
import { IS_PROOF, renderProofAcl } from './proof.ts'
import { renderCostly } from './rates.ts'
import {
  HOST,
  MALFORMED,
  NOTE_PLAIN,
  renderDirect,
  renderHostChecks,
  renderLookup,
  renderMalformed,
  renderRouting,
} from './requests.ts'
import { renderIdentity, renderKeys, renderSignIn } from './sign-in.ts'

/** Nobody stays at the door of plain HTTP: it redirects, and proves where a domain leads. */
export function plainRoom({ maxConnections }: HaproxyOptions): number {
  return Math.ceil(maxConnections / 8)
}

export function renderFrontends(options: HaproxyOptions, paths: HaproxyPaths): string {
  return [
    `frontend http
${renderBinds(options, options.httpPort, '')}
  no log
  maxconn ${plainRoom(options)}
  timeout client ${options.timeouts.head}s
${renderSourceLimit(options, plainRoom(options))}
${renderHostChecks(paths)}
${renderMalformed()}
${NOTE_PLAIN}
  ${renderReturn(paths, 'bad-request')} if ${MALFORMED}
  http-request set-var(txn.host) ${HOST}
${renderChallengeAnswer(paths)}
${renderProofAcl()}
  http-request set-var(txn.proof) bool(true) if ${IS_PROOF}
  http-request redirect code 308 location ${redirectTarget(options)} unless { var(txn.proof) -m bool }
  default_backend proof
`,
    `frontend https
  bind ${laneBind(options, 'h1')}
  bind ${laneBind(options, 'h2')} proto h2
  # After an answer that came before the whole request.
  timeout client-fin ${options.timeouts.head}s
  maxconn ${options.maxConnections}
  log-format ${logFormat(options, paths, '%lc')}
  # For connections that never became a request: they count as well.
  error-log-format ${logFormat(options, paths, '%lc')}
${renderSource()}
  http-request set-log-level silent
  unique-id-format ${UNIQUE_ID}
${renderMalformed()}
${renderRequestBudget(options)}
${renderLookup(options, paths)}
${renderDirect(paths)}
${renderRouting(options, paths)}
${renderRefusals(options, paths)}
${renderKeys(paths)}
${renderSignIn()}
${renderCuts()}
${renderIdentity()}
${renderLostNote()}
${renderTargets()}
${renderAnswers(paths)}
${renderPatience(options)}`,
  ].join('\n')
}

/** Where authorities look (RFC 8555, 8.3). */
const CHALLENGES = '/.well-known/acme-challenge/'

/**
 * They ask at port 80, and follow redirects: a service must never answer in our place, or it could have a certificate
 * for the name signed for itself. All other paths go on. The token is the whole rest of the path; `bytes` would do, but
 * from 2.9 on it gives all of a text that is shorter than was asked for.
 */
function renderChallengeAnswer(paths: HaproxyPaths): string {
  return `  http-request set-var(txn.token) path,field(${CHALLENGES.split('/').length},/,0) if { path -m beg ${CHALLENGES} }
  http-request set-var(txn.answer) var(txn.host),concat(/,txn.token),map_str(${paths.challenges}) if { var(txn.token) -m found }
  http-request return status 200 content-type application/octet-stream lf-string %[var(txn.answer)] if { var(txn.answer) -m found }
  ${renderReturn(paths, 'unknown')} if { path -m beg ${CHALLENGES} }`
}

function redirectTarget(options: HaproxyOptions): string {
  const port = options.httpsPort === 443 ? '' : `:${options.httpsPort}`
  return `https://%[var(txn.host)]${port}%[pathq]`
}

const IS_CONSOLE = `{ var(txn.flags) -m sub ${FLAGS.console} }`

/** When there is no room, in words of `renderRequestBudget`. */
function fullRooms(options: HaproxyOptions): string {
  const bound = ['bound_http', 'bound_https'].map(
    (name) => `is_bound !${IS_CONSOLE} { be_conn(${name}) ge ${boundRequests(options)} }`,
  )
  const ofConsole = `${IS_CONSOLE} { be_conn(safe_console) ge ${consoleRequests(options)} }`
  return [`is_full !${IS_CONSOLE}`, ...bound, ofConsole].join(' or ')
}

function renderRefusals(options: HaproxyOptions, paths: HaproxyPaths): string {
  const refusal = (why: string, name: PageName, condition: string) =>
    renderRefusal(paths, why, name, condition)
  return [
    `  acl is_allowed var(txn.verdict) -m str allow
  http-request set-var(txn.verdict) lua.ip_verdict if has_list`,
    refusal('source', 'too-many', 'is_over'),
    renderRoomBudgets(options, IS_CONSOLE),
    renderCostly(options, IS_CONSOLE),
    refusal('requests', 'too-many-requests', 'is_many'),
    refusal('full', 'full', fullRooms(options)),
    refusal('blocked', 'forbidden', 'has_list !is_allowed'),
    refusal('disabled', 'disabled', `{ var(txn.flags) -m sub ${FLAGS.disabled} }`),
    refusal('tunnel', 'tunnel-down', 'is_down'),
    refusal('unresolved', 'unresolved', `{ var(txn.flags) -m sub ${FLAGS.unreachable} }`),
  ].join('\n')
}

/**
 * After an answer that came before the whole request, 2.6 gives a visitor `timeout client-fin`, and later releases
 * `timeout client`. So there that one is short, and whoever reads an answer or is silent in a call has more.
 */
function renderPatience({ timeouts }: HaproxyOptions): string {
  return `.if version_atleast(2.9)
  timeout client ${timeouts.body}s
  http-request set-timeout client ${timeouts.idle}s unless is_plain
  http-response set-timeout client ${timeouts.idle}s
  http-response set-timeout client ${timeouts.body}s if { var(txn.more) -m found } { status ge 400 }
.endif
`
}

function renderTargets(): string {
  return `  # Those that are handed on are in the log from there.
  http-request set-log-level silent unless is_plain or is_repeatable !has_body !is_grpc or is_bound !is_console
  use_backend safe_https if is_direct { var(txn.route) -m end |${FLAGS.https}| }
  use_backend safe_http if is_direct
  use_backend to_drain if is_lost
  use_backend to_grpc if !is_plain is_grpc !is_console
  use_backend bound_https if is_bound is_https !is_console
  use_backend bound_http if is_bound !is_console
  use_backend to_console_followed if is_followed is_console
  use_backend to_followed if is_followed
  use_backend to_console if is_console !is_plain !is_repeatable or is_console !is_plain has_body
  use_backend to_once unless is_plain or is_repeatable !has_body
  use_backend safe_console if is_console
  use_backend safe_https if is_https
  default_backend safe_http`
}
