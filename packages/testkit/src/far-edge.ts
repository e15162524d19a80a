import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Edge } from '@postern/contract/edge/edge'
import type { AddedEdge, EdgeFormInput, JoinToken } from '@postern/contract/edge/join'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import { RUN_WITH } from '../../../scripts/lib/environment.ts'
import { nodeArgv } from '../../../scripts/lib/programs/programs.ts'
import type { Installation } from './installation.ts'
import type { Host } from './lab/network.ts'
import type { Running } from './processes/exec.ts'
import { whenStarted } from './processes/started.ts'

const ROOT = new URL('../../../', import.meta.url).pathname

/** The port of an installation's server for edges elsewhere. */
export const CONTROL_PORT = 8443
/** For `startInstallation`. */
export const WITH_CONTROL = { POSTERN_CONTROL_LISTEN: `0.0.0.0:${CONTROL_PORT}` }

/** An edge on another host of the lab than its server, as a person makes it. */
export interface FarEdge {
  id: number
  host: Host
  paths: InstallationPaths
  interface: string
  edge: Running
  /** What its program has logged. */
  logFile: string
  /** Runs `postern-edge`. @returns what it printed, with its exit code */
  command(...args: string[]): ReturnType<Host['run']>
  start(): void
  /** As the server sees it; undefined once it was removed. */
  find(): Promise<Edge | undefined>
  isApplied(): Promise<boolean>
  close(): Promise<void>
}

type Site = Pick<Installation, 'api'>

/** Adds an edge in the console, joins as it on this host, and waits until it has applied the state. */
export async function startFarEdge(site: Site, host: Host, form: EdgeFormInput): Promise<FarEdge> {
  const { json, status, text } = await site.api.call('POST', '/api/edges', form)
  if (status !== 201) throw new Error(`adding an edge: ${text}`)
  // The call has checked the answer against the contract.
  const added = json as AddedEdge
  const far = prepareFarEdge(site, host, added.edge)
  await joinFarEdge(far, added.join)
  far.start()
  await whenStarted(far.edge, 'the edge elsewhere', far.isApplied)
  return far
}

/** Fails unless the machine joins with the line of the console. */
export async function joinFarEdge(far: FarEdge, { address, token }: JoinToken): Promise<string> {
  const { code, stdout, stderr } = await far.command('join', address, token)
  if (code !== 0) throw new Error(`joining: ${stderr}`)
  return stdout
}

function prepareFarEdge({ api }: Site, host: Host, { id, number }: Edge): FarEdge {
  const dataDir = mkdtempSync(join(tmpdir(), 'pf-'))
  chmodSync(dataDir, 0o755)
  const tunnel = `pf${host.name.slice(2, 10)}${number}`
  const logFile = `${dataDir}/edge.log`
  const env = { ...RUN_WITH, POSTERN_DATA_DIR: dataDir, POSTERN_TUNNEL_INTERFACE: tunnel }
  const find = async () => (await api.listEdges()).find((edge) => edge.id === id)
  const argv = nodeArgv(ROOT, 'edge')
  const start = () => host.start(argv, { logFile, env, cwd: '/' })
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const far: FarEdge = {
    ...{ id, host, logFile, find, interface: tunnel },
    paths: installationPaths(dataDir),
    // Replaced by `start`.
    edge: undefined as never,
    command: (...args) => host.run('env', ...settings, ...argv, ...args),
    start() {
      far.edge = start()
    },
    async isApplied() {
      const edge = await find()
      return edge?.connected === true && edge.applied === edge.wanted && edge.wanted > 0
    },
    async close() {
      await far.edge.stop()
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return far
}
