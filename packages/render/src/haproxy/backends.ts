import { renderSaid } from './forwarding.ts'
import { routeField } from './maps/routes.ts'
import { type HaproxyOptions, type HaproxyPaths, laneBind, laneServer } from './options.ts'
import { pageStatus, renderReturn } from './pages.ts'
import { renderProofBackend } from './proof.ts'
import { HOST } from './requests.ts'
import { renderServerCheck, renderServers, serversOf } from './server.ts'

/** HAProxy checks this often, and closes half of the connections that were idle since its last check. */
const IDLE_SECONDS = 60

/** For each kind of backend. */
function idleConnections({ maxConnections }: HaproxyOptions): number {
  return Math.ceil(maxConnections / 8)
}

const RETRYING = ['safe_http', 'safe_https', 'safe_console']

export function allIdleConnections(options: HaproxyOptions): number {
  return RETRYING.length * idleConnections(options)
}

/**
 * Safe methods may be sent twice, so they take any idle connection. If that one is dead, or no connection is made,
 * the request goes once more, over a new one. Connections stay open for at least a minute, so that a page that asks
 * now and then does not pay for a new one through the tunnel each time. The kernel gives a connection up (`tcp-ut`),
 * because then HAProxy has a reason to show the visitor; after its own connect timeout it answers without a page,
 * except to the first request of a connection. The head of the request, which is all that is sent there, has the same
 * time to arrive.
 */
function renderRetrying(name: string, server: string, options: HaproxyOptions, limit = ''): string {
  return `backend ${name}
${renderTarget(server, options)}
${ABORTS}
  http-reuse always
  retries 1
  retry-on conn-failure empty-response
  option redispatch -1
  # Only a request that has failed there goes by the other one.
  use-server target if TRUE
  server target ${server} pool-purge-delay ${IDLE_SECONDS}s pool-max-conn ${idleConnections(options)}${limit}
  server again ${server} pool-max-conn 0${limit}
`
}

/**
 * Other requests are never sent twice, nor over an idle connection that the service may just be closing. One that
 * could not be sent, because no connection was made, goes to `unsent`, which answers with a page.
 */
function renderOnce(name: string, server: string, options: HaproxyOptions, leaves = ABORTS): string {
  return `backend ${name}
${renderTarget(server, options)}
${leaves}
  http-reuse never
  option http-server-close
  retries 1
  option redispatch -1
  use-server target if TRUE
  server target ${server}
  server ${UNSENT} ${laneServer(options, 'unsent')}
`
}

/**
 * The same to the server, whose socket takes a connection or refuses it at once. With several servers, one that takes none
 * leaves the request to the next.
 */
function renderOnceConsole(options: HaproxyOptions): string {
  const servers = serversOf(options)
  return `backend once_console
${renderSaid(options)}
${ABORTS}
  http-reuse never
  option http-server-close
  retries ${servers.length - 1}
${renderServers(options)}
`
}

/** Requests that may be sent twice, to one of several servers: a failed one goes to the next. */
function renderSafeConsole(options: HaproxyOptions): string {
  const servers = serversOf(options)
  const [first = ''] = servers
  if (servers.length === 1) return renderRetrying('safe_console', first, options)
  const pool = ` pool-purge-delay ${IDLE_SECONDS}s pool-max-conn ${idleConnections(options)}`
  return `backend safe_console
${renderSaid(options)}
${ABORTS}
  http-reuse always
  retries ${servers.length - 1}
  retry-on conn-failure empty-response
${renderServers(options, pool)}
`
}

/**
 * Where sign-in is tied to the connection (NTLM, Negotiate), all requests of a visitor's connection use one
 * connection to the service, which HAProxy shares with nobody else. By default it does so only after a challenge, and
 * a Kerberos ticket gets none.
 */
function renderBound(name: string, server: string, options: HaproxyOptions): string {
  return `backend ${name}
${renderTarget(server, options)}
${ABORTS}
  http-reuse never
  retries 0
  server target ${server}
`
}

/** A visitor who has left holds no place. */
const ABORTS = '  option abortonclose'
/**
 * The visitor's side of an upgrade may end before the answer, although the visitor has not left. So only the timeout
 * for the answer frees the place of one who has; after the upgrade, `timeout tunnel` counts.
 */
const stays = ({ timeouts }: HaproxyOptions) => `  no option abortonclose
  timeout server ${timeouts.body}s`

const UNSENT = 'unsent'
/** Answers at the same time; each takes a moment. */
const MAX_UNSENT = 100

/** A request that comes here is the first of its connection, and gets the page of its route. */
function renderUnsent(options: HaproxyOptions, paths: HaproxyPaths): string {
  return `frontend unsent
  bind ${laneBind(options, 'unsent')}
  no log
  maxconn ${MAX_UNSENT}
  # A visitor who is slow with the rest of a body has already got the page.
  timeout client 1s
  ${renderReturn(paths, 'unreachable')}
`
}

/** How long HAProxy tries to connect, in ms. */
const giveUp = ({ connectTimeout }: HaproxyOptions) => connectTimeout * 1000 - 250

/**
 * Why no connection was made, in HAProxy's own letters: one that took the whole time for connecting was not refused.
 */
export function renderFailure(options: HaproxyOptions): string {
  return `  acl is_unsent srv_name -m str ${UNSENT}
  acl is_answered var(txn.answered) -m found
  http-response set-var(txn.answered) bool(true) unless is_unsent
  http-response set-var(txn.end) str(SC) if is_unsent !is_https
  # The service may have accepted the connection and not spoken TLS.
  http-response set-var(txn.end) str(xC) if is_unsent is_https
  http-after-response set-var(txn.end) str(sC) if { status ${pageStatus('unreachable')} } !is_answered { req.timer.queue -m int ge ${giveUp(options) / 2} }`
}

const ANY = '0.0.0.0:0'
/** A resumed session would send its name even where the backend is an address, which has none. */
const TLS = 'ssl verify none no-ssl-reuse sni var(txn.sni)'

/** The address to dial and the server name to send, from the route of the request. */
function renderTarget(server: string, options: HaproxyOptions): string {
  const destination = server.startsWith(ANY) ? `\n${renderDestination()}` : ''
  return `${renderSaid(options)}${destination}${renderServerName(server)}`
}

function renderDestination(): string {
  const rules = [
    `set-dst var(txn.route),${routeField('address')}`,
    `set-dst-port var(txn.route),${routeField('port')}`,
  ]
  return rules.map((rule) => `  http-request ${rule}`).join('\n')
}

function renderServerName(server: string): string {
  if (!server.includes(TLS)) return ''
  return `
  acl is_address ${HOST} -m reg '^([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[.*\\])$'
  http-request set-var(txn.sni) ${HOST} unless is_address`
}

/** The frontend has set where each request goes. */
export function renderBackends(options: HaproxyOptions, paths: HaproxyPaths): string {
  const limit = ` tcp-ut ${giveUp(options)}ms`
  const https = `${ANY} ${TLS}`
  return [
    renderRetrying('safe_http', ANY, options, limit),
    renderRetrying('safe_https', https, options, limit),
    renderSafeConsole(options),
    renderBound('bound_http', ANY, options),
    renderBound('bound_https', https, options),
    renderOnce('upgrade_http', ANY, options, stays(options)),
    renderOnce('upgrade_https', https, options, stays(options)),
    renderOnce('once_http', ANY, options),
    renderOnce('once_https', https, options),
    renderOnceConsole(options),
    renderOnce('grpc_http', `${ANY} proto h2`, options),
    renderOnce('grpc_https', `${https} alpn h2`, options),
    renderUnsent(options, paths),
    renderProofBackend(options),
    renderServerCheck(options),
    `# The service of each open stream, so that ending a service ends its connections and no others.
backend streams
  stick-table type string len 80 size 200k expire 1s store gpt0
`,
  ].join('\n')
}
