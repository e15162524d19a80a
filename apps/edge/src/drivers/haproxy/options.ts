import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Challenge, EdgeCertificate, TunnelSettings } from '@postern/contract/edge/desired-state'
import type { Exec } from '@postern/host/processes/exec'
import type { SignInSections } from '@postern/render/haproxy/maps/sign-in'
import type { FarServers, HaproxyOptions, HaproxyTimeouts, PortSpan } from '@postern/render/haproxy/options'
import { spansWithout } from '@postern/render/haproxy/ports'
import type { RouteSections } from '@postern/render/resolved-route'
import type { SystemUser } from '../../system-user.ts'
import type { LogListener } from './logs/listener.ts'
import { findTaken } from './process/binds.ts'

export interface HaproxyWanted {
  routes: RouteSections
  signIns: SignInSections
  /** The same array while none of them changes. */
  certificates: readonly EdgeCertificate[]
  /** Default: none. */
  challenges?: readonly Challenge[]
  settings: Pick<TunnelSettings, 'publicHost' | 'formerHosts' | 'signInKeys' | 'identityKeys' | 'edge'>
  /** Whether the log has the queries of requests; default: it has not. */
  logQuery?: boolean
  /** Skips checks of what has not changed since the last full check; default: false. */
  isQuick?: boolean
}

export interface HaproxyDriverOptions {
  exec: Exec
  /** HAProxy's own directory; made when absent. */
  directory: string
  serverSocket: string
  /** At an edge elsewhere: its servers now, instead of the socket. */
  findFarServers?: (() => Promise<FarServers>) | undefined
  /** The directory of the lanes; made when absent. */
  lanes: string
  /** The root directory of a HAProxy that has its own user; it contains the server's socket and the lanes. */
  root: string
  httpPort: number
  httpsPort: number
  /** IP literals to listen on; default: all of this machine. */
  addresses?: readonly string[]
  /** Ports for TCP services, without the installation's own; default: none. */
  portRange?: PortSpan
  ownPorts?: readonly number[]
  connectionsPerSource?: number
  /** Visitors' connections at the same time; default: what the limit of open files allows. */
  maxConnections?: number
  /** The same for TCP services. */
  portConnections?: number
  /** Timeouts in seconds, where they differ from the defaults. */
  timeouts?: Partial<HaproxyTimeouts>
  /** Seconds that a connection of a TCP service or a WebSocket may be idle; default: an hour. */
  tunnelTimeout?: number
  /** Seconds for a backend to accept a connection; a visitor waits at most twice as long for our page. */
  connectTimeout?: number
  /** Default: one for two processors, since the tunnel and the services of this machine need some too. */
  threads?: number
  /** The base of the name of HAProxy's systemd scope. */
  unit?: string
  /** The file with the newest version that this machine can have; default: where `npm start` writes it. */
  newestVersion?: string
  /** Logs what went wrong; never throws. */
  warn?(message: string): void
}

/** For listeners, idle connections and the log. */
const OTHER_FILES = 1000
/** The open files that a visitor's connection may take, as HAProxy counts them from the rendered settings. */
const FILES_EACH = 3.5
/** The same for TCP services; twice as many where TLS ends here. */
const PORT_FILES_EACH = 2.1
/** The TLS of at least this share of TCP services' visitors may end here. */
const TLS_SHARE = 0.25
/** The share of all files, where there are TCP services. */
const PORT_SHARE = 0.4
const MOST_CONNECTIONS = 50_000

/**
 * The options of the configuration on this machine now.
 * @param running the configuration of the running HAProxy; empty: none runs
 */
export async function findOptions(
  options: HaproxyDriverOptions,
  listener: LogListener,
  user: SystemUser | undefined,
  { settings, logQuery = false }: Pick<HaproxyWanted, 'settings' | 'logQuery'>,
  running: string,
): Promise<HaproxyOptions> {
  const { portRange, ownPorts = [] } = options
  const log = await listener.listen()
  const addresses = options.addresses ?? (existsSync('/proc/net/if_inet6') ? ['0.0.0.0', '::'] : ['0.0.0.0'])
  const taken = portRange ? await findTaken(portRange, addresses, running) : new Set<number>()
  const ports = portRange ? spansWithout(portRange, new Set([...taken, ...ownPorts])) : []
  const listeners = portRange ? (portRange.to - portRange.from + 1) * addresses.length : 0
  const files = Math.max(0, (await readFileLimit(4 * OTHER_FILES)) - OTHER_FILES - listeners)
  const portFiles = portRange ? files * PORT_SHARE : 0
  const wantedPorts = options.portConnections ?? options.maxConnections
  return {
    directory: options.directory,
    serverSocket: options.serverSocket,
    farServers: await options.findFarServers?.(),
    lanes: options.lanes,
    root: options.root,
    addresses,
    httpPort: options.httpPort,
    httpsPort: options.httpsPort,
    publicHost: settings.publicHost,
    formerHosts: settings.formerHosts,
    user: user ?? null,
    maxConnections: options.maxConnections ?? connectionsFor((files - portFiles) / FILES_EACH),
    ports,
    ...(wantedPorts === undefined
      ? sharePorts(portFiles / PORT_FILES_EACH)
      : { portConnections: wantedPorts, tlsPortConnections: leastTls(wantedPorts) }),
    connectionsPerSource: options.connectionsPerSource ?? 500,
    logPort: log.port,
    logSecret: log.secret,
    logQuery,
    connectTimeout: options.connectTimeout ?? 4,
    threads: options.threads ?? Math.ceil(availableParallelism() / 2),
    timeouts: { head: 10, body: 60, reader: 120, idle: 3600, ...options.timeouts },
    tunnelTimeout: options.tunnelTimeout ?? 3600,
  }
}

/**
 * Splits the visitors that TCP services may have into those whose TLS ends here and all others.
 * @param possible their number if TLS ended nowhere
 */
export function sharePorts(possible: number): Pick<HaproxyOptions, 'portConnections' | 'tlsPortConnections'> {
  const all = connectionsFor(possible / (1 + TLS_SHARE))
  const left = Math.min(all, Math.floor(possible - all))
  return { portConnections: all, tlsPortConnections: Math.max(leastTls(all), left) }
}

const leastTls = (all: number) => Math.ceil(all * TLS_SHARE)

function connectionsFor(possible: number): number {
  return Math.min(MOST_CONNECTIONS, Math.max(100, Math.floor(possible)))
}

/** The open files a program started from here may have; `fallback` where the kernel does not say. */
async function readFileLimit(fallback: number): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8')
  const hard = /^Max open files +\S+ +(\d+)/m.exec(limits)?.[1]
  return hard === undefined ? fallback : Number(hard)
}
