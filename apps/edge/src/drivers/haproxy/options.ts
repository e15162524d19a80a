import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { EdgeCertificate, TunnelSettings } from '@postern/contract/desired-state'
import type { Exec } from '@postern/host/exec'
import type { HaproxyOptions, HaproxyTimeouts } from '@postern/render/haproxy/options'
import type { RouteSections } from '@postern/render/resolved-route'
import type { SystemUser } from '../../system-user.ts'
import type { LogListener } from './logs/listener.ts'

export interface HaproxyWanted {
  routes: RouteSections
  /** The same array as long as none of them changes. */
  certificates: readonly EdgeCertificate[]
  settings: Pick<TunnelSettings, 'publicHost'>
  /** Skips checks of what nothing has touched since the last full check; default: false. */
  isQuick?: boolean
}

export interface HaproxyDriverOptions {
  exec: Exec
  /** HAProxy's own directory; made when absent. */
  directory: string
  serverSocket: string
  /** Where the parts of HAProxy reach each other; made when absent. */
  lanes: string
  /** The root directory of a HAProxy that has its own user: above the server's socket and the lanes. */
  root: string
  httpPort: number
  httpsPort: number
  /** IP literals to listen on; default: all of this machine. */
  addresses?: readonly string[]
  connectionsPerSource?: number
  /** Of visitors, at the same time; default: what the limit of open files allows. */
  maxConnections?: number
  /** Seconds of silence, where they are not as usual. */
  timeouts?: Partial<HaproxyTimeouts>
  /** Seconds until a backend has taken a connection; twice this is what a visitor waits at most for our page. */
  connectTimeout?: number
  /** The base of the name of the systemd scope HAProxy lives in. */
  unit?: string
}

/** For listeners, idle connections and the log. */
const OTHER_FILES = 1000
/** What a visitor's connection may take, as HAProxy counts it from the settings that are rendered. */
const FILES_EACH = 5.3
const MOST_CONNECTIONS = 50_000

/** What the configuration says on this machine, now. */
export async function findOptions(
  options: HaproxyDriverOptions,
  listener: LogListener,
  user: SystemUser | undefined,
  publicHost: string,
): Promise<HaproxyOptions> {
  const limit = await readFileLimit(4 * OTHER_FILES)
  const log = await listener.listen()
  return {
    directory: options.directory,
    serverSocket: options.serverSocket,
    lanes: options.lanes,
    root: options.root,
    addresses: options.addresses ?? (existsSync('/proc/net/if_inet6') ? ['0.0.0.0', '::'] : ['0.0.0.0']),
    httpPort: options.httpPort,
    httpsPort: options.httpsPort,
    publicHost,
    user: user ?? null,
    maxConnections: options.maxConnections ?? connectionsFor(limit),
    connectionsPerSource: options.connectionsPerSource ?? 500,
    logPort: log.port,
    logSecret: log.secret,
    connectTimeout: options.connectTimeout ?? 4,
    timeouts: { head: 10, body: 60, idle: 3600, ...options.timeouts },
    tunnelTimeout: 3600,
  }
}

function connectionsFor(files: number): number {
  return Math.min(MOST_CONNECTIONS, Math.max(100, Math.floor((files - OTHER_FILES) / FILES_EACH)))
}

/** The open files a program started from here may have; `fallback` where the kernel does not say. */
async function readFileLimit(fallback: number): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8')
  const hard = /^Max open files +\S+ +(\d+)/m.exec(limits)?.[1]
  return hard === undefined ? fallback : Number(hard)
}
