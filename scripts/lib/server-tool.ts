import { UsageError } from '@postern/host/flags'
import { releaseLock, takeLock } from '@postern/host/lock'
import { CommandError, runArgv } from './command.ts'
import { removeEdgeToken } from './data-dir.ts'
import { type Environment, environmentOf } from './environment.ts'
import { type Installation, prepareInstallation } from './installation.ts'
import { observeMachine } from './machine.ts'
import { openProgramView } from './programs/program-view.ts'
import { assertNoServer } from './programs/running.ts'
import { listActiveUnits, readUnitSettings, SERVER_UNIT } from './programs/systemd.ts'

/** Thousands of nodes and certificates take a few seconds. */
const PATIENCE = 300_000

/** While the server is stopped, seals all secrets of the database with a new `secret.key`; `--all` renews them, too. */
export const rotateKey = (own: Environment, flags: readonly string[]) =>
  runOnDatabase(own, 'rotate-key', flags)

/** While the server is stopped, gives the first account a new password, or the one in the environment. */
export const setPassword = (own: Environment) => runOnDatabase(own, 'new-password')

/**
 * Says whether the history is as it was written, also while the server runs.
 * @param args `verify`, and perhaps the hash of an export
 * @throws UsageError
 */
export async function verifyHistory(own: Environment, args: readonly string[]): Promise<number> {
  const { isRoot } = observeMachine()
  const installation = await prepareInstallation(isRoot ? { ...readUnitSettings(), ...own } : own)
  return await runVerification(installation, args)
}

export async function runVerification(
  installation: Installation,
  [verb, ...rest]: readonly string[],
): Promise<number> {
  if (verb !== 'verify')
    throw new UsageError(`${verb ?? 'nothing'} cannot be done with the history: give verify`)
  return await runProgram(installation, 'verify-history', rest)
}

/** Of a stopped server; looking at the history needs no stop. */
export type Tool = 'rotate-key' | 'new-password'

/** @throws CommandError while a server runs on the database */
async function runOnDatabase(own: Environment, tool: Tool, flags: readonly string[] = []): Promise<number> {
  const { isRoot } = observeMachine()
  const installation = await prepareInstallation(isRoot ? { ...readUnitSettings(), ...own } : own)
  const { paths } = installation
  if ((await listActiveUnits()).includes(SERVER_UNIT))
    throw new CommandError('stop the server first: systemctl stop postern-server (traffic continues)')
  if (takeLock(paths.starterPid))
    throw new CommandError('stop the server first: press Ctrl-C where it runs (traffic continues)')
  try {
    return await runTool(installation, tool, flags)
  } finally {
    releaseLock(paths.starterPid)
  }
}

/**
 * Runs as the server's user, so that nothing in that user's directory can mislead root.
 * @throws CommandError while a server answers
 */
export async function runTool(
  installation: Installation,
  tool: Tool,
  flags: readonly string[] = [],
): Promise<number> {
  await assertNoServer(installation.paths.serverSocket)
  return await runProgram(installation, tool, flags)
}

async function runProgram(
  installation: Installation,
  tool: Tool | 'verify-history',
  flags: readonly string[],
): Promise<number> {
  const { environment, machine, settings, paths } = installation
  const view = await openProgramView(installation)
  const main = [`${view.root}/node_modules/.bin/node`, `${view.root}/apps/server/dist/${tool}.mjs`, ...flags]
  // Its environment has none.
  const input = tool === 'new-password' ? (settings.POSTERN_ADMIN_PASSWORD ?? '') : ''
  const options = { timeoutMs: PATIENCE, env: environmentOf('server', environment, machine), input }
  try {
    const done = await runArgv([...view.enter, ...main], options)
    process.stdout.write(done.stdout)
    process.stderr.write(done.stderr)
    if (done.code === 0 && flags.includes('--all')) removeEdgeToken(paths.edgeToken)
    return done.code ?? 1
  } finally {
    view.close()
  }
}
