import { readFlags, UsageError } from '@postern/host/flags'
import { takeFromEnvironment } from './bootstrap/own-environment.mjs'
import { CommandError, runCommand } from './lib/command.ts'
import { observeMachine } from './lib/machine.ts'
import { startPackage } from './lib/package-start.ts'
import { showStatus } from './lib/package-status.ts'
import { readPackageVersion } from './lib/package-version.ts'
import { stopInstallation } from './lib/programs/stop-installation.ts'
import { rotateKey, setPassword, verifyHistory } from './lib/server-tool.ts'
import { showWhy } from './lib/why.ts'

const password = takeFromEnvironment('POSTERN_ADMIN_PASSWORD')

/** Each verb: its help text, and what it does. */
const VERBS: Readonly<Record<string, { help: string; run: (flags: readonly string[]) => Promise<number> }>> =
  {
    start: {
      help: 'start server and edge, now and at each boot; the first start shows the password',
      run: asRoot(() => startPackage(process.env, password)),
    },
    stop: { help: 'stop server and edge, and end the traffic', run: asRoot(() => stopInstallation({})) },
    status: { help: 'show what runs; exit code 0 only when all of it works', run: showStatus },
    why: {
      help: 'show where visitors of an address stop; exit code 0 only when they get an answer',
      run: asRoot((args) => showWhy({}, args)),
    },
    password: {
      help: 'give the first account a new password, while the server is stopped',
      run: asRoot(() => setPassword(password === undefined ? {} : { POSTERN_ADMIN_PASSWORD: password })),
    },
    history: {
      help: 'verify: say whether the history is as it was written; a hash of an export may follow',
      run: asRoot((args) => verifyHistory({}, args)),
    },
    'rotate-key': {
      help: 'seal the secrets of the database with a new key, while the server is stopped; --all renews them, too',
      run: asRoot((flags) => rotateKey({}, flags)),
    },
  }

/** The command of the server's Debian package. */
async function main([verb, ...rest]: readonly string[]): Promise<number> {
  if (verb === '--version' || verb === '-V') return print(readPackageVersion())
  if (verb === '--help' || verb === '-h') return print(renderHelp())
  const found = verb !== undefined && Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
  if (!found)
    throw new UsageError(
      `${verb === undefined ? 'give a command' : `${verb} is not a command`}. See: postern-server --help`,
    )
  if (verb === 'why' || verb === 'history') return await found.run(rest)
  return await found.run([...readFlags(verb === 'rotate-key' ? ['--all'] : [], rest)])
}

function asRoot(run: (flags: readonly string[]) => Promise<number>) {
  return (flags: readonly string[]) => {
    if (!observeMachine().isRoot) throw new CommandError('root is required: use sudo')
    return run(flags)
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

function renderHelp(): string {
  const verbs = Object.entries(VERBS).map(([name, { help }]) => `  ${name.padEnd(11)} ${help}`)
  return `postern-server: runs the Postern server of this machine

Usage: postern-server COMMAND

${verbs.join('\n')}

  --help      show this text
  --version   show the version

Settings: /etc/postern/environment. After a change: systemctl restart postern-server postern-edge
Logs: journalctl -u postern-server -u postern-edge`
}

await runCommand(main)
