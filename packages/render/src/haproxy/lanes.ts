import { logFormat } from './log-format.ts'
import { renderLostAnswer } from './lost.ts'
import { FLAGS } from './maps/routes.ts'
import { type HaproxyOptions, type HaproxyPaths, laneBind } from './options.ts'
import { pageStatus, renderPageBody } from './pages.ts'

/**
 * Dials for what must not be sent twice, and for what has failed once. When a service closes without an answer, or
 * cannot be connected to, 2.6 gives a page only to the first request of a connection; every later one, and each over
 * HTTP/2, it refuses in silence, so that the visitor's browser sends it again. Here each request is the first.
 * Where it goes comes as the destination of the PROXY header, and whose it is in its unique id.
 */
export function renderOnceFrontends(options: HaproxyOptions, paths: HaproxyPaths): string {
  const { idle, body } = options.timeouts
  return [
    renderFrontend(options, paths, 'once', body),
    // A call may be silent for as long as it is open.
    renderFrontend(options, paths, 'grpc', idle),
  ].join('\n')
}

function renderFrontend(
  options: HaproxyOptions,
  paths: HaproxyPaths,
  name: 'once' | 'grpc',
  silence: number,
): string {
  return `frontend ${name}
  bind ${laneBind(options, name)}
  log-format ${logFormat(options, paths, '-')}
  error-log-format ${logFormat(options, paths, '-')}
  maxconn ${lanesOf(options)}
  timeout client ${silence}s
${renderSource()}
  http-request set-var(txn.id) fc_pp_unique_id,field(1,|)
  http-request set-var(txn.flags) fc_pp_unique_id,field(2,|)
  http-request set-var(txn.node) fc_pp_unique_id,field(3,|)
  http-request set-var(txn.path) path
  http-request set-var(txn.line) method,concat(" ",txn.path)
${renderStreamNote()}
${renderLostAnswer()}
${renderSilence(paths)}
  acl is_console var(txn.flags) -m sub ${FLAGS.console}
  acl is_https var(txn.flags) -m sub ${FLAGS.https}
  http-request set-var(txn.host) req.fhdr(host),host_only,lower,rtrim(.)
  acl is_address var(txn.host) -m reg '^([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[.*\\])$'
  http-request set-var(txn.sni) var(txn.host) unless is_address
${
  name === 'grpc'
    ? `  use_backend grpc_https if is_https
  default_backend grpc_http`
    : `  use_backend once_console if is_console
  use_backend once_https if is_https
  default_backend once_http`
}
`
}

/** A request that has waited for a node in vain comes here again, when the node may be known to be down. */
function renderSilence(paths: HaproxyPaths): string {
  const page = renderPageBody(paths.page('tunnel-down'))
  return `  http-request set-var(txn.why) str(tunnel) if { var(txn.node),map_str(${paths.nodes}) -m str down }
  http-request return status ${pageStatus('tunnel-down')} ${page} if { var(txn.why) -m str tunnel }`
}

/** Writing an address takes HAProxy as long as three checks, so it is done once for each connection. */
export function renderSource(): string {
  return '  tcp-request session set-var-fmt(sess.source) "%[src]"'
}

/** Notes whose stream this is and who is behind it, for whoever ends the streams of a service. */
export function renderStreamNote(condition = ''): string {
  return `  http-request set-var-fmt(txn.stream) %rt,%[var(sess.source)]
  http-request track-sc1 var(txn.stream) table streams ${condition}
  http-request sc-set-gpt0(1) var(txn.id) unless { var(txn.flags) -m sub ${FLAGS.agent} }`
}

/** Requests on their way to a service that are not sent twice, at the same time. */
export function lanesOf({ maxConnections }: HaproxyOptions): number {
  return Math.ceil(maxConnections / 4)
}
