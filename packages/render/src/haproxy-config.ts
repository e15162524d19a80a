import { isDomainName } from '@postern/net/hostname'
import { isIp } from '@postern/net/ip'
import { renderBackends } from './haproxy-backends.ts'
import { renderFrontends } from './haproxy-frontends.ts'
import { type PageName, pageStatus, renderPageBody } from './haproxy-pages.ts'
import { type HaproxyPaths, haproxyPaths } from './haproxy-paths.ts'

/** The settings of an installation that HAProxy's configuration depends on. Durations are in seconds. */
export interface HaproxyOptions {
  /** Absolute, of plain characters; holds every file of HAProxy's. */
  directory: string
  serverSocket: string
  /** IP literals to listen on. */
  addresses: readonly string[]
  httpPort: number
  httpsPort: number
  publicHost: string
  /** Whom HAProxy becomes once its ports are bound; null: it stays who started it. */
  user: { uid: number; gid: number } | null
  maxConnections: number
  connectionsPerSource: number
  /** Where the edge takes log lines, on 127.0.0.1. */
  logPort: number
  connectTimeout: number
  /** Silence of a visitor or a service; the length of a transfer does not matter. */
  idleTimeout: number
  tunnelTimeout: number
}

/** A setting that must not be pasted into a configuration. */
export class RenderError extends Error {
  readonly code = 'render'
}

/**
 * The one fixed haproxy.cfg. Services are lines of its maps and never part of it.
 * @param mark stands in the description, see `renderHaproxyFiles`.
 * @throws RenderError when a setting is not of its closed form.
 */
export function renderHaproxyConfig(options: HaproxyOptions, mark: string): string {
  assertPlain(options)
  const paths = haproxyPaths(options.directory)
  return [
    renderGlobal(options, paths, mark),
    renderDefaults(options, paths),
    renderFrontends(options, paths),
    renderBackends(options),
  ].join('\n')
}

function assertPlain(options: HaproxyOptions): void {
  const { directory, serverSocket, addresses, publicHost } = options
  const path = /^\/[A-Za-z0-9._/-]{1,100}$/
  const isPlain =
    path.test(directory) &&
    path.test(serverSocket) &&
    addresses.length > 0 &&
    addresses.every(isIp) &&
    (isIp(publicHost) || isDomainName(publicHost.toLowerCase()))
  if (!isPlain) throw new RenderError('A setting of the proxy has characters that do not belong there')
}

function renderGlobal(options: HaproxyOptions, paths: HaproxyPaths, mark: string): string {
  const user = options.user === null ? '' : `  uid ${options.user.uid}\n  gid ${options.user.gid}\n`
  return `global
  description ${mark || '-'}
  stats socket ${paths.socket} level admin mode 600 expose-fd listeners
  # Without it a second HAProxy would bind the same ports and split the traffic.
  noreuseport
  expose-experimental-directives
${user}  maxconn ${options.maxConnections}
  # How long connections of before a changed setting may live on.
  hard-stop-after 15m
  tune.maxrewrite 2048
  tune.ssl.default-dh-param 2048
  ssl-default-bind-options ssl-min-ver TLSv1.2
  setenv POSTERN_LISTS ${paths.lists}
  lua-load-per-thread ${paths.lua}

# Over TCP: with nobody at a unix socket, 2.6 tries again without a pause and burns a core.
ring logs
  format raw
  maxlen 4096
  size 1048576
  timeout connect 5s
  timeout server 10s
  server edge 127.0.0.1:${options.logPort}
`
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
  timeout http-request 15s
  timeout http-keep-alive 60s
  timeout connect ${options.connectTimeout}s
  timeout client ${options.idleTimeout}s
  timeout server ${options.idleTimeout}s
  timeout client-fin 30s
  timeout server-fin 30s
  timeout tunnel ${options.tunnelTimeout}s
${errors.join('\n')}
`
}
