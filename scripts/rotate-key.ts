import { run } from '@postern/host/exec'
import { releaseLock, takeLock } from '@postern/host/lock'
import { type Environment, environmentOf, ROOT } from './lib/environment.ts'
import { CommandError, runCommand } from './lib/errors.ts'
import { prepareInstallation } from './lib/installation.ts'
import { observeMachine } from './lib/machine.ts'
import { asUser, openProgramView } from './lib/readable-program.ts'
import { assertNoServer } from './lib/server-socket.ts'
import { listActiveUnits, readUnitSettings, SERVER_UNIT } from './lib/systemd.ts'

/** Thousands of nodes and certificates take a few seconds. */
const PATIENCE = 300_000

/** `npm run rotate-key`: seals all secrets of the database with a new `secret.key`, while the server is stopped. */
async function rotateKey(own: Environment): Promise<number> {
  const { isRoot } = observeMachine()
  const installation = await prepareInstallation(isRoot ? { ...readUnitSettings(), ...own } : own)
  const { paths } = installation
  if ((await listActiveUnits()).includes(SERVER_UNIT))
    throw new CommandError(
      'the server must be stopped for it: systemctl stop postern-server (traffic goes on)',
    )
  if (takeLock(paths.starterPid))
    throw new CommandError('the server must be stopped for it: press Ctrl-C where it runs (traffic goes on)')
  try {
    await assertNoServer(paths.serverSocket)
    return await runRotation(installation)
  } finally {
    releaseLock(paths.starterPid)
  }
}

type Installation = Awaited<ReturnType<typeof prepareInstallation>>

/** As the server's user: whatever that has put into its directory, root is not led astray by it. */
async function runRotation({ identities, paths, environment, machine }: Installation): Promise<number> {
  const view = identities
    ? await openProgramView(ROOT, paths.programDir, identities.server)
    : { root: ROOT, enter: [], close: () => undefined }
  const enter = identities ? [...view.enter, ...asUser(identities.server)] : []
  const main = [`${view.root}/node_modules/.bin/node`, `${view.root}/apps/server/src/rotate-key.ts`]
  const [program = '', ...args] = [...enter, ...main]
  try {
    const done = await run(program, args, { timeoutMs: PATIENCE, env: environmentOf(environment, machine) })
    process.stdout.write(done.stdout)
    process.stderr.write(done.stderr)
    return done.code === 0 ? 0 : 1
  } finally {
    view.close()
  }
}

await runCommand(() => rotateKey(process.env))
