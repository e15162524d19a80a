import { accessSync, constants } from 'node:fs'
import { get } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import { parseSettings, type Settings } from '@postern/contract/settings/settings'
import { messageOf } from '@postern/host/errors'
import { readConfig } from '../../apps/server/src/config.ts'
import { observeNetwork } from '../../apps/server/src/network.ts'
import { renderBanner, renderDataPlane } from './banner.ts'
import { CommandError } from './command.ts'
import { makeEdgeToken } from './data-dir.ts'
import { joinOnce, splitJoin } from './edge/container-join.ts'
import { type Environment, ROOT } from './environment.ts'
import { type Installation, storeFirstPassword } from './installation.ts'
import { observeMachine } from './machine.ts'
import type { Program } from './programs/program.ts'
import { parseEdgeReady, parseServerReady, type Say, startEdge, startServer } from './programs/programs.ts'

/** The halves of an installation, each in a container of its own (0042). */
export type Role = 'server' | 'edge'

export interface Voices {
  say: Say
  warn: Say
}

export function readRole(text: string): Role {
  if (text === 'server' || text === 'edge') return text
  throw new CommandError(
    `"${text}" is not server, edge, password, rotate-key or history: give one of them as the container's command`,
  )
}

/**
 * Runs server or edge until the signal, and starts it again in place when it ends: HAProxy and the tunnel then go on.
 * @throws SettingsError, CommandError when it cannot be started
 */
export async function runRole(role: Role, environment: Environment, until: Promise<unknown>, voices: Voices) {
  const { join, rest } = splitJoin(environment)
  const installation = describe(rest)
  if (role === 'edge') {
    assertWritable(installation.paths.edgeDir)
    await joinOnce(join, installation, voices.say)
  }
  const program = await (role === 'server' ? beginServer : beginEdge)(installation, voices)
  try {
    await Promise.race([until, tellReady(role, program, installation, voices).then(() => until)])
  } finally {
    await program.stop()
  }
}

/** Creates no users and changes no owners: the image has the users, and each half its own volume. */
export function describe(environment: Environment): Installation {
  const settings = parseSettings(environment)
  const paths = installationPaths(settings.POSTERN_DATA_DIR)
  return {
    environment,
    machine: observeMachine(),
    settings,
    paths,
    identities: undefined,
    obstacle: undefined,
  }
}

async function beginServer(installation: Installation, { warn }: Voices): Promise<Program> {
  const { paths, settings } = installation
  for (const path of [paths.serverDir, paths.runDir]) assertWritable(path)
  await makeSharedToken(paths)
  storeFirstPassword(paths, settings.POSTERN_ADMIN_PASSWORD)
  return startServer(installation, { root: ROOT, enter: [], close: () => undefined }, warn)
}

async function beginEdge(installation: Installation, { warn }: Voices): Promise<Program> {
  return startEdge(installation, warn)
}

/**
 * The token that the edge shows to the server is where both may read it: `edge.token` of the data directory is a link
 * to it.
 */
async function makeSharedToken({ runDir }: InstallationPaths): Promise<void> {
  const uid = process.getuid?.() ?? 0
  await makeEdgeToken(join(runDir, 'edge.token'), { uid, gid: process.getgid?.() ?? 0 })
}

function assertWritable(path: string): void {
  try {
    accessSync(path, constants.W_OK)
  } catch {
    const owner = `${process.getuid?.()}:${process.getgid?.()}`
    throw new CommandError(
      `${path} cannot be written: leave it to a volume of Docker's own, or chown the directory behind it to ${owner}`,
    )
  }
}

async function tellReady(role: Role, program: Program, { environment }: Installation, { say }: Voices) {
  const message = await program.ready.catch((error: unknown) => {
    throw new CommandError(messageOf(error))
  })
  if (role === 'edge') return say(renderDataPlane(parseEdgeReady(message)))
  const config = readConfig(observeNetwork(), environment, ROOT)
  const { generatedAdmin, publicUrl } = parseServerReady(message)
  say(renderBanner({ version: config.version, publicUrl, generatedAdmin }))
}

/** How long an answer may take, in ms. */
const PATIENCE = 4000

/**
 * @returns a line that says that it works.
 * @throws CommandError that says what does not
 */
export async function checkHealth(role: Role, environment: Environment): Promise<string> {
  const settings = parseSettings(splitJoin(environment).rest)
  const paths = installationPaths(settings.POSTERN_DATA_DIR)
  if (role === 'server') await checkServer(paths)
  else await checkEdge(paths, settings)
  return `The ${role} works.`
}

async function checkServer({ serverSocket }: InstallationPaths): Promise<void> {
  const status = await statusOf({ socketPath: serverSocket, path: '/api/health' }, 'the server')
  if (status !== 200) throw new CommandError(`the server answers ${status}`)
}

/** The edge itself, and HAProxy, which answers every request. */
async function checkEdge({ edgeDir }: InstallationPaths, { POSTERN_HTTP_PORT }: Settings): Promise<void> {
  if (!(await hangsUp(`${edgeDir}/edge.sock`))) throw new CommandError('the edge does not answer')
  await statusOf({ host: '127.0.0.1', port: POSTERN_HTTP_PORT }, 'HAProxy')
}

function statusOf(where: { socketPath: string; path: string } | { host: string; port: number }, who: string) {
  return new Promise<number>((resolve, reject) => {
    const request = get({ ...where, timeout: PATIENCE }, (answer) => {
      resolve(answer.statusCode ?? 0)
      answer.destroy()
    })
    request.on('timeout', () => request.destroy(new Error('no answer in time')))
    request.on('error', (error) => reject(new CommandError(`${who} does not answer: ${error.message}`)))
  })
}

/** An edge ends each connection to its socket at once; when the edge is stuck, the kernel only accepts it. */
function hangsUp(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const answer = (isThere: boolean) => {
      socket.destroy()
      resolve(isThere)
    }
    socket.setTimeout(PATIENCE, () => answer(false))
    socket.once('error', () => answer(false))
    socket.once('end', () => answer(true))
    socket.resume()
  })
}
