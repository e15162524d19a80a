import { renderAnswers } from './answers.ts'
import { isIn, NO_ROOM, renderRequestBudget, renderRooms } from './budgets.ts'
import { renderBinds, renderConsoleShare, renderSourceLimit } from './connections.ts'
import { renderCostlyCuts, renderCuts, renderKind } from './forwarding.ts'
import { renderHealthAnswer } from './health.ts'
import { logFormat, renderLoggedQuery } from './log-format.ts'
import { FLAGS } from './maps/routes.ts'
import type { HaproxyOptions, HaproxyPaths } from './options.ts'
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
import { renderSource } from './streams.ts'

/** Plain HTTP only redirects, and proves where a domain leads. */
export function plainRoom({ maxConnections }: HaproxyOptions): number {
  return Math.ceil(maxConnections / 8)
}

export function renderFrontends(options: HaproxyOptions, paths: HaproxyPaths): string {
  return [
    `frontend http
${renderBinds(options, options.httpPort, '')}
  no log
  # One request for each connection, so that the limits of connections hold for requests as well.
  option httpclose
  option disable-h2-upgrade
  maxconn ${plainRoom(options)}
  timeout client ${options.timeouts.head}s
${renderSourceLimit(options, plainRoom(options))}
${renderHostChecks(paths)}
${renderMalformed()}
${NOTE_PLAIN}
  ${renderReturn(paths, 'bad-request')} if ${MALFORMED}
  http-request set-var(txn.host) ${HOST}
${renderHealthAnswer(paths)}
${renderChallengeAnswer(paths)}
${renderProofAcl()}
  http-request set-var(txn.proof) bool(true) if ${IS_PROOF}
  http-request redirect code 308 location ${redirectTarget(options)} unless { var(txn.proof) -m bool }
  default_backend proof
`,
    `frontend https
${renderBinds(options, options.httpsPort, `ssl crt ${paths.certificate(0)} crt-list ${paths.certificateList} alpn h2,http/1.1`)}
  maxconn ${options.maxConnections}
  timeout client ${options.timeouts.body}s
  log-format ${logFormat(options, paths)}
  # For connections that never became a request: they count as well.
  error-log-format ${logFormat(options, paths)}
${renderSourceLimit(options, options.maxConnections)}
${renderConsoleShare(options, paths)}
${renderSource()}
  http-request set-log-level silent
${renderHealthAnswer(paths)}
${renderMalformed()}
${renderRequestBudget(options)}
${renderLookup(options, paths)}
${renderDirect(options, paths)}
${renderRouting(options, paths)}
${renderKind()}
${renderRefusals(options, paths)}
${renderKeys(paths)}
${renderSignIn()}
${renderCuts()}
${renderLoggedQuery(options, 'unless is_console')}${renderIdentity()}
${renderAnswers(options)}
${renderPatience(options)}
${renderTargets()}`,
  ].join('\n')
}

/** The path at which authorities look (RFC 8555, 8.3). */
const CHALLENGES = '/.well-known/acme-challenge/'

/**
 * Authorities ask at port 80, and follow redirects: a service must never answer in our place, or it could get a
 * certificate for the name. The token is the whole rest of the path; `bytes` would do, but from 2.9 on it returns all
 * of a text that is shorter than was asked for.
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

function renderRefusals(options: HaproxyOptions, paths: HaproxyPaths): string {
  const refusal = (why: string, name: PageName, condition: string) =>
    renderRefusal(paths, why, name, condition)
  return [
    `  acl is_allowed var(txn.verdict) -m str allow
  http-request set-var(txn.verdict) lua.ip_verdict if has_list`,
    refusal('source', 'too-many', 'is_over'),
    refusal('away', 'away', `{ var(txn.flags) -m sub ${FLAGS.away} }`),
    renderRooms(options),
    renderCostly(options, 'is_console'),
    renderCostlyCuts(options),
    refusal('requests', 'too-many-requests', 'is_many'),
    refusal('full', 'full', NO_ROOM),
    refusal('blocked', 'forbidden', 'has_list !is_allowed'),
    refusal('disabled', 'disabled', `{ var(txn.flags) -m sub ${FLAGS.disabled} }`),
    refusal('tunnel', 'tunnel-down', 'is_down'),
    refusal('unresolved', 'unresolved', `{ var(txn.flags) -m sub ${FLAGS.unreachable} }`),
  ].join('\n')
}

/** A silent visitor has the time for a body, or for reading. A call may be silent for as long as it is open. */
function renderPatience({ timeouts }: HaproxyOptions): string {
  return `  http-request set-timeout client ${timeouts.idle}s if ${isIn('grpc')}
  http-response set-timeout client ${timeouts.reader}s unless ${isIn('grpc')}`
}

function renderTargets(): string {
  const both = (name: string, condition: string) => `  use_backend ${name}_https if ${condition} is_https
  use_backend ${name}_http if ${condition}`
  return `  use_backend safe_https if is_direct { var(txn.route) -m end |${FLAGS.https}| }
  use_backend safe_http if is_direct
  use_backend once_console if ${isIn('console_once')}
  use_backend safe_console if ${isIn('console')}
${both('grpc', isIn('grpc'))}
${both('bound', isIn('bound'))}
${both('once', isIn('once'))}
${both('upgrade', '!is_plain has_upgrade')}
  use_backend safe_https if is_https
  default_backend safe_http`
}
