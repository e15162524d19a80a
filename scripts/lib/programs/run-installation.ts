import type { DataPlane } from '@postern/contract/edge/edge'
import { messageOf } from '@postern/host/errors'
import { releaseLock, takeLock } from '@postern/host/lock'
import { readConfig } from '../../../apps/server/src/config.ts'
import { observeNetwork } from '../../../apps/server/src/network.ts'
import type { Banner } from '../banner.ts'
import { consoleHere } from '../banner.ts'
import { CommandError } from '../command.ts'
import { prepareDataDir } from '../data-dir.ts'
import { type Environment, ROOT } from '../environment.ts'
import { type Installation, prepareInstallation } from '../installation.ts'
import { assertPortsFree } from '../ports.ts'
import { watchHaproxy } from './haproxy-watch.ts'
import type { Program } from './program.ts'
import { openProgramView, type ProgramView } from './program-view.ts'
import { parseEdgeReady, parseServerReady, type Say, startEdge, startServer } from './programs.ts'
import { assertNoServer } from './running.ts'

export interface Listeners {
  /** The server answers. */
  onServer(banner: Banner): void
  /** The edge has applied everything, or reports which part failed; null: it is still waiting for the server. */
  onEdge(dataPlane: DataPlane | null): void
  warn: Say
}

/**
 * Runs server and edge until the signal, then stops both; the traffic goes on.
 * @throws SettingsError, CommandError when they cannot be started
 */
export async function runInstallation(
  environment: Environment,
  until: Promise<unknown>,
  listeners: Listeners,
): Promise<void> {
  const installation = await prepareInstallation(environment)
  const { paths, settings, obstacle } = installation
  const holder = takeLock(paths.starterPid)
  if (holder)
    throw new CommandError(
      `Postern is already running (pid ${holder.pid}): press Ctrl-C there to stop it, or use npm stop to end its traffic too`,
    )
  try {
    await assertNoServer(paths.serverSocket)
    const console = consoleHere(settings, await assertPortsFree(settings, !obstacle))
    await runPrograms(installation, console, until, listeners)
  } finally {
    releaseLock(paths.starterPid)
  }
}

async function runPrograms(
  installation: Installation,
  console: string,
  until: Promise<unknown>,
  listeners: Listeners,
): Promise<void> {
  const view = await openProgramView(installation)
  const programs: Start['programs'] = []
  let isOver = false
  const over = until.then(() => {
    isOver = true
  })
  try {
    await Promise.race([
      startAll(installation, view, { programs, console, listeners, isOver: () => isOver }),
      over,
    ])
    await over
  } finally {
    await Promise.all(programs.map((program) => program.stop()))
    view.close()
  }
}

interface Start {
  /** Filled with the programs that were started, so that they can be stopped at any moment. */
  programs: { stop(): unknown }[]
  /** Where the console is on this machine. */
  console: string
  listeners: Listeners
  isOver: () => boolean
}

async function startAll(
  installation: Installation,
  view: ProgramView,
  { programs, console, listeners: { onServer, onEdge, warn }, isOver }: Start,
): Promise<void> {
  const { environment, settings, obstacle } = installation
  const { POSTERN_DATA_DIR: dataDir } = settings
  const config = readConfig(observeNetwork(), { ...environment, POSTERN_DATA_DIR: dataDir }, ROOT)
  // Both start at the same time: the edge serves the state of its last run before the server answers.
  const prepare = () => prepareDataDir(dataDir, installation.identities)
  const server = startServer(installation, view, warn, prepare)
  programs.push(server)
  const edge = obstacle === undefined ? startEdge(installation, warn) : undefined
  if (edge) programs.push(edge, watchHaproxy(warn))
  const dataPlane = edge && isReady(edge)
  // A failed start is reported after the server's, and ends both.
  dataPlane?.catch(() => undefined)
  const { generatedAdmin, publicUrl } = parseServerReady(await isReady(server))
  if (isOver()) return
  const { version } = config
  const here = { console, dataDir }
  onServer({ version, publicUrl, here, generatedAdmin, obstacle })
  if (dataPlane) onEdge(parseEdgeReady(await dataPlane))
}

/** A program that fails to start prints the reason itself. This adds its name. */
async function isReady(program: Program): Promise<unknown> {
  return program.ready.catch((error: unknown) => {
    throw new CommandError(messageOf(error))
  })
}
