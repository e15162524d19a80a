import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import { prepareDataDir } from '../../../scripts/lib/data-dir.ts'
import { RUN_WITH } from '../../../scripts/lib/environment.ts'
import { nodeArgv } from '../../../scripts/lib/programs/programs.ts'
import { ensureUsers, type Identity } from '../../../scripts/lib/users.ts'
import { type Api, isHealthy, signIn } from './api.ts'
import type { Host, Lab } from './lab/network.ts'
import type { Running } from './processes/exec.ts'
import { whenStarted } from './processes/started.ts'

const ROOT = new URL('../../../', import.meta.url).pathname

/** A real installation on a host of the lab: server and edge as separate programs, started one by one. */
export interface Installation {
  dataDir: string
  paths: InstallationPaths
  interface: string
  env: Record<string, string>
  api: Api
  server: Running
  edge: Running
  /** Of its administrator, whose session `api` has. */
  password: string
  startServer(): Promise<void>
  startEdge(): void
  /** The pid of the installation's HAProxy, by its pid file. @throws when none runs */
  haproxyPid(): number
  close(): Promise<void>
}

const PASSWORD = 'lab-password-1'

/** Starts server and edge and waits until the edge has applied the state. */
export async function startInstallation(
  lab: Lab,
  settings: Record<string, string> = {},
): Promise<Installation> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pt-'))
  chmodSync(dataDir, 0o755)
  const tunnel = `pw${lab.id.slice(-10)}`
  const env = {
    POSTERN_DATA_DIR: dataDir,
    POSTERN_PUBLIC_HOST: lab.server.address,
    POSTERN_TUNNEL_INTERFACE: tunnel,
    POSTERN_ADMIN_PASSWORD: PASSWORD,
    ...settings,
  }
  const users = await ensureUsers()
  await prepareDataDir(dataDir, users)
  const caches = { server: ownCache(users.server), edge: {} }
  const paths = installationPaths(dataDir)
  const start = (name: 'server' | 'edge') => startProgram(lab.server, name, { ...env, ...caches[name] })
  const programs = { server: start('server'), edge: start('edge') }
  const api = await whenStarted(programs.server, 'the server', () =>
    signIn(paths.serverSocket, 'admin', PASSWORD),
  )
  const installation: Installation = {
    dataDir,
    password: PASSWORD,
    paths,
    interface: tunnel,
    env,
    api,
    ...programs,
    async startServer() {
      installation.server = start('server')
      await whenStarted(installation.server, 'the server', () => isHealthy(api))
    },
    startEdge() {
      installation.edge = start('edge')
    },
    haproxyPid: () => Number(readFileSync(`${paths.haproxyDir}/haproxy.pid`, 'utf8').trim().split('\n')[0]),
    async close() {
      await Promise.all([installation.edge.stop(), installation.server.stop()])
      // An agent on a host of the lab writes there until the lab ends.
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  await whenStarted(programs.edge, 'the edge', () => isApplied(api))
  return installation
}

/** True when an edge is connected and has applied what is wanted. */
export async function isApplied(api: Api): Promise<boolean> {
  const [edge] = await api.listEdges()
  return edge?.connected === true && edge.applied === edge.wanted && edge.wanted > 0
}

/** The cache for compiled code of a user who may not write to that of the tests. */
function ownCache({ uid, gid }: Identity): Record<string, string> {
  if (!process.env.NODE_COMPILE_CACHE) return {}
  const dir = `${process.env.NODE_COMPILE_CACHE}-${uid}`
  mkdirSync(dir, { recursive: true })
  chownSync(dir, uid, gid)
  return { NODE_COMPILE_CACHE: dir }
}

/** Starts a program like the product: built, the server as its own user, the edge as root. */
function startProgram(host: Host, name: 'server' | 'edge', env: Record<string, string>): Running {
  const user = ['setpriv', '--reuid=postern', '--regid=postern', '--clear-groups', '--no-new-privs']
  const command = [...(name === 'server' ? user : []), ...nodeArgv(ROOT, name)]
  const logFile = `${env.POSTERN_DATA_DIR}/${name}.log`
  return host.start(command, { logFile, env: { ...RUN_WITH, ...env }, cwd: '/' })
}
