import { isDomainName } from '@postern/net/hostname'
import { isIp } from '@postern/net/ip'
import { allIdleConnections, renderBackends } from './backends.ts'
import { renderBudgetTables, requestFiles } from './budgets.ts'
import { renderCountsTable } from './counts.ts'
import { plainRoom, renderFrontends } from './frontends.ts'
import { HAPROXY_LUA } from './lua/program.ts'
import type { Digest } from './maps/lists.ts'
import { type HaproxyOptions, type HaproxyPaths, haproxyPaths, RenderError } from './options.ts'
import { type PageName, pageNames, pageStatus, renderPage, renderPageBody } from './pages.ts'
import { renderPorts } from './ports.ts'
import { COUNTERS } from './streams.ts'

/**
 * The one fixed haproxy.cfg. Services are lines of its maps and never part of it.
 * @param mark for its description, see `renderHaproxyFiles`
 * @throws RenderError when a setting has characters that it must not have
 */
export function renderHaproxyConfig(options: HaproxyOptions, mark: string): string {
  assertPlain(options)
  const paths = haproxyPaths(options.directory)
  return [
    renderGlobal(options, paths, mark),
    renderDefaults(options, paths),
    renderCountsTable(),
    renderFrontends(options, paths),
    renderPorts(options, paths),
    renderBackends(options, paths),
    renderBudgetTables(),
  ].join('\n')
}

function assertPlain(options: HaproxyOptions): void {
  const { directory, serverSocket, lanes, root, addresses, publicHost, formerHosts, logSecret } = options
  const path = /^\/[A-Za-z0-9._/-]{1,100}$/
  const isPlain =
    path.test(directory) &&
    path.test(serverSocket) &&
    path.test(lanes) &&
    path.test(root) &&
    [serverSocket, lanes].every((inner) => inner.startsWith(`${root}/`)) &&
    /^[0-9a-f]{32}$/.test(logSecret) &&
    addresses.length > 0 &&
    addresses.every(isIp) &&
    (options.farServers?.addresses ?? []).every(({ host, port }) => isIp(host) && isPort(port)) &&
    /^[a-z.]{0,60}$/.test(options.farServers?.name ?? '') &&
    options.ports.every(({ from, to }) => isPort(from) && isPort(to) && from <= to) &&
    [publicHost, ...formerHosts].every((host) => isIp(host) || isDomainName(host.toLowerCase()))
  if (!isPlain) throw new RenderError('A setting of the proxy contains characters that are not allowed')
}

const isPort = (port: number) => Number.isInteger(port) && port >= 1 && port <= 65_535

/**
 * For TLS 1.2; all suites of TLS 1.3 are of this kind. Sessions are resumed from HAProxy's memory, never with a
 * lasting key.
 */
const AEAD_SUITES = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

function renderGlobal(options: HaproxyOptions, paths: HaproxyPaths, mark: string): string {
  const user =
    options.user === null
      ? ''
      : `  chroot ${options.root}\n  uid ${options.user.uid}\n  gid ${options.user.gid}\n`
  return `global
  description ${mark || '-'}
  stats socket ${paths.socket} level admin mode 600 expose-fd listeners
  # Without it a second HAProxy would bind the same ports and split the traffic.
  noreuseport
${user}  maxconn ${allConnections(options)}
  nbthread ${options.threads}
  tune.stick-counters ${Object.keys(COUNTERS).length}
  # How long connections from before a changed setting may live on.
  hard-stop-after 15m
  # Heads of up to 30 kB pass, and larger ones up to this size get a page of ours.
  tune.bufsize 40960
  tune.http.maxhdr 256
  # A page may ask for all of its files at once; other rules count what one source has under way.
  tune.h2.max-concurrent-streams 100
  # Malformed pieces that a visitor may send on a connection over HTTP/2: programs send none.
  tune.h2.fe.glitches-threshold 100
  tune.maxrewrite 2048
  # How far an upload may be ahead: 20 MB/s at 50 ms. It waits in the kernel and takes no memory of ours. But the
  # connection's other requests wait behind an upload that a service takes slowly, so it is not more.
  tune.h2.initial-window-size 1048576
  tune.ssl.default-dh-param 2048
  ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets
  ssl-default-bind-ciphers ${AEAD_SUITES}
  setenv POSTERN_LISTS ${paths.lists}
  setenv POSTERN_ROUTES ${paths.routes}
  setenv POSTERN_LOG_SECRET ${options.logSecret}
  lua-load-per-thread ${paths.lua}

ring logs
  format raw
  maxlen 4096
  size 1048576
  timeout connect 5s
  timeout server 10s
  server edge 127.0.0.1:${options.logPort}
`
}

/** Two open files each: for the edge, for checks of the server, and for visitors who get the page about no room. */
const RESERVE = 200

/** HAProxy takes two open files for each. */
function allConnections(options: HaproxyOptions): number {
  const { maxConnections } = options
  const ofPorts = options.ports.length > 0 ? options.portConnections + options.tlsPortConnections : 0
  // A visitor's connection takes one file, and each of its requests another one.
  const files = maxConnections + requestFiles(options) + allIdleConnections(options)
  return Math.ceil(files / 2) + plainRoom(options) + ofPorts + RESERVE
}

const OWN_ERRORS: PageName[] = [
  'bad-request',
  'timeout',
  'internal',
  'bad-answer',
  'unreachable',
  'no-answer',
]

/** Only for answers that HAProxy itself makes; a backend's own errors pass untouched. */
function renderDefaults(options: HaproxyOptions, paths: HaproxyPaths): string {
  const errors = OWN_ERRORS.map(
    (name) => `  http-error status ${pageStatus(name)} ${renderPageBody(paths.page(name))}`,
  )
  return `defaults
  mode http
  log ring@logs len 4096 format raw local0
  option dontlognull
  option contstats
  retries 2
  timeout http-request ${options.timeouts.head}s
  timeout http-keep-alive 60s
  timeout connect ${options.connectTimeout}s
  timeout client-hs ${options.timeouts.head}s
  timeout client ${options.timeouts.idle}s
  timeout server ${options.timeouts.idle}s
  timeout client-fin 30s
  timeout server-fin 30s
  timeout tunnel ${options.tunnelTimeout}s
${errors.join('\n')}
`
}

/** The fixed part: nothing in it depends on a service. */
export interface HaproxyFiles {
  /** Part of the configuration's description, so that a running HAProxy shows what it was started with. */
  mark: string
  config: string
  /** Path → content of the files that the configuration loads. */
  others: Map<string, string>
}

function farFiles({ farServers }: HaproxyOptions, paths: HaproxyPaths): [string, string][] {
  if (!farServers) return []
  return [
    [paths.serversRoot, farServers.root],
    [paths.serversProof, farServers.proof],
  ]
}

export function renderHaproxyFiles(options: HaproxyOptions, digest: Digest): HaproxyFiles {
  const paths = haproxyPaths(options.directory)
  const others = new Map([
    [paths.lua, HAPROXY_LUA],
    ...farFiles(options, paths),
    ...pageNames.map((name): [string, string] => [paths.page(name), renderPage(name, options)]),
  ])
  const content = [renderHaproxyConfig(options, ''), ...others.values()].join('\0')
  const mark = `postern-${digest(content)}`
  return { mark, config: renderHaproxyConfig(options, mark), others }
}
