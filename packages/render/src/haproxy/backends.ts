import { renderSaid } from './forwarding.ts'
import { renderTold } from './lanes.ts'
import { FOLLOW } from './lost.ts'
import { bareServer, type DialLane, type HaproxyOptions, laneServer, socketInside } from './options.ts'
import { renderProofBackend } from './proof.ts'
import { HOST } from './requests.ts'
import { renderServerCheck } from './sign-in.ts'

/** HAProxy looks this often, and closes half of those that were idle since its last look. */
const IDLE_SECONDS = 60

/** Per kind of backend. */
function idleConnections({ maxConnections }: HaproxyOptions): number {
  return Math.ceil(maxConnections / 8)
}

/**
 * Safe methods may be sent twice, so they take any idle connection. When that was dead, or no connection came about,
 * they go the way of all others: there HAProxy knows what to answer. Connections are kept for a minute at least, so that
 * a page that asks now and then does not pay for a new one through the tunnel each time.
 */
function renderRetrying(
  name: string,
  server: string,
  options: HaproxyOptions,
  lane: DialLane = 'once',
): string {
  return `backend ${name}
${renderTarget(server, options)}
  http-reuse always
  retries 1
  retry-on conn-failure empty-response
  option redispatch -1
  # Only what has failed there already goes by the other one.
  use-server target if TRUE
  server target ${server} weight 0 pool-purge-delay ${IDLE_SECONDS}s pool-max-conn ${idleConnections(options)}
  server again ${laneServer(options, lane)} pool-max-conn 0
`
}

/** Nothing else is ever sent twice, nor over an idle connection that the service may just be closing. */
function renderOnce(name: string, server: string, { timeouts }: HaproxyOptions): string {
  return `backend ${name}
  http-reuse never
  retries 0
  option abortonclose
  # With one, 2.6 has no limit for the visitor's silence inside a body. The lane's own ends what has no end.
  timeout server 0
  acl has_body req.fhdr(content-length) -m int gt 0
  acl has_body req.fhdr(transfer-encoding) -m found
  http-request set-timeout server ${timeouts.idle}s unless has_body${renderServerName(server)}

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
  http-reuse never
  retries 0
  server target ${server}
`
}

/**
 * To where each request is the first one of its connection.
 * @param follow what else happens on the way
 */
function renderLane(name: string, lane: DialLane, options: HaproxyOptions, follow = ''): string {
  return `backend ${name}${follow && `\n  ${follow}`}
${renderSaid(options)}
${renderTold(lane !== 'console')}
  http-reuse never
  option http-server-close
  retries 0
  server ${lane} ${bareServer(options, `${lane}-bare`)}
`
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
  const rules = ['set-dst var(txn.route),field(3,|)', 'set-dst-port var(txn.route),field(4,|)']
  return rules.map((rule) => `  http-request ${rule}`).join('\n')
}

function renderServerName(server: string): string {
  if (!server.includes(TLS)) return ''
  return `
  acl is_address ${HOST} -m reg '^([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[.*\\])$'
  http-request set-var(txn.sni) ${HOST} unless is_address`
}

/** The frontend has set where each request goes. */
export function renderBackends(options: HaproxyOptions): string {
  const server = socketInside(options, options.serverSocket)
  return [
    renderRetrying('safe_http', ANY, options),
    renderRetrying('safe_https', `${ANY} ${TLS}`, options),
    renderRetrying('safe_console', server, options, 'console'),
    renderBound('bound_http', ANY, options),
    renderBound('bound_https', `${ANY} ${TLS}`, options),
    renderLane('to_once', 'once', options),
    renderLane('to_followed', 'once', options, FOLLOW),
    renderLane('to_grpc', 'grpc', options),
    renderLane('to_console', 'console', options),
    renderLane('to_console_followed', 'console', options, FOLLOW),
    renderOnce('once_http', ANY, options),
    renderOnce('once_https', `${ANY} ${TLS}`, options),
    renderOnce('once_console', server, options),
    renderOnce('grpc_http', `${ANY} proto h2`, options),
    renderOnce('grpc_https', `${ANY} ${TLS} alpn h2`, options),
    renderProofBackend(options),
    renderServerCheck(options),
    `# Which service each open stream belongs to, so that ending a service ends its connections and no others.
backend streams
  stick-table type string len 80 size 200k expire 1s store gpt0
`,
    `backend sources
  stick-table type ipv6 size 100k store conn_cur
`,
    `backend networks
  stick-table type ipv6 size 100k store conn_cur
`,
  ].join('\n')
}
