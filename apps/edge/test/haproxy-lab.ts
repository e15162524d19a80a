import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Challenge, EdgeCertificate, SignIn, TunnelSettings } from '@postern/contract/edge/desired-state'
import { createExec } from '@postern/host/processes/exec'
import { type HaproxyPaths, haproxyPaths } from '@postern/render/haproxy/options'
import {
  inSections,
  type ResolvedHttpRoute,
  type ResolvedPortRoute,
  type ResolvedRoute,
} from '@postern/render/resolved-route'
import { findFreePort } from '@postern/testkit/port'
import { createHaproxy, type HaproxyDriver } from '../src/drivers/haproxy/driver.ts'
import type { HaproxyLog } from '../src/drivers/haproxy/logs/log.ts'
import type { HaproxyDriverOptions } from '../src/drivers/haproxy/options.ts'
import { openHaproxySocket } from '../src/drivers/haproxy/runtime/socket.ts'
import { makeRealCertificate } from './certificate.ts'
import { makeRoute } from './factories.ts'

/** A real HAProxy on high ports of loopback, with a driver like the edge's own. */
export interface HaproxyLab {
  paths: HaproxyPaths
  serverSocket: string
  httpPort: number
  httpsPort: number
  /** The driver that was opened most recently. */
  logs: HaproxyLog[]
  /** The driver of a newly started edge; the previous one is closed. */
  open(options?: Partial<HaproxyDriverOptions>): Promise<HaproxyDriver>
  /** Applies to the installation's own certificate and these. @returns the problems */
  apply(
    routes: readonly ResolvedRoute[],
    certificates?: readonly EdgeCertificate[],
    isQuick?: boolean,
  ): ReturnType<HaproxyDriver['apply']>
  /** Sets the domains with sign-in for the next `apply`, and the keys that seal sessions. */
  signIns: readonly SignIn[]
  challenges: readonly Challenge[]
  signInKeys: TunnelSettings['signInKeys']
  identityKeys: TunnelSettings['identityKeys']
  formerHosts: string[]
  /** What this edge is; undefined: the state is of an older server. */
  edge: TunnelSettings['edge']
  /** Whether the log has the queries of requests. */
  logQuery: boolean
  command(text: string): Promise<string>
  pid(): Promise<number>
  close(): Promise<void>
}

export const PUBLIC_HOST = 'console.example.com'

export async function makeHaproxyLab(options: Partial<HaproxyDriverOptions> = {}): Promise<HaproxyLab> {
  const base = await mkdtemp(join(tmpdir(), 'hx-'))
  // HAProxy reaches the server's socket as its own user.
  await chmod(base, 0o711)
  const [httpPort, httpsPort] = [await findFreePort(), await findFreePort()]
  const own = await makeRealCertificate(0, [PUBLIC_HOST])
  const paths = haproxyPaths(join(base, 'haproxy'))
  const serverSocket = join(base, 'server.sock')
  let driver: HaproxyDriver | undefined
  const lab: HaproxyLab = {
    paths,
    serverSocket,
    httpPort,
    httpsPort,
    logs: [],
    signIns: [],
    challenges: [],
    signInKeys: [],
    identityKeys: [],
    formerHosts: [],
    edge: undefined,
    logQuery: false,
    async open(changes = {}) {
      await driver?.close()
      driver = await createHaproxy({
        // This machine's own settings stay as they are.
        exec: { ...createExec(), readFile: async () => undefined },
        directory: join(base, 'haproxy'),
        addresses: ['127.0.0.1', '::1'],
        serverSocket,
        lanes: join(base, 'lanes'),
        root: base,
        httpPort,
        httpsPort,
        ...options,
        ...changes,
      })
      lab.logs = []
      const { logs } = lab
      driver.logs.on('line', (line) => logs.push(line))
      return driver
    },
    async apply(routes, certificates = [], isQuick = false) {
      if (!driver) throw new Error('no driver is open')
      const { signInKeys, identityKeys, formerHosts, logQuery, edge } = lab
      const settings = { publicHost: PUBLIC_HOST, formerHosts, signInKeys, identityKeys, edge }
      const signIns = new Map([['sign-in:0', lab.signIns]])
      const all = [own, ...certificates]
      const { challenges } = lab
      const contents = { routes: inSections(routes), signIns, challenges, certificates: all }
      const wanted = { ...contents, settings, logQuery, isQuick }
      for (;;) {
        const problems = await driver.apply(wanted)
        if (!driver.needsAnotherApply()) return problems
        wanted.isQuick = true
      }
    },
    command: (text) => openHaproxySocket(paths.socket).send(text),
    pid: async () => Number(await readFile(paths.pid, 'utf8')),
    async close() {
      await driver?.stop()
      await driver?.close()
      await rm(base, { recursive: true, force: true })
    },
  }
  await lab.open()
  return lab
}

/** An enabled route of a domain of its own to a port of this machine. */
export function makeLabRoute(
  id: number,
  port: number,
  changes: Partial<ResolvedHttpRoute> = {},
): ResolvedHttpRoute {
  const backend = { proto: 'http' as const, host: null, port }
  return { ...makeRoute(id, { backend }), address: '127.0.0.1', ...changes }
}

/** An enabled TCP service at a port of the lab's range, to a port of this machine. */
export function makeLabPort(
  id: number,
  port: number,
  backendPort: number,
  changes: Partial<Extract<ResolvedPortRoute, { proto: 'tcp' }>> = {},
): ResolvedPortRoute {
  const { node, enabled, allowedIps, blockedIps } = makeRoute(id)
  const backend = { host: null, port: backendPort }
  const route = { id, node, enabled, allowedIps, blockedIps, backend, port }
  return { ...route, proto: 'tcp', tls: null, address: '127.0.0.1', ...changes }
}

/** The console's own service, as the server seeds it. */
export function makeConsoleRoute(changes: Partial<ResolvedHttpRoute> = {}): ResolvedHttpRoute {
  const route = makeLabRoute(1, 3000, { domain: null, system: true, node: { kind: 'local' }, address: null })
  return { ...route, ...changes }
}
