import type { HaproxyOptions } from './haproxy-config.ts'

/** Safe methods may be sent twice, so they take any idle connection and try again when it had died. */
const RETRYING = `  http-reuse always
  retry-on conn-failure empty-response
`
/** Nothing else is ever sent twice, nor over an idle connection that the service may just be closing. */
const ONCE = `  http-reuse safe
  retries 0
`
const TLS = 'ssl verify none sni var(txn.sni)'

/** One backend per protocol: the frontend has set where each request goes. */
export function renderBackends(options: HaproxyOptions): string {
  return [
    renderBackend('safe_http', RETRYING, ''),
    renderBackend('other_http', ONCE, ''),
    renderBackend('safe_https', RETRYING, TLS),
    renderBackend('other_https', ONCE, TLS),
    renderBackend('grpc_http', ONCE, 'proto h2'),
    renderBackend('grpc_https', ONCE, `${TLS} alpn h2`),
    `backend console\n${ONCE}  server server unix@${options.serverSocket}\n`,
    `# Which service each open stream belongs to, so that ending a service ends its connections and no others.
backend streams
  stick-table type string len 20 size 200k expire 10s store gpt0
`,
    `backend sources
  stick-table type ipv6 size 100k store conn_cur
`,
  ].join('\n')
}

function renderBackend(name: string, reuse: string, server: string): string {
  return `backend ${name}\n${reuse}  server target 0.0.0.0:0 ${server}`.trimEnd().concat('\n')
}
