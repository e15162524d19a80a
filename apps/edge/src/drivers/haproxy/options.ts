import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Challenge, EdgeCertificate, TunnelSettings } from '@postern/contract/desired-state'
import type { Exec } from '@postern/host/exec'
import type { SignInSections } from '@postern/render/haproxy/maps/sign-in'
import type { HaproxyOptions, HaproxyTimeouts, PortSpan } from '@postern/render/haproxy/options'
import { spansWithout } from '@postern/render/haproxy/ports'
import type { RouteSections } from '@postern/render/resolved-route'
import type { SystemUser } from '../../system-user.ts'
import type { LogListener } from './logs/listener.ts'
import { findTaken } from './process/binds.ts'

export interface HaproxyWanted {
  routes: RouteSections
  signIns: SignInSections
  /** The same array as long as none of them changes. */
  certificates: readonly EdgeCertificate[]
  /** Default: none. */
  challenges?: readonly Challenge[]
  settings: Pick<TunnelSettings, 'publicHost' | 'signInKeys' | 'identityKeys'>
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
  /** Where TCP services may be, without ports of the installation itself; default: nowhere. */
  portRange?: PortSpan
  ownPorts?: readonly number[]
  connectionsPerSource?: number
  /** Visitors' connections at the same time; default: what the limit of open files allows. */
  maxConnections?: number
  /** The same of TCP services. */
  portConnections?: number
  /** Seconds of silence, where they are not as usual. */
  timeouts?: Partial<HaproxyTimeouts>
  /** Seconds that a connection of a TCP service or a WebSocket may be idle; default: an hour. */
  tunnelTimeout?: number
  /** Seconds until a backend has taken a connection; twice this is what a visitor waits at most for our page. */
  connectTimeout?: number
  /** Default: one for two processors, since the tunnel and the services of this machine need some too. */
  threads?: number
  /** The base of the name of the systemd scope HAProxy lives in. */
  unit?: string
  /** Where others say which version this machine can have; default: as `npm start` does. */
  newestVersion?: string
  /** Says in the log what went wrong and ends nothing. */
  warn?(message: string): void
}

/** For listeners, idle connections and the log. */
const OTHER_FILES = 1000
/** What a visitor's connection may take, as HAProxy counts it from the settings that are rendered. */
const FILES_EACH = 3.5
/** The same of TCP services: as many again where TLS ends here. */
const PORT_FILES_EACH = 2.1
/** At least this share of the visitors of TCP services may have their TLS ended here. */
const TLS_SHARE = 0.25
/** The share of all files, where there are TCP services. */
const PORT_SHARE = 0.4
const MOST_CONNECTIONS = 50_000

/**
 * What the configuration says on this machine, now.
 * @param running the configuration of the HAProxy that runs; empty: none does
 */
export async function findOptions(
  options: HaproxyDriverOptions,
  listener: LogListener,
  user: SystemUser | undefined,
  publicHost: string,
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
    lanes: options.lanes,
    root: options.root,
    addresses,
    httpPort: options.httpPort,
    httpsPort: options.httpsPort,
    publicHost,
    user: user ?? null,
    maxConnections: options.maxConnections ?? connectionsFor((files - portFiles) / FILES_EACH),
    ports,
    ...(wantedPorts === undefined
      ? sharePorts(portFiles / PORT_FILES_EACH)
      : { portConnections: wantedPorts, tlsPortConnections: leastTls(wantedPorts) }),
    connectionsPerSource: options.connectionsPerSource ?? 500,
    logPort: log.port,
    logSecret: log.secret,
    connectTimeout: options.connectTimeout ?? 4,
    threads: options.threads ?? Math.ceil(availableParallelism() / 2),
    timeouts: { head: 10, body: 60, reader: 120, idle: 3600, ...options.timeouts },
    tunnelTimeout: options.tunnelTimeout ?? 3600,
  }
}

/**
 * Shares the visitors that TCP services may have among those whose TLS ends here and all others.
 * @param possible where TLS ends nowhere
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
