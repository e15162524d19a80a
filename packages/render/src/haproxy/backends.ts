import { renderSaid } from './forwarding.ts'
import { routeField } from './maps/routes.ts'
import { type HaproxyOptions, type HaproxyPaths, laneBind, laneServer, socketInside } from './options.ts'
import { pageStatus, renderReturn } from './pages.ts'
import { renderProofBackend } from './proof.ts'
import { HOST } from './requests.ts'
import { renderServerCheck } from './sign-in.ts'

/** HAProxy looks this often, and closes half of those that were idle since its last look. */
const IDLE_SECONDS = 60

/** Per kind of backend. */
function idleConnections({ maxConnections }: HaproxyOptions): number {
  return Math.ceil(maxConnections / 8)
}

const RETRYING = ['safe_http', 'safe_https', 'safe_console']

export function allIdleConnections(options: HaproxyOptions): number {
  return RETRYING.length * idleConnections(options)
}

/**
 * Safe methods may be sent twice, so they take any idle connection. When that was dead, or no connection came about,
 * they go once more, over a new one. Connections are kept for a minute at least, so that a page that asks now and then
 * does not pay for a new one through the tunnel each time.
 *
 * The kernel gives a connection up (`tcp-ut`): then HAProxy knows what to tell the visitor, while a request whose
 * connecting times out it refuses without a page, unless it is the first of its connection. The head of the request,
 * which is all that is sent there, has the same time to arrive.
 */
function renderRetrying(name: string, server: string, options: HaproxyOptions, limit = ''): string {
  return `backend ${name}
${renderTarget(server, options)}
${ABORTS}
  http-reuse always
  retries 1
  retry-on conn-failure empty-response
  option redispatch -1
  # Only what has failed there already goes by the other one.
  use-server target if TRUE
  server target ${server} pool-purge-delay ${IDLE_SECONDS}s pool-max-conn ${idleConnections(options)}${limit}
  server again ${server} pool-max-conn 0${limit}
`
}

/**
 * Nothing else is ever sent twice, nor over an idle connection that the service may just be closing. What could not be
 * sent, because no connection came about, goes to `sorry`, which has the page for it.
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
  server ${SORRY} ${laneServer(options, 'sorry')}
`
}

/** The same to the server, whose socket takes a connection or refuses it at once. */
function renderOnceConsole(server: string, options: HaproxyOptions): string {
  return `backend once_console
${renderTarget(server, options)}
${ABORTS}
  http-reuse never
  option http-server-close
  retries 0
  server target ${server}
`
}

/**
 * Where the connection is the sign-in (NTLM, Negotiate) all requests of a visitor's connection take the same one of
 * the service; HAProxy gives it to nobody else. By itself it would only keep one that was answered by a challenge, which
 * a ticket of Kerberos is not.
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

/** A visitor who has left keeps no place. */
const ABORTS = '  option abortonclose'
/**
 * What follows the head of an upgrade may end before its answer, and the visitor has not left. So only its answer's time
 * frees the place of a visitor who has; once it is upgraded, `timeout tunnel` counts.
 */
const stays = ({ timeouts }: HaproxyOptions) => `  no option abortonclose
  timeout server ${timeouts.body}s`

const SORRY = 'sorry'
/** At the same time; each takes a moment. */
const SORRIES = 100

/** A request that comes here is the first of its connection, and is answered as what it is for. */
function renderSorry(options: HaproxyOptions, paths: HaproxyPaths): string {
  return `frontend sorry
  bind ${laneBind(options, 'sorry')}
  no log
  maxconn ${SORRIES}
  # Whoever is slow with the rest of a body has had the page already.
  timeout client 1s
  ${renderReturn(paths, 'unreachable')}
`
}

/** Before HAProxy gives a connection up, in ms. */
const giveUp = ({ connectTimeout }: HaproxyOptions) => connectTimeout * 1000 - 250

/** Why no connection came about, in HAProxy's own letters: what took as long as connecting may was not refused. */
export function renderFailure(options: HaproxyOptions): string {
  return `  acl is_sorry srv_name -m str ${SORRY}
  acl is_answered var(txn.answered) -m found
  http-response set-var(txn.answered) bool(true) unless is_sorry
  http-response set-var(txn.end) str(SC) if is_sorry !is_https
  # It may have taken the connection and not spoken TLS.
  http-response set-var(txn.end) str(xC) if is_sorry is_https
  http-after-response set-var(txn.end) str(sC) if { status ${pageStatus('unreachable')} } !is_answered { req.timer.queue -m int ge ${giveUp(options) / 2} }`
}

const ANY = '0.0.0.0:0'
/** A session that is resumed would bring its name along to an address, which has none. */
const TLS = 'ssl verify none no-ssl-reuse sni var(txn.sni)'

/** What is dialled and told, by the frontend's visitor and route. */
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
  const server = socketInside(options, options.serverSocket)
  const limit = ` tcp-ut ${giveUp(options)}ms`
  const https = `${ANY} ${TLS}`
  return [
    renderRetrying('safe_http', ANY, options, limit),
    renderRetrying('safe_https', https, options, limit),
    renderRetrying('safe_console', server, options),
    renderBound('bound_http', ANY, options),
    renderBound('bound_https', https, options),
    renderOnce('upgrade_http', ANY, options, stays(options)),
    renderOnce('upgrade_https', https, options, stays(options)),
    renderOnce('once_http', ANY, options),
    renderOnce('once_https', https, options),
    renderOnceConsole(server, options),
    renderOnce('grpc_http', `${ANY} proto h2`, options),
    renderOnce('grpc_https', `${https} alpn h2`, options),
    renderSorry(options, paths),
    renderProofBackend(options),
    renderServerCheck(options),
    `# Which service each open stream belongs to, so that ending a service ends its connections and no others.
backend streams
  stick-table type string len 80 size 200k expire 1s store gpt0
`,
  ].join('\n')
}
