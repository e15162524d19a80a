import { laneConnections, renderLaneBudget } from './budgets.ts'
import { COUNTS_TABLE } from './counts.ts'
import { logFormat } from './log-format.ts'
import { renderLostAnswer } from './lost.ts'
import { FLAGS } from './maps/routes.ts'
import { bareBind, type DialLane, type HaproxyOptions, type HaproxyPaths, laneBind } from './options.ts'
import { pageStatus, renderPageBody, renderRefusal } from './pages.ts'

/**
 * Dials for what must not be sent twice, and for what has failed once. When a service closes without an answer, or
 * cannot be connected to, 2.6 gives a page only to the first request of a connection; every later one, and each over
 * HTTP/2, it refuses in silence, so that the visitor's browser sends it again. Here each request is the first.
 * Where it goes comes as the destination of the PROXY header, and whose it is in its unique id; what may have a body
 * brings both in headers.
 */
export function renderOnceFrontends(options: HaproxyOptions, paths: HaproxyPaths): string {
  const { idle, body } = options.timeouts
  return [
    renderFrontend(options, paths, 'once', body),
    // A call may be silent for as long as it is open.
    renderFrontend(options, paths, 'grpc', idle),
    renderFrontend(options, paths, 'console', body),
  ].join('\n')
}

function renderFrontend(
  options: HaproxyOptions,
  paths: HaproxyPaths,
  name: DialLane,
  silence: number,
): string {
  return `frontend ${name}
  bind ${laneBind(options, name)}
  bind ${bareBind(options, `${name}-bare`)} name ${BARE}
  log-format ${logFormat(options, paths, '-')}
  error-log-format ${logFormat(options, paths, '-')}
  maxconn ${laneConnections(options, name)}
  timeout client ${silence}s
  # A place is free once its answer is handed on, also while the visitor does not read it.
  option httpclose
${renderFacts()}
${renderLaneBudget(options, name)}
  http-request set-var(txn.flags) var(txn.route),field(5,|)
  http-request set-var(txn.path) path
  http-request set-var(txn.member) var(txn.route),field(3,|) if { var(txn.route),field(3,|) -m len gt 0 }
  http-request set-var(txn.line) method,concat(" ",txn.path)
${renderStreamNote('', `unless { var(txn.flags) -m sub ${FLAGS.agent} }`)}
${renderLostAnswer()}
${renderRefusal(paths, 'requests', 'too-many-requests', 'is_many')}
${renderRefusal(paths, 'full', 'full', 'is_full')}
${renderSilence(paths)}
${name === 'grpc' ? renderEmptyAnswer() : ''}${renderNext(name)}
`
}

const BARE = 'bare'
/** Headers that no visitor can send, because the frontend cuts them, and that no service gets; as HAProxy spells names. */
const FACTS = {
  route: 'x-postern-route',
  source: 'x-postern-source',
  address: 'x-postern-address',
  port: 'x-postern-port',
}

/**
 * What a PROXY header would say. Over HTTP/2 with malformed trailers, 3.0 dies when a connection has still to send that
 * header while it has a body to send ("b_data(b) + len > b_size(b)"), so none with a body begins with one.
 * @param isDialled whether the lane dials what the route says
 */
export function renderTold(isDialled: boolean): string {
  const told: [string, string][] = [
    [FACTS.route, UNIQUE_ID],
    [FACTS.source, '%[var(sess.source)]'],
  ]
  const target: [string, string][] = [
    [FACTS.address, '%[var(txn.route),field(3,|)]'],
    [FACTS.port, '%[var(txn.route),field(4,|)]'],
  ]
  return [...told, ...(isDialled ? target : [])]
    .map(([name, value]) => `  http-request set-header ${name} ${value}`)
    .join('\n')
}

function renderFacts(): string {
  const { route, source, address, port } = FACTS
  return `  acl is_bare so_name -m str ${BARE}
  http-request set-var(txn.route) fc_pp_unique_id
  http-request set-var(txn.route) req.fhdr(${route}) if is_bare
  http-request set-src req.fhdr(${source}) if is_bare
  http-request set-dst req.fhdr(${address}) if is_bare { req.fhdr_cnt(${address}) gt 0 }
  http-request set-dst-port req.fhdr(${port}) if is_bare { req.fhdr_cnt(${port}) gt 0 }
  http-request del-header ^(${Object.values(FACTS).join('|')})$ -m reg if is_bare
  http-request set-var-fmt(sess.source) "%[src]"`
}

function renderNext(name: DialLane): string {
  if (name === 'console') return '  default_backend once_console'
  return `  acl is_https var(txn.flags) -m sub ${FLAGS.https}
  use_backend ${name}_https if is_https
  default_backend ${name}_http`
}

/** A request that has waited for a node in vain comes here again, when the node may be known to be down. */
function renderSilence(paths: HaproxyPaths): string {
  const page = renderPageBody(paths.page('tunnel-down'))
  return `  http-request set-var(txn.why) str(tunnel) if { ${NODE},map_str(${paths.nodes}) -m str down }
  http-request return status ${pageStatus('tunnel-down')} ${page} if { var(txn.why) -m str tunnel }`
}

/** Writing an address takes HAProxy as long as three checks, so it is done once for each connection. */
export function renderSource(): string {
  return '  tcp-request session set-var-fmt(sess.source) "%[src]"'
}

/**
 * Notes whose stream this is and who is behind it, for whoever ends the streams of a service.
 * @param tracked of which requests
 * @param owned which of them are ended with their service
 */
export function renderStreamNote(tracked = '', owned = tracked, member = MEMBER_NOTE): string {
  return `  http-request set-var-fmt(txn.stream) %rt,%[var(sess.source)] ${tracked}${member}
  http-request track-sc1 var(txn.stream) table streams ${tracked}
  http-request sc-set-gpt0(1) ${SERVICE} ${owned}`
}

/** Nobody signs in to what a direct request asks for. */
const MEMBER_NOTE = `
  http-request set-var-fmt(txn.stream) %[var(txn.stream)],%[var(txn.member)] if { var(txn.member) -m found }`

/** The request and all its bytes count for its service, also where a page of ours answers. */
export function renderCount(condition = ''): string {
  return `  http-request track-sc0 ${SERVICE} table ${COUNTS_TABLE} ${condition}`.trimEnd()
}

/** A lane is told the same fields of the line of the map, but where the service is. */
const SERVICE = 'var(txn.route),field(1,|)'
export const NODE = 'var(txn.route),field(2,|)'
export const UNIQUE_ID = `%[${SERVICE}]|%[${NODE}]|%[var(txn.member)]||%[var(txn.route),field(5,|)]|%[var(txn.asked)]`

/** A status that comes with the head alone must end with it, and between two parts of HAProxy only a length says so. */
function renderEmptyAnswer(): string {
  return `  http-response set-header Content-Length 0 if { res.fhdr_cnt(grpc-status) gt 0 } { internal.htx.has_eom }
`
}
