import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { EdgeCertificate, TunnelSettings } from '@postern/contract/desired-state'
import type { PartState, Problem } from '@postern/contract/edge'
import { type HaproxyPaths, haproxyPaths } from '@postern/render/haproxy-paths'
import type { ResolvedRoute } from '@postern/render/resolved-route'
import type { Exec } from '../exec.ts'
import { createApply } from './haproxy-apply.ts'
import { createConverger } from './haproxy-converge.ts'
import { createHealth } from './haproxy-health.ts'
import { createLogListener, type HaproxyLogs } from './haproxy-logs.ts'
import { createHaproxyProcess } from './haproxy-process.ts'
import { createQueue } from './haproxy-queue.ts'
import { openHaproxySocket } from './haproxy-socket.ts'
import { startFromFiles } from './haproxy-start.ts'
import { findProxyUser } from './haproxy-user.ts'

export interface HaproxyWanted {
  routes: readonly ResolvedRoute[]
  certificates: readonly EdgeCertificate[]
  settings: Pick<TunnelSettings, 'publicHost'>
  /** The maps are believed to be as they were read last, so that a change costs little; default: they are read. */
  isQuick?: boolean
}

export interface HaproxyDriverOptions {
  exec: Exec
  /** HAProxy's own directory; made when absent. */
  directory: string
  serverSocket: string
  httpPort: number
  httpsPort: number
  /** IP literals to listen on; default: all of this machine. */
  addresses?: readonly string[]
  connectionsPerSource?: number
  /** Seconds of silence after which a visitor or a service is given up; default 300. */
  idleTimeout?: number
  /** The base of the name of the systemd scope HAProxy lives in. */
  unit?: string
}

export interface HaproxyDriver {
  /**
   * Makes HAProxy carry exactly what is wanted, from any state, and reads it back. What cannot be had is a problem
   * of the service or certificate; a HAProxy that does not run is what `check` tells. Calls may overlap: they run
   * one after another.
   */
  apply(wanted: HaproxyWanted): Promise<Problem[]>
  /** The last apply left certificates for the next one, which shall come at once. */
  isBehind(): boolean
  /** Whether HAProxy answers; one that is dead or stuck is started again from the files. */
  check(): Promise<PartState>
  /** Nodes that are `down` are answered for by our own page. */
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  logs: HaproxyLogs
  /** Stops listening for log lines; HAProxy goes on. */
  close(): Promise<void>
  /** Ends HAProxy and all its connections. */
  stop(): Promise<void>
}

/** HAProxy as one part of the data plane. Nothing is touched before the first call. */
export async function createHaproxy(options: HaproxyDriverOptions): Promise<HaproxyDriver> {
  const paths = haproxyPaths(options.directory)
  const socket = openHaproxySocket(paths.socket)
  const haproxy = createHaproxyProcess(options.exec, paths, socket, options.unit ?? 'postern-haproxy')
  const user = await findProxyUser()
  const listener = createLogListener(paths.logPort, [0, process.getuid?.() ?? 0, ...(user ? [user.uid] : [])])
  const converger = createConverger(options.exec, paths, haproxy)
  const { apply, setNodeStates, isBehind } = createApply({
    options,
    paths,
    socket,
    haproxy,
    converger,
    listener,
    user,
  })
  const health = createHealth()
  const queue = createQueue()

  async function applyAndTell(wanted: HaproxyWanted): Promise<Problem[]> {
    const problems: Problem[] = []
    try {
      health.succeeded(await apply(wanted, problems))
    } catch (error) {
      health.failed(error)
    }
    return problems
  }

  async function check(): Promise<PartState> {
    const running = await haproxy.findOrEnd()
    if (running) return health.answered(running)
    const mark = await readMark(paths)
    if (mark === undefined || !health.mayStart()) return health.state()
    try {
      return health.succeeded(await startFromFiles(haproxy, paths, mark, undefined))
    } catch (error) {
      return health.failed(error)
    }
  }

  return {
    logs: listener.logs,
    isBehind,
    apply: (wanted) => queue.run(() => applyAndTell(wanted)),
    check: async () => (queue.isBusy() ? health.state() : await queue.run(check)),
    setNodeStates: (states) => queue.run(() => setNodeStates(states)),
    close: () => listener.close(),
    stop: () => queue.run(() => haproxy.stop()),
  }
}

/** What the configuration on disk is marked with; undefined before the first apply. */
async function readMark(paths: HaproxyPaths): Promise<string | undefined> {
  if (!existsSync(paths.config)) return undefined
  return /^ {2}description (\S+)$/m.exec(await readFile(paths.config, 'utf8'))?.[1]
}
